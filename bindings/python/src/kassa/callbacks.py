"""Callbacks of the gateway, and the payer's return. Both are hints."""

from datetime import datetime
from decimal import Decimal
from typing import Any, NoReturn

from . import _check
from ._codec import read_as, read_whole, record, write_as, write_with
from ._core import method, native, raw_answer
from ._dataclass import dataclass, field
from .dialect import Dialect
from .errors import Invalid
from .payments import PaymentRef, PaymentStatus, Provider
from .violations import Rule, Violation


@record("Callback")
@dataclass(frozen=True, slots=True)
class Callback:
    """A callback (webhook): the gateway's notification that the status of a payment changed.

    **It is only a hint**: callbacks are not signed, so anybody can send one, and it can come late, twice or never. Verify it
    with ``gateway.verify_callback(callback, payment)`` before you ship anything.

    Only the order number is required. Any other field may be absent; ``missing`` names those that the interface requires.
    """

    order_number: str
    """The order number of the payment."""
    amount: Decimal | None
    """The amount, if it can be read. **For QR payments the unit is not known** (som or tyiyn)."""
    currency: str | None
    """The currency, if given."""
    status: PaymentStatus | None
    """The status that the callback claims, read with the default status words, if given. To read it with a dialect:
    `status_by`."""
    date_created: datetime | None
    """When the payment was made, if the text can be parsed: **without a time zone**, because the interface names none, and in
    whole microseconds."""
    date_created_text: str | None
    """The date as received, if given."""
    requisite: str | None
    """The payee, only for QR payments."""
    provider: Provider | None
    """Who processed the payment, if given."""
    missing: tuple[str, ...] = field(default=(), kw_only=True)
    """The required fields that are absent or cannot be read, by their names in the interface: ``amount``, ``status``,
    ``dateCreated``, ``provider``. The callback is a hint even without them."""
    raw: str
    """The whole body."""

    @classmethod
    def parse(cls, body: str | bytes) -> "Callback":
        """Parses the body of a callback: a JSON object, or a form (``application/x-www-form-urlencoded``). Field names match
        in any case (``OrderNumber``, ``order_number``), also inside a member ``data``. Unknown fields are kept in `raw`.

        Raises `kassa.Invalid` if there is no order number, or the bytes are not UTF-8.
        """
        callback: Callback = native.parse_callback(_body_text(body))
        return callback

    def dedup_key(self) -> str | None:
        """A deduplication key: the same text for every copy of the same notification, however it is formatted. **None if the
        callback has no status**: the next callback about the same payment may look the same and mean something new, so treat
        each one as new."""
        key: str | None = method("Callback.dedup_key", self)
        return key

    def status_by(self, dialect: Dialect) -> PaymentStatus | None:
        """The status that the callback claims, **read with the gateway's dialect**, if given; ``status`` uses only the
        default status words. The dialect's global lists apply; for a callback about a QR payment, which has a ``requisite``,
        those of the endpoint ``qr_status`` as well.

        >>> callback = Callback.parse('{"orderNumber": "order-1", "status": "PAID"}')
        >>> callback.status_by(kassa.Dialect.from_json('{"charged_words": ["PAID"]}')) == kassa.PaymentStatus.CHARGED
        True
        """
        status: PaymentStatus | None = method("Callback.status_by", self, _check.instance("dialect", dialect, Dialect))
        return status

    def payment_ref(self) -> PaymentRef | None:
        """A payment reference for status queries, for a merchant who has stored none; None for a QR payment, whose callback
        has no number that can be queried. **Its number is only claimed**, and the requested amount is unknown, so no check of
        it ever returns `Charged`: query with the reference that you stored at the sale."""
        ref: PaymentRef | None = method("Callback.payment_ref", self)
        return ref

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "gateway.verify_callback(callback, payment).is_charged, or whether it is None")


def _body_text(body: str | bytes) -> str:
    if isinstance(body, bytes | bytearray | memoryview):
        try:
            return bytes(body).decode()
        except UnicodeDecodeError:
            violation = Violation("callback", Rule.FORMAT, None, "callback is not UTF-8")
            raise Invalid((violation,)) from None
    given: Any = body
    if not isinstance(given, str):
        raise _check.wrong("body", "a str or bytes, the raw body of the request", given)
    return _check.text("body", given)


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int, nanosecond: int) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, second, nanosecond // 1000)
    except ValueError:
        # A year that Python has no date for. The text is still there.
        return None


def _parts_of(moment: datetime) -> tuple[int, ...]:
    return moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond * 1000


def _write_callback(callback: Callback, out: bytearray) -> None:
    """As received, if unchanged: the core knows nanoseconds, and the deduplication key depends on them."""
    try:
        received = raw_answer("parse_callback", callback.raw)
    except Exception:  # noqa: BLE001 (it was made by hand)
        received = b""
    if received and read_whole("Callback", received) == callback:
        out += received
    else:
        _write_fields(callback, out)


read_as("LocalDateTime", _moment)
write_as("LocalDateTime", _parts_of)
_write_fields = write_with("Callback", _write_callback)


@record("ReturnRedirect")
@dataclass(frozen=True, slots=True)
class ReturnRedirect:
    """The payer's return from the gateway's pages. **It is only a hint**: anybody can forge one. Verify it with
    ``gateway.verify_return(redirect, payment)``."""

    order_number: str
    """The order number, from ``OrderNumber``."""
    status_code: str | None = None
    """The status code, from ``statusCode``; ``200`` on success. Any text is accepted."""

    @classmethod
    def parse(cls, url: str) -> "ReturnRedirect":
        """Parses the URL that the payer came back to. If a parameter occurs twice, the last one counts: the gateway appends
        its own after the merchant's.

        The gateway's parameters are also found in a badly assembled URL: after a ``#``, after a second ``?``, after ``&amp;``
        or ``;``, and after a ``&`` without any ``?``.

        Raises `kassa.Invalid` if the text is not an absolute URI, or names no order.
        """
        redirect: ReturnRedirect = native.parse_return_redirect(_check.text("url", url))
        return redirect

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "gateway.verify_return(redirect, payment).is_charged, or whether it is None")
