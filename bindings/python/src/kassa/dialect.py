"""Dialects: the names and codes in the gateway's responses, which the interface does not document."""

from typing import Any

from . import _check
from ._codec import record, write_as
from ._core import native
from ._dataclass import dataclass
from .violations import Advice


@record("DialectField")
@dataclass(frozen=True, slots=True)
class DialectField:
    """One value that a dialect finds in a response, and its place."""

    name: str
    """The dialect's name of the field, such as ``status``."""
    pointer: str
    """The place: a JSON pointer, such as ``/data/status``, or a tag of an ELQR code, such as ``elqr:32.11``."""
    value: str
    """The value, as text."""


@record("DialectReading")
@dataclass(frozen=True, slots=True)
class DialectReading:
    """What a dialect reads in a response: the result of `Dialect.explain`."""

    fields: tuple[DialectField, ...]
    """The values found, in the order of the endpoint's fields."""
    code_means: str | None
    """The list that has the response's code: ``success``, ``refusal``, ``unknown`` or ``duplicate``. None if no list has it,
    or the response has no code. A code in no list is a success if the list of success codes is empty."""
    status_means: str | None
    """What the status word means: ``charged``, ``rejected`` or ``pending``. None if the response is not an answer, or the
    endpoint is not a status query."""
    unread: tuple[str, ...]
    """JSON pointers to the texts, numbers and booleans of the response that the dialect does not read; only the first ones of
    a very long response."""
    problem: str | None
    """Why the response is not an answer: it is not JSON, its code is not known as a success, or a required field is missing.
    None if it is an answer."""


class Dialect:
    """How to read the gateway's responses: one JSON document, the same in all languages.

    The interface does not document the responses of the mobile bank, of ``get-status`` and of the QR endpoints, the codes, or
    all status words. A dialect maps them, so you need not wait for a release of Kassa when the gateway sends something else.
    ``Dialect()`` assumes the documented envelope; ``Dialect.named(name)`` is a built-in dialect; ``Dialect.from_json(text)``
    replaces only what it names; ``to_json()`` returns the whole dialect.

    >>> dialect = Dialect.from_json('{"charged_words": ["CHARGE", "PAID"]}')
    >>> Dialect.from_json(dialect.to_json()) == dialect
    True
    >>> Dialect.from_json('{"base": "finipay"}') == Dialect.named("finipay")
    True
    """

    __slots__ = ("_json", "_native")

    def __init__(self) -> None:
        """The default dialect: the envelope that the interface documents."""
        self._native: Any = native.Dialect()
        self._json: str = self._native.to_json()

    @classmethod
    def from_json(cls, text: str) -> "Dialect":
        """Parses the JSON form. What it does not name stays as in its ``base``: the name of a built-in dialect, by default
        ``interface``.

        Raises `kassa.Invalid` with every error: a field that does not exist or that its endpoint does not use, an invalid
        pointer, a code or word in two lists that exclude each other.
        """
        return cls._of(native.Dialect.from_json(_check.text("text", text)))

    @classmethod
    def named(cls, name: str) -> "Dialect":
        """A built-in dialect: ``interface``, the default, or ``finipay``, from the public pages of that gateway. It was never
        tried against the live service; override differences with `from_json` and this ``base``.

        Raises `kassa.Invalid` for any other name.

        >>> Dialect.named("interface") == Dialect()
        True
        """
        return cls._of(native.Dialect.named(_check.text("name", name)))

    @staticmethod
    def names() -> tuple[str, ...]:
        """The names that `named` and the JSON's ``base`` accept.

        >>> Dialect.names()
        ('interface', 'finipay')
        """
        names: tuple[str, ...] = native.dialect_names()
        return names

    @classmethod
    def _of(cls, native_dialect: Any) -> "Dialect":
        dialect = cls.__new__(cls)
        dialect._native = native_dialect
        dialect._json = native_dialect.to_json()
        return dialect

    def to_json(self) -> str:
        """The whole dialect as JSON, including defaults: a good start for your own file."""
        return self._json

    def explain(self, endpoint: str, response: str) -> DialectReading:
        """What this dialect reads in the body of an endpoint's response, for authors of dialects. Sends nothing.

        Without the request, no secret can be masked and nothing can be compared. Pass the ``raw`` of an answer or the
        ``body`` of an error, in which secrets are masked.

        Raises `kassa.Invalid` if there is no such endpoint.

        >>> response = '{"code": "100", "message": "Success", "data": "SUCCESSFUL"}'
        >>> Dialect.named("finipay").explain("qr_status", response).status_means
        'charged'
        """
        reading: DialectReading = self._native.explain(
            _check.text("endpoint", endpoint), _check.text("response", response)
        )
        return reading

    def advice(self) -> tuple[Advice, ...]:
        """Settings that this dialect leaves open and that matter for money. It blocks nothing."""
        advice: tuple[Advice, ...] = self._native.advice()
        return advice

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Dialect) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        if self == Dialect():
            return "Dialect()"
        named = next((name for name in Dialect.names() if self == Dialect.named(name)), None)
        return "Dialect.from_json(...)" if named is None else f"Dialect.named({named!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dialect.from_json, (self._json,)


write_as("@Dialect", lambda dialect: dialect._native)
