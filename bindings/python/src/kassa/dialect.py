"""What the gateway's replies are called: the part of the interface that is not shown, and so is configuration."""

from __future__ import annotations

from typing import Any

from . import _check
from ._calls import translated
from ._convert import lowers
from ._generated import native


class Dialect:
    """How to read the gateway's replies, as one JSON document that is the same in all languages.

    Much of the interface is not shown: the replies of the mobile bank, of ``get-status`` and of the QR endpoints, the codes,
    the full set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the
    gateway really sends. ``Dialect()`` assumes the envelope that the interface shows; ``Dialect.from_json(text)`` replaces
    only what it names; ``to_json()`` gives the whole of it.

    >>> dialect = Dialect.from_json('{"charged_words": ["CHARGE", "PAID"]}')
    >>> Dialect.from_json(dialect.to_json()) == dialect
    True
    """

    __slots__ = ("_json", "_native")

    def __init__(self) -> None:
        """The dialect that assumes the envelope which the interface shows."""
        self._native: Any = native.Dialect()
        self._json: str = self._native.to_json()

    @classmethod
    def from_json(cls, text: str) -> Dialect:
        """Reads the JSON form. What it does not name stays as in the default.

        Raises `kassa.Invalid` naming every part that is not understood: a field that does not exist or that its endpoint
        does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
        """
        with translated():
            native_dialect = native.Dialect.from_json(_check.text("text", text))
        dialect = cls.__new__(cls)
        dialect._native = native_dialect
        dialect._json = native_dialect.to_json()
        return dialect

    def to_json(self) -> str:
        """The whole dialect as JSON, defaults included: a good start for a file of one's own."""
        return self._json

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Dialect) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return "Dialect()" if self == _SHOWN else "Dialect.from_json(...)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dialect.from_json, (self._json,)


_SHOWN = Dialect()

lowers(Dialect, lambda dialect: dialect._native)
