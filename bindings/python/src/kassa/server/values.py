"""What the server returns: typed, frozen values, and how they are read from JSON."""

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a payment was not made, or the last one-time password was not accepted."""

    kind: str
    """The kind of error, such as ``Refused`` or ``Unavailable``."""
    code: str | None
    """The gateway's code, if any."""
    reason: str | None
    """The gateway's message, if any."""


@dataclass(frozen=True, slots=True)
class DialectAdvice:
    """A recommended setting of the server's dialect."""

    field: str
    """The key of the dialect, such as ``dialect.endpoints.qr_data.transaction_id``."""
    text: str
    """What is missing, the consequence, and what to set."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment of a checkout, as the shop sees it."""

    id: str
    """The payment's identifier."""
    number: int
    """Its number within the checkout, from 1."""
    method: str
    """``pay_form``, ``qr``, ``mbank``, ``megapay`` or ``card``. A newer server can have more."""
    state: str
    """``prepared``, ``sending``, ``not_made``, ``unknown``, ``awaiting``, ``confirming``, ``charged``, ``rejected``,
    ``mismatch`` or ``unverifiable``. A newer server can have more."""
    begun_at: datetime
    """When it was started."""
    page_url: str | None
    """The page on which the payer pays, or confirms a card payment. None if there is none."""
    qr_text: str | None
    """The content of the QR code. None if there is none."""
    card_last4: str | None
    """The last four digits of the card. None with other methods."""
    phone_last2: str | None
    """The last two digits of the payer's phone. None with other methods."""
    commission: Decimal | None
    """What a MegaPay wallet pays in addition to the amount. None if unknown."""
    total: Decimal | None
    """The amount and the commission. None without `commission`."""
    code_expires_at: datetime | None
    """When the MegaPay PIN expires. None if it is not known."""
    can_be_replaced: bool
    """Whether the payer can start another payment instead."""
    is_replaced: bool
    """Whether the payer has started another payment instead."""
    attempts_left: int | None
    """How often a one-time password can still be entered. None with other methods."""
    failure: Failure | None
    """Why it was not made, or the last one-time password was not accepted. None if neither applies."""
    order_number: str | None
    """The merchant's number of the payment at the gateway. None if the gateway assigns the number."""
    gateway_number: str | None
    """The gateway's number of the payment. None if there is none."""
    transaction_id: str | None
    """The gateway's identifier of a QR payment. None if there is none."""
    is_stuck: bool
    """Whether it needs a person: it has been open for three days, or its QR code cannot be polled."""
    is_in_doubt: bool
    """Whether a charge was reported that cannot be trusted: a person decides."""
    advice: tuple[DialectAdvice, ...]
    """What the server's dialect does not read in the gateway's response. Usually empty."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A shop's request to be paid. It can have several payments and is paid once."""

    id: str
    """The checkout's identifier."""
    reference: str
    """The shop's own reference, such as the order's number."""
    amount: Decimal
    """What is to be paid, in units of `currency`."""
    currency: str
    """Three letters, such as ``KGS``."""
    description: str
    """What is paid for."""
    methods: tuple[str, ...]
    """The payment methods that the payer can choose from."""
    return_url: str
    """The page to which the payer returns."""
    state: str
    """``open``, ``paid``, ``expired`` or ``cancelled``. A newer server can have more."""
    version: int
    """It grows with every change: `Client.wait_for_change` takes it."""
    expires_at: datetime
    """When it expires."""
    metadata: Mapping[str, str]
    """The shop's own values, as they were given."""
    opened_at: datetime
    """When it was opened."""
    page_url: str | None = field(repr=False)
    """**Where to send the payer.** Anyone who knows the address can pay there and see the state, so it is not printed. None if
    the server shows no pages."""
    paid_by: str | None
    """The identifier of the payment that paid it. None if it is not paid."""
    is_overpaid: bool
    """Whether more than one payment was charged: refund one of them."""
    payments: tuple[Payment, ...]
    """Its payments, the first one first."""

    @property
    def is_paid(self) -> bool:
        """Whether it is paid: the only state in which to deliver."""
        return self.state == "paid"


@dataclass(frozen=True, slots=True)
class Token:
    """A client token: it gives the payer's app access to one checkout."""

    token: str = field(repr=False)
    """The token itself, for `kassa.checkout.Checkout`. The server shows it once; it is not printed."""
    lifetime: timedelta
    """How long it is valid."""


@dataclass(frozen=True, slots=True)
class EventPayment:
    """The payment that an event is about."""

    id: str
    """The payment's identifier."""
    method: str
    """Its method, such as ``mbank``."""
    state: str
    """Its state after the event, such as ``charged``."""
    commission: Decimal | None
    """What a MegaPay wallet pays in addition to the amount. None if unknown."""
    total: Decimal | None
    """The amount and the commission. None without `commission`."""
    code_expires_at: datetime | None
    """When the MegaPay PIN expires. None if it is not known."""


