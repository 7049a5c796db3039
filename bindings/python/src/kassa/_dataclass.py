"""Frozen data classes with slots that cost little at import: most of what `dataclasses` builds there is built on first use.

The standard library's module is a fifth of the work of Kassa's import, and compiles six methods for each class. Here the
methods of all classes are closures, and the constructor is compiled when a value is first made by hand. Other libraries
recognize a data class by ``__dataclass_fields__``, which the standard library makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    # To type checkers they are the standard library's.
    from dataclasses import dataclass, field
else:

    def dataclass(**settings):
        """A data class. Its settings are those of `dataclasses.dataclass`, and it is always frozen, with slots."""
        return lambda origin: _Class(origin, settings).kind

    def field(**settings):
        """A field, with the settings of `dataclasses.field`."""
        return _Field(settings)


__all__ = ["NOTHING", "dataclass", "defaults_of", "field", "values_of"]

NOTHING: Any = object()
"""The default of a field that has none."""


class _Field:
    __slots__ = ("settings",)

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings


class _Class:
    """A data class, and what it is made from."""

    def __init__(self, origin: Any, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.hints: dict[str, Any] = origin.__annotations__
        content: dict[str, Any] = dict(origin.__dict__)
        # The settings of each field, such as its default.
        self.fields: dict[str, dict[str, Any]] = {}
        for name, hint in self.hints.items():
            if getattr(hint, "__origin__", hint) is not ClassVar:
                given: Any = content.pop(name, NOTHING)
                known: dict[str, Any] = {} if given is NOTHING else {"default": given}
                self.fields[name] = given.settings if isinstance(given, _Field) else known
        for name in ("__dict__", "__weakref__"):
            content.pop(name, None)
        content["__slots__"] = tuple(self.fields)
        content["__match_args__"] = tuple(name for name in self.fields if not self._is_keyword(name))
        for name, method in self._methods().items():
            if not isinstance(method, _Later):
                # For help and tracebacks.
                method.__name__, method.__qualname__ = name, f"{origin.__qualname__}.{name}"
            content.setdefault(name, method)
        # Slots are made with a class, so it is made anew, as the standard library does.
        self.kind: Any = type(origin)(origin.__name__, origin.__bases__, content)
        self.kind.__qualname__ = origin.__qualname__
        _known[self.kind] = self

    def _is_keyword(self, name: str) -> bool:
        return bool(self.fields[name].get("kw_only", self.settings.get("kw_only", False)))

    def _methods(self) -> dict[str, Any]:
        names = tuple(self.fields)
        shown = [name for name, settings in self.fields.items() if settings.get("repr", True)]
        values = values_of(names)

        def is_equal(self: Any, other: Any) -> Any:
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        def show(self: Any) -> str:
            return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

        def to_hash(self: Any) -> int:
            return hash(values(self))

        def state(self: Any) -> list[Any]:
            return list(values(self))

        def set_state(self: Any, state: Any) -> None:
            for name, value in zip(names, state, strict=False):
                object.__setattr__(self, name, value)

        later = {name: _Later(name, self._of_standard_class(name)) for name in _OF_STANDARD_CLASS}
        return later | {
            "__init__": _Later("__init__", self._constructor),
            "__eq__": is_equal,
            "__hash__": to_hash,
            "__repr__": show,
            "__getstate__": state,
            "__setstate__": set_state,
            "__setattr__": self._refusing("assign to", "__setattr__"),
            "__delattr__": self._refusing("delete", "__delattr__"),
        }

    def _refusing(self, what: str, method: str) -> Callable[..., None]:
        """A method that changes attributes: only those that a subclass has of its own."""

        data_class = self

        def change(self: Any, name: str, *given: Any) -> None:
            if self.__class__ is data_class.kind or name in data_class.fields:
                from dataclasses import FrozenInstanceError

                raise FrozenInstanceError(f"cannot {what} field {name!r}")
            above: Any = super
            getattr(above(data_class.kind, self), method)(name, *given)

        return change

    def _constructor(self) -> tuple[Any, Any]:
        kind, content = self.kind, self.kind.__dict__
        known: dict[str, Any] = {"__name__": kind.__module__}
        by_position: list[str] = []
        by_name: list[str] = []
        lines = [" pass"]
        for name, settings in self.fields.items():
            known |= {f"_put_{name}": content[name].__set__, f"_default_{name}": settings.get("default")}
            default = f"=_default_{name}" if "default" in settings else ""
            (by_name if self._is_keyword(name) else by_position).append(name + default)
            lines.append(f" _put_{name}(self, {name})")
        if hasattr(kind, "__post_init__"):
            lines.append(" self.__post_init__()")
        parameters = ", ".join(["self", *by_position, *(["*", *by_name] if by_name else [])])
        exec("\n".join([f"def __init__({parameters}):", *lines]), known)  # noqa: S102 (lines are made here, of names of fields)
        init = known["__init__"]
        init.__qualname__ = f"{kind.__qualname__}.__init__"
        init.__annotations__ = {name: self.hints[name] for name in self.fields} | {"return": None}
        return kind, init

    def _of_standard_class(self, name: str) -> Callable[[], tuple[Any, Any]]:
        def make() -> tuple[Any, Any]:
            import dataclasses

            content: dict[str, Any] = {"__annotations__": dict(self.hints)}
            for each, settings in self.fields.items():
                if settings:
                    content[each] = dataclasses.field(**settings)
            # The standard library does not replace methods that exist.
            content |= {each: self.kind.__dict__[each] for each in ("__doc__", "__module__", "__init__", "__repr__")}
            standard: Any = dataclasses.dataclass(**self.settings)(type(self.kind.__name__, (), content))
            return self.kind, getattr(standard, name)

        return make


_OF_STANDARD_CLASS = ["__dataclass_fields__", "__dataclass_params__"]
if sys.version_info >= (3, 13):
    _OF_STANDARD_CLASS.append("__replace__")

_known: dict[type, _Class] = {}


class _Later:
    """An attribute of a class that is built on first access."""

    __slots__ = ("_make", "_name")

    def __init__(self, name: str, make: Callable[[], tuple[Any, Any]]) -> None:
        self._name = name
        self._make = make

    def __get__(self, value: Any, kind: Any = None) -> Any:
        of, made = self._make()
        setattr(of, self._name, made)
        bind: Any = getattr(made, "__get__", None)
        return made if bind is None else bind(value, kind)


def defaults_of(kind: type) -> dict[str, Any]:
    """The fields of a data class of this kind, with their defaults; none of any other class."""
    known = _known.get(kind)
    return {} if known is None else {name: field.get("default", NOTHING) for name, field in known.fields.items()}


def values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the attributes of these names, in one tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)
