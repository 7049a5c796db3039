"""Faults of calls to the fake gateway."""

from datetime import timedelta
from typing import Any, ClassVar, Literal, get_args

from .. import _check
from .._codec import write_as
from .._dataclass import dataclass

_Kind = Literal[
    "no_connection",
    "request_lost",
    "response_lost",
    "no_response",
    "refused",
    "unauthorized",
    "server_error",
    "too_many_requests",
]
_DETAILS = {"refused": ["code", "reason"], "too_many_requests": ["retry_after"]}


@dataclass(frozen=True, slots=True, repr=False)
class FakeFault:
    """The fault of one call (fault injection).

    >>> FakeFault.RESPONSE_LOST
    FakeFault.RESPONSE_LOST
    >>> FakeFault.refused("51", "NO_MONEY")
    FakeFault.refused(code='51', reason='NO_MONEY')
    """

    kind: _Kind
    """The kind of fault."""
    code: str | None = None
    """The code of a refusal."""
    reason: str | None = None
    """The message of a refusal."""
    retry_after: timedelta | None = None
    """When to retry, for too many requests."""

    NO_CONNECTION: ClassVar["FakeFault"]
    """No connection is made: `kassa.Unavailable`."""
    REQUEST_LOST: ClassVar["FakeFault"]
    """The connection breaks before the gateway gets the request: a payment was **not** made, but its outcome is still
    unknown."""
    RESPONSE_LOST: ClassVar["FakeFault"]
    """The gateway executes the request, and the connection breaks before the response arrives: a payment **was** made, and
    its outcome is unknown."""
    NO_RESPONSE: ClassVar["FakeFault"]
    """The gateway executes the request and never responds: as `RESPONSE_LOST`, after the call's deadline."""
    UNAUTHORIZED: ClassVar["FakeFault"]
    """The gateway does not accept the credentials: `kassa.Unauthorized`."""
    SERVER_ERROR: ClassVar["FakeFault"]
    """The gateway fails and does nothing (HTTP 500): a payment's outcome is unknown, any other call is unavailable."""

    def __post_init__(self) -> None:
        given = [name for name in ("code", "reason", "retry_after") if getattr(self, name) is not None]
        if self.kind not in get_args(_Kind) or given != _DETAILS.get(self.kind, []):
            raise ValueError("a fault is one of its constants, refused with a code and a reason, or too_many_requests")
        _check.optional_text("code", self.code)
        _check.optional_text("reason", self.reason)
        object.__setattr__(self, "retry_after", _check.optional_duration("retry_after", self.retry_after))

    @classmethod
    def refused(cls, code: str, reason: str) -> "FakeFault":
        """The gateway refuses, with this code and message: `kassa.Refused`."""
        return cls("refused", code=_check.text("code", code), reason=_check.text("reason", reason))

    @classmethod
    def too_many_requests(cls, retry_after: timedelta | float) -> "FakeFault":
        """Too many requests (HTTP 429): `kassa.Unavailable` with ``retry_after``, given as a `timedelta` or a number of
        seconds."""
        return cls("too_many_requests", retry_after=_check.duration("retry_after", retry_after))

    def _details(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _DETAILS.get(self.kind, [])}

    def __repr__(self) -> str:
        if self.kind not in _DETAILS:
            return f"FakeFault.{self.kind.upper()}"
        details = ", ".join(f"{name}={value!r}" for name, value in self._details().items())
        return f"FakeFault.{self.kind}({details})"


FakeFault.NO_CONNECTION = FakeFault("no_connection")
FakeFault.REQUEST_LOST = FakeFault("request_lost")
FakeFault.RESPONSE_LOST = FakeFault("response_lost")
FakeFault.NO_RESPONSE = FakeFault("no_response")
FakeFault.UNAUTHORIZED = FakeFault("unauthorized")
FakeFault.SERVER_ERROR = FakeFault("server_error")

write_as(
    "FakeFault",
    lambda fault: (
        "".join(word.capitalize() for word in fault.kind.split("_")),
        *[getattr(fault, name) for name in _DETAILS.get(fault.kind, [])],
    ),
)
