"""The states of a checkout as its payer sees it (state machine)."""

from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Literal, NoReturn, TypeAlias

from .. import _check
from .._codec import variant
from .._dataclass import dataclass
from .details import PaymentMethod
from .message import CheckoutMessage


class _State:
    """Base class of all states."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether the state is a kassa.checkout.Paid (isinstance), or None")


@variant("CheckoutState.Opening")
@dataclass(frozen=True, slots=True)
class Opening(_State):
    """The server has not answered yet."""

    kind: ClassVar[Literal["opening"]] = "opening"
    message: CheckoutMessage | None = None
    """The reason, if there is a problem."""


@variant("CheckoutState.Ready")
@dataclass(frozen=True, slots=True)
class Ready(_State):
    """The payer chooses a payment method."""

    kind: ClassVar[Literal["ready"]] = "ready"
    methods: tuple[PaymentMethod, ...]
    """The payment methods. The list may be empty."""
    message: CheckoutMessage | None = None
    """The result of the last attempt, if any."""
    can_keep_method: bool = False
    """True while the payer chooses again although a payment is open: ``keep_method`` goes back to it."""


@variant("CheckoutState.Sending")
@dataclass(frozen=True, slots=True)
class Sending(_State):
    """The payer's action is being sent. No other action is possible until then."""

    kind: ClassVar[Literal["sending"]] = "sending"
    message: CheckoutMessage | None = None
    """The problem, if any."""


@variant("CheckoutState.EnterOtp")
@dataclass(frozen=True, slots=True)
class EnterOtp(_State):
    """The payer enters the code from a message, the one-time password of the mobile bank or the PIN of a MegaPay wallet:
    ``confirm``. **Entering the code accepts the total**: show `CheckoutTexts.cost` above the field."""

    kind: ClassVar[Literal["enter_otp"]] = "enter_otp"
    method: PaymentMethod
    """The payment method that is confirmed."""
    attempts_left: int
    """How many attempts are left."""
    message: CheckoutMessage | None = None
    """Why the last code was not accepted, if any was tried."""
    phone_last2: str | None = None
    """The last two digits of the phone that the code went to, if the server's response has them."""
    commission: Decimal | None = None
    """The amount that the payer pays in addition, in units of the currency, if the gateway's response has a commission."""
    total: Decimal | None = None
    """The amount that the payer pays in all, if the gateway's response has a commission."""
    code_expires_at: datetime | None = None
    """When the code expires (UTC, the server's clock), if the gateway's response says so."""
    can_change_method: bool = False
    """Whether the payer can choose another number or payment method: ``change_method``."""


@variant("CheckoutState.OpenPage")
@dataclass(frozen=True, slots=True)
class OpenPage(_State):
    """The payer pays, or confirms a card payment (3DS), on a page of the gateway."""

    kind: ClassVar[Literal["open_page"]] = "open_page"
    url: str
    """The page: https, or loopback."""
    begun_here: bool
    """True if an action of this object led here: open the page at once. False after the app was killed, or if another device
    began: show a button that opens it."""
    methods: tuple[PaymentMethod, ...]
    """Other payment methods that can be started instead."""
    message: CheckoutMessage | None = None
    """The result of another attempt."""


@variant("CheckoutState.ShowQr")
@dataclass(frozen=True, slots=True)
class ShowQr(_State):
    """The payer scans a code with a bank's app: draw the text with `kassa.QrCode`. On the phone itself, open the text if it
    is a link."""

    kind: ClassVar[Literal["show_qr"]] = "show_qr"
    text: str
    """The text of the code."""
    message: CheckoutMessage | None = None
    """A problem, or the result of the last action."""
    can_change_method: bool = False
    """Whether the payer can choose another payment method: ``change_method``. **An abandoned code can still be paid**, so
    warn a payer who may have paid with it."""


@variant("CheckoutState.Waiting")
@dataclass(frozen=True, slots=True)
class Waiting(_State):
    """The payer has done everything; the gateway is polled for the result."""

    kind: ClassVar[Literal["waiting"]] = "waiting"
    page_url: str | None
    """The page that the payer came back from, for a button that opens it again."""
    methods: tuple[PaymentMethod, ...]
    """Other payment methods that can be started instead."""
    message: CheckoutMessage | None = None
    """What is known, or the problem."""


@variant("CheckoutState.Paid")
@dataclass(frozen=True, slots=True)
class Paid(_State):
    """**Paid**, by the gateway's report to the merchant's server. Final."""

    kind: ClassVar[Literal["paid"]] = "paid"
    amount: Decimal
    """What was paid."""
    currency: str
    """The currency's three letters."""


@variant("CheckoutState.NotPaid")
@dataclass(frozen=True, slots=True)
class NotPaid(_State):
    """Not paid, and it can no longer be paid."""

    kind: ClassVar[Literal["not_paid"]] = "not_paid"
    reason: CheckoutMessage
    """Why."""


@variant("CheckoutState.PersonNeeded")
@dataclass(frozen=True, slots=True)
class PersonNeeded(_State):
    """The merchant's staff must find out what happened to the money. **The payer must not pay again.**"""

    kind: ClassVar[Literal["person_needed"]] = "person_needed"
    message: CheckoutMessage
    """The message for the payer."""


@variant("CheckoutState.Expired")
@dataclass(frozen=True, slots=True)
class Expired(_State):
    """Nobody paid in time."""

    kind: ClassVar[Literal["expired"]] = "expired"


@variant("CheckoutState.TokenExpired")
@dataclass(frozen=True, slots=True)
class TokenExpired(_State):
    """The client token has expired, and no new one was given (``renew_token``). **It says nothing about the money.**"""

    kind: ClassVar[Literal["token_expired"]] = "token_expired"


CheckoutState: TypeAlias = (
    Opening
    | Ready
    | Sending
    | EnterOtp
    | OpenPage
    | ShowQr
    | Waiting
    | Paid
    | NotPaid
    | PersonNeeded
    | Expired
    | TokenExpired
)
"""The state of a checkout, for a payment screen; ``kind`` is its name, the same in every language. A message next to it is for
the payer (`CheckoutMessage.text_in`); one about the network stays until the problem is over, and **never means that the
payment failed**.
"""
