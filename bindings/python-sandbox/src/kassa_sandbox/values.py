"""The sandbox's own records, as immutable values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, NoReturn, TypeAlias

from ._names import DialectName, FaultName

Kind: TypeAlias = Literal["card", "mbank", "megapay", "pay_form", "qr"]
"""How a payment was created."""
Provider: TypeAlias = Literal["Cards", "MegaPay", "MBank"]
"""The provider that processes a payment."""
Endpoint: TypeAlias = Literal[
    "payment",
    "status",
    "mbank/pay",
    "mbank/confirm",
    "mega/check",
    "mega/pay",
    "pay-form",
    "get-status",
    "qr/dynamic",
    "qr/dynamic/data",
    "qr/transaction/status",
]
"""An endpoint of the gateway."""
Language: TypeAlias = Literal["en", "ru", "ky"]
"""The language of the sandbox's messages."""
ReusedOrderNumber: TypeAlias = Literal["refuse", "replay", "charge-twice"]
"""How a reused order number is treated: an error, the first response again, or a second payment."""
StatusNumbers: TypeAlias = Literal["strict", "any"]
"""Numbers that the status endpoints accept: ``status`` the gateway's and ``get-status`` the merchant's, or each both."""
MbankQuid: TypeAlias = Literal["order-number", "field", "not-sent"]
"""For FINIPAY: where a confirmation carries the ``quid`` of an MBank payment."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment in the ledger: what really happened."""

    kind: Kind
    """How it was created."""
    order_number: str
    """The merchant's number. For a pay-form, the number that the gateway generated; for a QR code, its transaction id."""
    gateway_number: str
    """The gateway's number: the ``token`` of its pages."""
    transaction_id: str | None
    """The QR transaction's id; None for all other kinds."""
    provider: Provider | None
    """The provider; None until the payer of a pay-form has chosen one."""
    amount: Decimal | None
    """In the currency's main unit, for a QR code in tyiyn. None for a QR code without a sum until its payer enters one."""
    currency: str
    """The currency's code."""
    status: str
    """``CREATED``, ``PENDING``, ``CHARGE`` or ``Reject``."""
    code: str
    """The code of the status: ``200`` for a charge, ``210`` to ``214`` for a rejection by its reason."""
    times_charged: int
    """The number of charges under this order number. No client may ever cause more than one."""
    created_at: datetime
    """The time of registration."""

    @property
    def is_charged(self) -> bool:
        """Whether this payment was charged."""
        return self.status == "CHARGE"

    def __bool__(self) -> NoReturn:
        # By default an object is true: a test that asserts it would pass although nothing was paid.
        raise TypeError("Payment has no truth value: use payment.is_charged")


@dataclass(frozen=True, slots=True)
class Request:
    """A request that reached an endpoint."""

    endpoint: Endpoint
    """The endpoint."""
    order_number: str | None
    """The number in the request, if any."""
    http_status: int | None
    """The status of the response; None if a fault suppressed it."""
    fault: FaultName | None
    """The injected fault, if any."""
    at: datetime
    """When."""


@dataclass(frozen=True, slots=True)
class CallbackAttempt:
    """An attempt to deliver a callback."""

    order_number: str
    """The payment's number."""
    url: str
    """The URL that it was sent to."""
    status: str
    """The payment status in the callback."""
    attempt: int
    """1 for the first."""
    http_status: int | None
    """The receiver's status, if it answered."""
    error: str | None
    """The reason why there was no answer; None if there was one."""
    fault: FaultName | None
    """The injected fault, if any."""
    body: str
    """The body as sent."""
    at: datetime
    """When."""


@dataclass(frozen=True, slots=True)
class SwitchValues:
    """The sandbox's behaviour where the gateway's interface is not specified."""

    reused_order_number: ReusedOrderNumber
    """How a reused order number is treated."""
    status_numbers: StatusNumbers
    """The numbers that the status endpoints accept."""
    three_ds_1_page: bool
    """Whether 3DS 1.0 cards get a confirmation page, too."""
    redirect_declines: bool
    """Whether a declined payer is redirected to the return URL, too."""
    language: Language
    """The language of messages if a request does not specify one."""
    acts_as: DialectName
    """The gateway whose responses the sandbox returns."""
    mbank_quid: MbankQuid
    """For FINIPAY: where a confirmation carries the ``quid`` of an MBank payment."""


@dataclass(frozen=True, slots=True)
class ClockValues:
    """The gateway's clock, and when pending payments become final."""

    now: datetime
    """The current time."""
    ahead: timedelta
    """Its offset ahead of the machine's clock."""
    resolve_after_queries: int | None
    """The number of status queries after which a pending payment becomes final; None for never."""
    resolve_after: timedelta | None
    """The time after which a pending payment becomes final; None for never."""


def payment(told: Mapping[str, Any]) -> Payment:
    """A payment as the sandbox reports it."""
    amount = told["amount"]
    return Payment(
        kind=told["kind"],
        order_number=told["order_number"],
        gateway_number=told["gateway_number"],
        transaction_id=told.get("transaction_id"),
        provider=told.get("provider"),
        amount=None if amount is None else Decimal(amount),
        currency=told["currency"],
        status=told["status"],
        code=told["code"],
        times_charged=told["times_charged"],
        created_at=moment(told["created_at"]),
    )


def request(told: Mapping[str, Any]) -> Request:
    """A request as the sandbox reports it."""
    return Request(
        endpoint=told["endpoint"],
        order_number=told.get("order_number"),
        http_status=told.get("http_status"),
        fault=told.get("fault"),
        at=moment(told["at"]),
    )


def callback_attempt(told: Mapping[str, Any]) -> CallbackAttempt:
    """An attempt as the sandbox reports it."""
    return CallbackAttempt(
        order_number=told["order_number"],
        url=told["url"],
        status=told["status"],
        attempt=told["attempt"],
        http_status=told.get("http_status"),
        error=told.get("error"),
        fault=told.get("fault"),
        body=told["body"],
        at=moment(told["at"]),
    )


def switch_values(told: Mapping[str, Any]) -> SwitchValues:
    """The switches as the sandbox reports them."""
    return SwitchValues(
        reused_order_number=told["reused_order_number"],
        status_numbers=told["status_numbers"],
        three_ds_1_page=told["three_ds_1_page"],
        redirect_declines=told["redirect_declines"],
        language=told["language"],
        acts_as=told["acts_as"],
        mbank_quid=told["mbank_quid"],
    )


def clock_values(told: Mapping[str, Any]) -> ClockValues:
    """The clock as the sandbox reports it."""
    after = told["resolve_after_ms"]
    return ClockValues(
        now=moment(told["now"]),
        ahead=timedelta(milliseconds=told["ahead_ms"]),
        resolve_after_queries=told["resolve_after_queries"],
        resolve_after=None if after is None else timedelta(milliseconds=after),
    )


def moment(text: str) -> datetime:
    """A moment as RFC 3339 writes it. Python reads fewer forms of it before 3.11."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", text)
    if not found:
        raise ValueError(f"{text!r} is no moment of RFC 3339")
    seconds, fraction, zone = found.groups()
    offset = "+00:00" if zone == "Z" else zone
    return datetime.fromisoformat(f"{seconds}.{(fraction or '0')[:6]:0<6}{offset}").astimezone(timezone.utc)
