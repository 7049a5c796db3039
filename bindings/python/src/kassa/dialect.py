"""What the gateway's responses are called: the part of the interface that is not shown, and so is configuration."""

from dataclasses import dataclass
from typing import Any

from . import _check
from ._calls import call, translated
from ._convert import lowers, mirrors
from ._generated import native
from .violations import Advice


@mirrors(native.DialectField)
@dataclass(frozen=True, slots=True)
class DialectField:
    """One thing that a dialect finds in a response, and where."""

    name: str
    """What was looked for, as the dialect's JSON names it, such as ``status``."""
    pointer: str
    """Where it was found: a JSON pointer, such as ``/data/status``, or a tag of an ELQR code, such as ``elqr:32.11``."""
    value: str
    """The value, as text."""


@mirrors(native.DialectReading)
@dataclass(frozen=True, slots=True)
class DialectReading:
    """What a dialect reads in a response: the answer of `Dialect.explain`."""

    fields: tuple[DialectField, ...]
    """What was found, in the order of the endpoint's fields."""
    code_means: str | None
    """The list that has the response's code: ``success``, ``refusal``, ``unknown`` or ``duplicate``. None where no list has it, or
    the response has no code. A code in no list is a success where the list of success codes is empty."""
    status_means: str | None
    """What the status word means: ``charged``, ``rejected`` or ``pending``. None where the response is no answer, or the endpoint
    is no status query."""
    unread: tuple[str, ...]
    """The JSON pointers of the texts, numbers and booleans of the response that the dialect does not look at. Of a very long response
    the first ones."""
    problem: str | None
    """Why the response is no answer: it is not JSON, its code is not known as a success, what the endpoint needs is missing. None
    where it is one."""


class Dialect:
    """How to read the gateway's responses, as one JSON document that is the same in all languages.

    Much of the interface is not shown: the responses of the mobile bank, of ``get-status`` and of the QR endpoints, the codes,
    the full set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the
    gateway really sends. ``Dialect()`` assumes the envelope that the interface shows; ``Dialect.named(name)`` is one that Kassa
    knows; ``Dialect.from_json(text)`` replaces only what it names; ``to_json()`` gives the whole of it.

    >>> dialect = Dialect.from_json('{"charged_words": ["CHARGE", "PAID"]}')
    >>> Dialect.from_json(dialect.to_json()) == dialect
    True
    >>> Dialect.from_json('{"base": "finipay"}') == Dialect.named("finipay")
    True
    """

    __slots__ = ("_json", "_native")

    def __init__(self) -> None:
        """The dialect that assumes the envelope which the interface shows."""
        self._native: Any = native.Dialect()
        self._json: str = self._native.to_json()

    @classmethod
    def from_json(cls, text: str) -> "Dialect":
        """Reads the JSON form. What it does not name stays as in its ``base``: the name of a known dialect, which is
        ``interface`` unless given.

        Raises `kassa.Invalid` naming every part that is not understood: a field that does not exist or that its endpoint
        does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
        """
        with translated():
            return cls._of(native.Dialect.from_json(_check.text("text", text)))

    @classmethod
    def named(cls, name: str) -> "Dialect":
        """A dialect that Kassa knows: ``interface``, the default, or ``finipay``, which the public pages of that gateway show.
        It was never tried against the live service; what differs is replaced by `from_json` with this ``base``.

        Raises `kassa.Invalid` for any other name.

        >>> Dialect.named("interface") == Dialect()
        True
        """
        with translated():
            return cls._of(native.Dialect.named(_check.text("name", name)))

    @staticmethod
    def names() -> tuple[str, ...]:
        """The names that `named` and the JSON's ``base`` take.

        >>> Dialect.names()
        ('interface', 'finipay')
        """
        names: tuple[str, ...] = call(native.dialect_names)
        return names

    @classmethod
    def _of(cls, native_dialect: Any) -> "Dialect":
        dialect = cls.__new__(cls)
        dialect._native = native_dialect
        dialect._json = native_dialect.to_json()
        return dialect

    def to_json(self) -> str:
        """The whole dialect as JSON, defaults included: a good start for a file of one's own."""
        return self._json

    def explain(self, endpoint: str, response: str) -> DialectReading:
        """What this dialect reads in the body of a response to an endpoint's requests, for whoever writes a dialect. Nothing is
        sent.

        The request is not known, so no secret can be masked, and nothing is compared with what was asked for: give it the
        ``raw`` of an answer or the ``body`` of an error, in which secrets are masked.

        Raises `kassa.Invalid` where there is no such endpoint.

        >>> response = '{"code": "100", "message": "Success", "data": "SUCCESSFUL"}'
        >>> Dialect.named("finipay").explain("qr_status", response).status_means
        'charged'
        """
        reading: DialectReading = call(
            self._native.explain, _check.text("endpoint", endpoint), _check.text("response", response)
        )
        return reading

    def advice(self) -> tuple[Advice, ...]:
        """What this dialect leaves open that matters to money, and what to set. It blocks nothing."""
        advice: tuple[Advice, ...] = call(self._native.advice)
        return advice

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Dialect) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        if self == _SHOWN:
            return "Dialect()"
        named = next((name for name in Dialect.names() if self == Dialect.named(name)), None)
        return "Dialect.from_json(...)" if named is None else f"Dialect.named({named!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dialect.from_json, (self._json,)


_SHOWN = Dialect()

lowers(Dialect, lambda dialect: dialect._native)