@dataclass(frozen=True, slots=True)
class EventVia:
    """The key through which a person decided."""

    role: str
    """``shop`` or ``staff``. With a shop's key, the name in `Event.by` can be anyone's."""
    key: str
    """The key's identifier. It is not secret."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a checkout or one of its payments. **Deliver only if `is_paid`.**"""

    id: str
    """The same for every delivery of this event (``webhook-id``). After a restore of the server the same payment has an event
    with a new identifier, so deliver once for each order, not once for each identifier."""
    kind: str
    """Such as ``checkout.paid``; what the JSON calls ``type``. Accept and ignore the kinds that you do not know."""
    timestamp: datetime
    """When it happened."""
    checkout: str
    """The checkout's identifier."""
    reference: str
    """The shop's own reference of the checkout."""
    amount: Decimal
    """The checkout's amount, in units of `currency`."""
    currency: str
    """Three letters, such as ``KGS``."""
    checkout_state: str
    """The checkout's state after the event, such as ``paid``."""
    version: int
    """The checkout's version after the event."""
    number: int
    """Its number among the events of its payment, or among those of the checkout itself, from 1."""
    payment: EventPayment | None
    """The payment, if it is about one."""
    after: str | None
    """The previous state, if the change is unexpected. Of a paid checkout ``expired`` or ``cancelled``: the money came late."""
    reason: str | None
    """The reason that the gateway, the server or a person gave."""
    by: str | None
    """The person who decided it, if a person did."""
    via: EventVia | None
    """The key through which that person decided."""

    @property
    def is_paid(self) -> bool:
        """Whether it says that the checkout is paid (``checkout.paid``): deliver."""
        return self.kind == "checkout.paid"


@dataclass(frozen=True, slots=True)
class EventAt:
    """An event of the history, and its place there."""

    cursor: str
    """Store it once the event is dealt with: ``events(after=cursor)`` reads on from there. It is opaque."""
    event: Event
    """The event."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of the history."""

    events: tuple[EventAt, ...]
    """The events, the oldest first. None at the end of the history."""
    next: str
    """The cursor of the next page."""


class Unreadable(ValueError):
    """What a JSON text lacks."""


RESPONSE, EVENT = "the response", "the event"
"""The names of what is read. Their members go by their own names, and members of those by a path such as ``payments[0].id``."""


def read(kind: type[T], value: object, name: str = RESPONSE) -> T:
    """A value from parsed JSON. Members that are not known are ignored; `Unreadable` says which one is missing or wrong."""
    return cast("T", _read(kind, value, name))


def read_event(value: object, name: str = EVENT) -> Event:
    """An event from the body of a webhook, or from the history."""
    outer = _members(value, name)
    own = {"id": outer.get("id"), "kind": outer.get("type"), "timestamp_ms": outer.get("timestamp_ms")}
    return cast("Event", _built(Event, {**_members(outer.get("data"), f"{_prefix(name)}data"), **own}, name))


def _read(hint: Any, value: object, name: str) -> Any:
    inner = get_args(hint)
    if isinstance(hint, types.UnionType):
        return None if value is None else _read(inner[0], value, name)
    if value is None:
        raise Unreadable(f"{name} is missing")
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise Unreadable(f"{name} must be a list")
        items = enumerate(cast("list[object]", value))
        return tuple(_read(inner[0], each, f"{name}[{at}]") for at, each in items)
    if get_origin(hint) is Mapping:
        return {key: _read(inner[1], each, f"{name}.{key}") for key, each in _members(value, name).items()}
    if hint is Event:
        return read_event(value, name)
    return _built(hint, _members(value, name), name) if is_dataclass(hint) else _scalar(hint, value, name)


def _members(value: object, name: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Unreadable(f"{name} must be a JSON object")
    return cast("dict[str, object]", value)


def _prefix(name: str) -> str:
    return "" if name in (RESPONSE, EVENT) else f"{name}."


def _built(kind: Any, members: Mapping[str, object], name_of_all: str) -> Any:
    read: dict[str, Any] = {}
    for name, hint in _hints(kind).items():
        inner = get_args(hint) or (hint,)
        # On the wire the name of a time ends in its unit.
        wire = f"{name}_ms" if datetime in inner else f"{name}_s" if timedelta in inner else name
        read[name] = _read(hint, members.get(wire), f"{_prefix(name_of_all)}{wire}")
    return kind(**read)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


WIRE: dict[type, type] = {Decimal: str, datetime: int, timedelta: int}
"""The JSON form of a value, if it differs from the value."""
JSON_NAMES: dict[type, str] = {str: "a string", int: "an integer", bool: "true or false"}


def _scalar(hint: type, value: object, name: str) -> object:
    wire = WIRE.get(hint, hint)
    # To Python, True is an int.
    if not isinstance(value, wire) or (isinstance(value, bool) and wire is not bool):
        raise Unreadable(f"{name} must be {JSON_NAMES[wire]}")
    known: Any = value
    try:
        if hint is Decimal:
            return _finite(Decimal(known))
        if hint is datetime:
            return EPOCH + timedelta(milliseconds=known)
        return timedelta(seconds=known) if hint is timedelta else known
    except ArithmeticError as error:
        raise Unreadable(f"{name} {'must be a decimal number' if hint is Decimal else 'is out of range'}") from error


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise InvalidOperation
    return number
