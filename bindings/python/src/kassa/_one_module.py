"""Users know a module's public names, not the modules behind them: in tracebacks, in pickles, in ``help()``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_packages: list[Names] = []


class Names:
    """The public names of a package, each in a module that is imported when the name is accessed."""

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self._package = package
        self._of = {name: module for module, names in modules.items() for name in names.split()}
        self._pending = {module: names.split() for module, names in modules.items()}
        _packages.append(self)

    def find(self, name: str) -> Any:
        """What a name stands for."""
        if name not in self._of:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{self._package}.{self._of[name]}"), name)
        self._show()
        return found

    def _show(self) -> None:
        """Shows what was imported so far as defined in the package: whatever is accessed imports others."""
        for module in tuple(self._pending):
            loaded = sys.modules.get(f"{self._package}.{module}")
            spec = getattr(loaded, "__spec__", None)
            # Another thread may be importing it.
            if loaded is not None and not getattr(spec, "_initializing", False):
                for name in self._pending.pop(module, ()):
                    _show(getattr(loaded, name), self._package)


def show_as_one_module(module: dict[str, Any]) -> None:
    """Shows all that a module exports as defined there, and what it has imported of other packages as defined in those."""
    for package in _packages:
        package._show()  # pyright: ignore[reportPrivateUsage]
    for name in module["__all__"]:
        _show(module.get(name), module["__name__"])


def _show(public: Any, package: str) -> None:
    if getattr(public, "__module__", "").startswith(f"{package}."):
        public.__module__ = package
