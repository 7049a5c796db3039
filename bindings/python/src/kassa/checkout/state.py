"""What a payment screen shows: the states of a checkout as its payer sees it (state machine)."""

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias

from .. import _check
from .._convert import mirror_fields
from .._generated import native
from .details import PaymentMethod
from .message import CheckoutMessage


class _State:
    """What all states share."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether the state is a kassa.checkout.Paid (isinstance), or None")


@dataclass(frozen=True, slots=True)
class Opening(_State):
    """The server has not answered yet."""

    kind: ClassVar[Literal["opening"]] = "opening"
    message: CheckoutMessage | None = None
    """Why not, where something is in the way."""


@dataclass(frozen=True, slots=True)
class Ready(_State):
    """The payer chooses how to pay."""

    kind: ClassVar[Literal["ready"]] = "ready"
    methods: tuple[PaymentMethod, ...]
    """The ways to pay. There may be none for which there is an action here."""
    message: CheckoutMessage | None = None
    """What became of the last try, where there was one."""
    can_keep_method: bool = False
    """True while the payer chooses again though a payment is open: ``keep_method`` goes back to that."""


@dataclass(frozen=True, slots=True)
class Sending(_State):
    """What the payer asked for is on its way. Nothing else can be asked for meanwhile."""

    kind: ClassVar[Literal["sending"]] = "sending"
    message: CheckoutMessage | None = None
    """What is in the way."""


@dataclass(frozen=True, slots=True)
class EnterOtp(_State):
    """The payer enters the one-time password that the mobile bank sent: ``confirm``."""

    kind: ClassVar[Literal["enter_otp"]] = "enter_otp"
    attempts_left: int
    """How many passwords may still be tried."""
    message: CheckoutMessage | None = None
    """Why the last one was not taken, where there was one."""
    phone_last2: str | None = None
    """The last two digits of the phone that the password went to, where the server tells them."""
    can_change_method: bool = False
    """Whether the payer can choose another number or another way to pay: ``change_method``."""


@dataclass(frozen=True, slots=True)
class OpenPage(_State):
    """The payer pays, or confirms a payment by card (3DS), on a page of the gateway's."""

    kind: ClassVar[Literal["open_page"]] = "open_page"
    url: str
    """The page: https, or loopback."""
    begun_here: bool
    """True where an action of this object led here: open it at once. False after the app was killed, or where another device
    began: show a button that opens it."""
    methods: tuple[PaymentMethod, ...]
    """Other ways to pay that can be begun instead."""
    message: CheckoutMessage | None = None
    """What became of another try."""


@dataclass(frozen=True, slots=True)
class ShowQr(_State):
    """The payer scans a code with the app of a bank: draw the text with `kassa.QrCode`. On the phone itself the text, where it
    is a link, opens that app."""

    kind: ClassVar[Literal["show_qr"]] = "show_qr"
    text: str
    """The text of the code."""
    message: CheckoutMessage | None = None
    """What is in the way, or what became of the last action."""
    can_change_method: bool = False
    """Whether the payer can choose another way to pay: ``change_method``. **A code that was left can still be paid**, so warn a
    payer who may have paid by it."""


@dataclass(frozen=True, slots=True)
class Waiting(_State):
    """The payer has done everything, and the gateway is asked how it ended."""

    kind: ClassVar[Literal["waiting"]] = "waiting"
    page_url: str | None
    """The page that the payer came back from, to be opened again by a button."""
    methods: tuple[PaymentMethod, ...]
    """Other ways to pay that can be begun instead."""
    message: CheckoutMessage | None = None
    """What is known, or in the way."""


@dataclass(frozen=True, slots=True)
class Paid(_State):
    """**Paid**, by the gateway's own report to the merchant's server. The end."""

    kind: ClassVar[Literal["paid"]] = "paid"
    amount: Decimal
    """What was paid."""
    currency: str
    """The currency's three letters."""


@dataclass(frozen=True, slots=True)
class NotPaid(_State):
    """Not paid, and it cannot be paid any more."""

    kind: ClassVar[Literal["not_paid"]] = "not_paid"
    reason: CheckoutMessage
    """Why."""


@dataclass(frozen=True, slots=True)
class PersonNeeded(_State):
    """What became of the money is for a person of the merchant's to find out. **The payer must not pay again.**"""

    kind: ClassVar[Literal["person_needed"]] = "person_needed"
    message: CheckoutMessage
    """What the payer is told."""


@dataclass(frozen=True, slots=True)
class Expired(_State):
    """Nobody paid in time."""

    kind: ClassVar[Literal["expired"]] = "expired"


@dataclass(frozen=True, slots=True)
class TokenExpired(_State):
    """The client token is not good any more, and nobody gave a new one (``renew_token``). **It says nothing about the
    money.**"""

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
"""Where a checkout stands, which is what a payment screen shows; ``kind`` is its name, the same in every language. A message
beside it is for the payer to read (`CheckoutMessage.text_in`); one about the network is there for as long as it lasts, and
**never means that the payment failed**.
"""


def _mirrors(core: Any, own: Any) -> None:
    mirror_fields(core, own, [each.name for each in fields(own)])


_mirrors(native.CheckoutState.OPENING, Opening)
_mirrors(native.CheckoutState.READY, Ready)
_mirrors(native.CheckoutState.SENDING, Sending)
_mirrors(native.CheckoutState.ENTER_OTP, EnterOtp)
_mirrors(native.CheckoutState.OPEN_PAGE, OpenPage)
_mirrors(native.CheckoutState.SHOW_QR, ShowQr)
_mirrors(native.CheckoutState.WAITING, Waiting)
_mirrors(native.CheckoutState.PAID, Paid)
_mirrors(native.CheckoutState.NOT_PAID, NotPaid)
_mirrors(native.CheckoutState.PERSON_NEEDED, PersonNeeded)
_mirrors(native.CheckoutState.EXPIRED, Expired)
_mirrors(native.CheckoutState.TOKEN_EXPIRED, TokenExpired)
