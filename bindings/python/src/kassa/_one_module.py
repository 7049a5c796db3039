"""Users know a module's public names, not the rooms behind them."""

from __future__ import annotations

from typing import Any


def show_as_one_module(module: dict[str, Any]) -> None:
    """Shows all that a module exports as defined there: in tracebacks, in pickles, in help()."""
    for name in module["__all__"]:
        public = module.get(name)
        if getattr(public, "__module__", "").startswith(f"{module['__name__']}."):
            public.__module__ = module["__name__"]
