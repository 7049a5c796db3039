"""Observes calls: what was requested of the gateway, how long each attempt took, and how it ended.

`kassa.opentelemetry` makes spans and metrics of this. For anything else, use `on_call`.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NoReturn

from . import _check, _logs
from ._codec import record
from ._dataclass import dataclass


@record("CallAttempt")
@dataclass(frozen=True, slots=True)
class CallAttempt:
    """One HTTP request of a `CompletedCall`."""

    started_at: datetime
    """When it began, in UTC."""
    duration: timedelta
    """How long it took."""
    http_status: int | None = None
    """The HTTP status of its response, if one came."""
    error_type: str | None = None
    """Why it failed: an HTTP status from 400 on, or ``not_connected``, ``lost``, ``misconfigured`` or ``cancelled``."""

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether attempt.error_type is None")


@record("CompletedCall")
@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A request to the gateway that has ended, with its attempts. It has no secrets and no bodies.

    The fields are those of ``docs/telemetry.md``, the same in every language.
    """

    operation: str
    """The gateway's endpoint, as logs and dialects name it: ``card_payment``, ``provider_status``."""
    order_number: str | None
    """The number by which logs name the payment, if any."""
    outcome: str
    """How it ended: ``accepted``; of a status query ``charged``, ``rejected`` or ``pending``; ``refused``; ``unknown``;
    ``invalid``, ``misconfigured``, ``unauthorized``, ``unavailable``, ``unexpected``; or ``cancelled``. **No reason to ship**:
    a report of the gateway becomes a `Verdict` only when it is compared with the payment."""
    error_type: str | None
    """The class of the error, as in ``docs/errors.md``. None if the gateway answered, also if it refused."""
    method: str
    """The HTTP method."""
    path: str
    """The path below the gateway's base URL, without a query."""
    server_address: str
    """The gateway's host."""
    server_port: int
    """The gateway's port."""
    started_at: datetime
    """When it began, in UTC."""
    duration: timedelta
    """How long it took, with its retries and the pauses between them."""
    attempts: tuple[CallAttempt, ...] = ()
    """Each HTTP request, in order. Empty if nothing was tried."""

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether call.outcome is 'accepted' or 'charged'")


def on_call(observer: Callable[[CompletedCall], object]) -> Callable[[], None]:
    """Calls ``observer`` with each request to the gateway that has ended, from now on and in the whole program. Returns a
    function that ends this.

    >>> import kassa
    >>> stop = kassa.on_call(lambda call: print(call.operation, call.outcome, call.duration.total_seconds()))
    >>> stop()

    One call may make several requests, or none: a watch makes one per query. Each is observed, in the context
    (``contextvars``) in which its call began: while the call waits, or when it is over, before it returns. A payment that
    continues without its caller is observed with a later call.

    An observer that raises harms no payment, and its traceback is printed. Payments continue while an observer runs, but its
    own caller's answer waits for it; **on an event loop or a gevent hub so does every task**, and a timeout of theirs may come
    first. So hand slow work to a queue. Calls that an observer makes are observed with a later call: one that calls Kassa for
    each request never stops. Without an observer nothing is recorded.
    """
    if not callable(observer):
        raise _check.wrong("observer", "a function that takes a kassa.CompletedCall", observer)

    # A new function, so that the same observer can be added twice.
    def observe(call: CompletedCall) -> None:
        observer(call)

    _logs.observe(observe)

    def stop() -> None:
        _logs.stop_observing(observe)

    return stop
