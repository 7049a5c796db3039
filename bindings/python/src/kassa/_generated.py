"""The generated module, typed as what it is to a type checker: anything.

Importing it loads the native library. It is imported without what it asks for and hardly needs: asyncio, which a program that
waits has no use for, would be half of the time, and the dataclass decorator, which adds nothing to classes that have
constructors and comparisons already, a quarter of the rest. No upstream issue asks for a leaner import; this goes when the
generated code imports less by itself.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader

    # Written out, so that programs that pack others up (PyInstaller) see it.
    from ._native import kassa as kassa


class _Later:
    """A module that is imported when something of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def _as_it_is(own: type) -> type:
    return own


_STAND_INS: dict[str, Any] = {
    "asyncio": _Later("asyncio"),
    "dataclasses": SimpleNamespace(dataclass=_as_it_is),
    "platform": _Later("platform"),
    "traceback": _Later("traceback"),
}


def _import(name: str, *arguments: Any) -> Any:
    return _STAND_INS[name] if name in _STAND_INS else builtins.__import__(name, *arguments)


def _made(name: str) -> tuple[ModuleType, Loader]:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    return module, spec.loader


def _load(package: str, name: str) -> ModuleType:
    """Imports a module of a package, with an ``import`` of its own. Nothing is changed for any other module."""
    # The packager's own `__init__` would import the module as it stands, and does nothing else.
    _made(package)
    module, loader = _made(f"{package}.{name}")
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    try:
        loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module.__name__], sys.modules[package]
        if isinstance(error, OSError):
            raise _not_loaded(module, error) from error
        raise
    return module


def _not_loaded(module: ModuleType, error: OSError) -> ImportError:
    """Platforms without a native library. Any other error is a defect, and is raised as it is."""
    from pathlib import Path

    from ._no_library import why_not_loaded

    file = module.__file__ or ""
    return ImportError(why_not_loaded(Path(file).parent, error), name=module.__name__, path=file)


native: Any = _load(f"{__package__}._native", "kassa")


def replace(owner: Any, name: str, by: object) -> None:
    """Monkey patch: puts something else in the place of a helper of the generated module. One that is not there is an error:
    the generated code would go on calling its own, by another name.

    UniFFI has no setting for its helpers, and no upstream issue asks for one. This goes with the last of its callers, each of
    which says when it can go."""
    getattr(owner, name)
    setattr(owner, name, by)
