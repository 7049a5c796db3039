"""Why a call to the server, or the verification of an event, failed."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum


class ServerError(Exception):
    """The base class of all errors of `kassa.server`. No text of any of them holds the API key or a secret."""

    def __init__(self, *args: object) -> None:
        """An error with a text, or with what a subclass makes its text of."""
        super().__init__(*args)


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A rule that a field of the request breaks."""

    field: str
    """The field of the body, the parameter or the header, by its name on the wire, such as ``return_url``."""
    rule: str
    """The rule's name, for programs."""
    text: str
    """One sentence that says what is allowed."""


class Problem(ServerError):
    """The server refused the request, with problem details (4xx; RFC 9457). Nothing was changed; a repetition does not help.

    A failure of the server itself (5xx) is a `ServerUnavailable`: its outcome is unknown.

    Its subclasses are the problems that a program can act on.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        violations: tuple[FieldViolation, ...] = (),
        state: str | None = None,
        next: str | None = None,  # noqa: A002 - the member's name
    ) -> None:
        super().__init__(status, kind, detail, violations, state, next)
        self.status: int = status
        """The HTTP status, such as 400."""
        self.kind: str = kind
        """The problem's name, for programs: the last part of ``type``, such as ``invalid`` or ``reference_used``."""
        self.detail: str = detail
        """What is wrong, in a sentence."""
        self.violations: tuple[FieldViolation, ...] = violations
        """Every rule that the request breaks."""
        self.state: str | None = state
        """The state of the checkout or payment that prevents the request, if that is why."""
        self.next: str | None = next
        """The cursor to continue from, of a `HistoryGone`. None otherwise."""

    def __str__(self) -> str:
        rules = "; ".join(
            # The server's sentences begin with their field.
            each.text if each.text.startswith(each.field) else f"{each.field}: {each.text}"
            for each in self.violations
        )
        state = f" Its state is {self.state}." if self.state else ""
        return f"HTTP {self.status} ({self.kind}): {self.detail}{state}{' ' if rules else ''}{rules}"


class WrongKey(Problem):
    """The API key is wrong or revoked (401). Make another one with ``kassa-server keys new``."""


class NotFound(Problem):
    """There is no such checkout or payment (404)."""


class Conflict(Problem):
    """What the server already has prevents the request (409, 422).

    `state` says in which state the checkout or payment is. ``reference_used``: the reference belongs to a checkout with other
    content. To take another payment for the same order, use another reference, such as ``order-17.2``.
    """


class HistoryGone(Problem):
    """The server's database was restored from a backup that lacks the cursor's event (410).

    Read on from `next`. It lies an hour before the lost event, so known events can come again, and what the server finds out
    again has a new identifier. Recognise by the order, not only by the event's identifier, what you have already delivered.
    """

    def __str__(self) -> str:
        return f"{super().__str__()} Read on from the cursor {self.next!r}: events that you know can come again."


class ServerUnavailable(ServerError):
    """The server could not be reached, failed (500), or cannot answer now, after all attempts (408, 429, 502, 503, 504).

    The request may have been executed. You can repeat it: the same reference opens no second checkout.
    """

    def __init__(self, detail: str, status: int | None = None, retry_after: timedelta | None = None) -> None:
        super().__init__(detail, status, retry_after)
        self.detail: str = detail
        """What happened, with the server's address."""
        self.status: int | None = status
        """The HTTP status of the last response. None if there was none."""
        self.retry_after: timedelta | None = retry_after
        """How long the server asks to wait (``Retry-After``). None if it does not say."""

    def __str__(self) -> str:
        return self.detail


class BadResponse(ServerError):
    """The response is not one of kassa-server. Usually something else answers at this address: a proxy, a login page.

    With a `status` of 500 or more, or of 200, the request may have been executed.
    """

    def __init__(self, detail: str, status: int, text: str) -> None:
        super().__init__(detail, status, text)
        self.detail: str = detail
        """What is wrong with it."""
        self.status: int = status
        """The HTTP status."""
        self.text: str = text
        """The first 200 characters, with secrets masked."""

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.detail}. The response begins with: {self.text!r}"


class EventErrorReason(Enum):
    """Why an event is not accepted."""

    MALFORMED_SECRET = "malformed_secret"  # noqa: S105 - no secret
    """A secret is not ``whsec_`` and base64 of 24 to 64 bytes, or there is none. A mistake in the shop's settings."""
    MISSING_HEADER = "missing_header"
    """``webhook-id``, ``webhook-timestamp`` or ``webhook-signature`` is missing."""
    MALFORMED_TIMESTAMP = "malformed_timestamp"
    """``webhook-timestamp`` is not a number of seconds."""
    TOO_OLD = "too_old"
    """It was sent too long ago."""
    TOO_NEW = "too_new"
    """It was sent in the future: the clocks differ."""
    MALFORMED_SIGNATURE = "malformed_signature"
    """``webhook-signature`` has no signature of the version ``v1``."""
    WRONG_SIGNATURE = "wrong_signature"
    """No secret made any of the signatures."""
    MALFORMED_EVENT = "malformed_event"
    """The signature is right, and the body is not an event."""


class EventError(ServerError):
    """The event is not accepted. **Do nothing that it says.** Log why, and answer with 401 without the reason.

    `EventErrorReason.MALFORMED_SECRET` is the shop's own mistake: every event is refused. Answer with 500, and alert somebody.
    """

    def __init__(self, reason: EventErrorReason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason: EventErrorReason = reason
        """Why, for programs."""
        self.detail: str = detail
        """Why, and what to do."""

    def __str__(self) -> str:
        return self.detail
