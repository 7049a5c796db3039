"""A card form while the payer types."""

from enum import Enum
from typing import TypeAlias

from . import _check
from ._codec import flat_enum, read_as, variant, write_as
from ._core import native
from ._dataclass import dataclass
from .secrets import Card, Secretive, card_of, held, hold
from .violations import Violation


@flat_enum("CardBrand")
class CardBrand(Enum):
    """The brand of a payment card, as its first digits show.

    Only unambiguous ranges are listed; everything else is ``UNKNOWN``, which is no reason to refuse a card.
    """

    VISA = "visa"
    """4; 16 digits, and 13 or 19 on some cards."""
    MASTERCARD = "mastercard"
    """51 to 55 and 2221 to 2720; 16 digits."""
    MIR = "mir"
    """2200 to 2204; 16 to 19 digits."""
    UNION_PAY = "union_pay"
    """62; 16 to 19 digits."""
    ELCART = "elcart"
    """9417, Kyrgyzstan's national card system; 16 digits."""
    AMEX = "amex"
    """34 and 37; 15 digits. Its security code has four digits, and the gateway takes three."""
    MAESTRO = "maestro"
    """5018, 5020, 5038, 5893, 6304, 6759 and 6761 to 6763; 13 to 19 digits here."""
    JCB = "jcb"
    """3528 to 3589; 16 to 19 digits."""
    UNKNOWN = "unknown"
    """None of these, or too few digits."""

    def __str__(self) -> str:
        return self.value


@variant("FieldState.Incomplete")
@dataclass(frozen=True, slots=True)
class Incomplete:
    """Incomplete, and nothing is wrong yet."""


@variant("FieldState.Complete")
@dataclass(frozen=True, slots=True)
class Complete:
    """Complete: the field can be sent. The number may still get longer if its brand has several lengths."""


@variant("FieldState.Wrong")
@dataclass(frozen=True, slots=True)
class Wrong:
    """Wrong: further digits cannot make it valid."""

    violation: Violation
    """The rule that is broken, with its text."""


FieldState: TypeAlias = Incomplete | Complete | Wrong
"""The state of a form's field while the payer types."""


class CardInput(Secretive):
    """The input of a card form so far, so that your program need not parse ``08/31`` itself.

    Each ``with_`` method takes the text **of the whole field** and returns a new input; the old one is unchanged. Put the
    formatted text back into the field, and show the field's state. Formatted text is stable: formatting it again changes
    nothing.

    Digits of any script are accepted; spaces, hyphens and other pasted characters are removed from number, expiry and CVC.
    The expiry is compared with the current month (UTC), or the one that ``as_of`` sets. **A CVC has three digits, because
    that is what the gateway takes**: American Express cards have four and cannot be used.

    It is never printed, not even its last digits, and never pickled. See `Card` on PCI DSS.

    >>> typed = CardInput().as_of(2026, 11).with_number("4111-1111 11111111").with_expiry("8/2031")
    >>> typed.number, typed.expiry, typed.brand
    ('4111 1111 1111 1111', '08/31', <CardBrand.VISA: 'visa'>)
    >>> typed.number_state, typed.cvc_state
    (Complete(), Incomplete())
    >>> typed.with_cvc("123").with_holder_name("Aibek Usenov").card()
    Card(**** 1111)
    """

    __slots__ = ()

    def __init__(self) -> None:
        """An empty form."""
        hold(self, native.CardInput())

    def with_number(self, typed: str) -> "CardInput":
        """The same input with this number: the text of the whole field."""
        return self._with(self._native.with_number(_check.text("number", typed)))

    def with_expiry(self, typed: str) -> "CardInput":
        """The same input with this expiry, month first: ``08/31``, ``8/31``, ``0831``, ``08-31``, ``08 / 2031``."""
        return self._with(self._native.with_expiry(_check.text("expiry", typed)))

    def with_cvc(self, typed: str) -> "CardInput":
        """The same input with this security code (CVC, CVV)."""
        return self._with(self._native.with_cvc(_check.text("cvc", typed)))

    def with_holder_name(self, typed: str) -> "CardInput":
        """The same input with this holder's name, unchanged."""
        return self._with(self._native.with_holder_name(_check.text("holder_name", typed)))

    def as_of(self, year: int, month: int) -> "CardInput":
        """The same input, with the expiry compared with this month instead of the current one."""
        return self._with(self._native.as_of(_check.year("year", year), _check.whole("month", month, range(1, 13))))

    @property
    def number(self) -> str:
        """The number, with spaces between groups as the brand prints them."""
        number: str = self._native.number()
        return number

    @property
    def expiry(self) -> str:
        """The expiry as ``08/31``, as far as typed."""
        expiry: str = self._native.expiry()
        return expiry

    @property
    def cvc(self) -> str:
        """The digits of the security code."""
        cvc: str = self._native.cvc()
        return cvc

    @property
    def holder_name(self) -> str:
        """The holder's name as typed."""
        name: str = self._native.holder_name()
        return name

    @property
    def brand(self) -> CardBrand:
        """The brand, as soon as the digits show it."""
        brand: CardBrand = self._native.brand()
        return brand

    @property
    def number_lengths(self) -> tuple[int, ...]:
        """The possible numbers of digits for this brand, in ascending order; 13 to 20 if the brand is unknown."""
        lengths: tuple[int, ...] = self._native.number_lengths()
        return lengths

    @property
    def number_state(self) -> FieldState:
        """The state of the number."""
        state: FieldState = self._native.number_state()
        return state

    @property
    def expiry_state(self) -> FieldState:
        """The state of the expiry."""
        state: FieldState = self._native.expiry_state()
        return state

    @property
    def cvc_state(self) -> FieldState:
        """The state of the security code. It has three digits for every brand: the gateway takes no more."""
        state: FieldState = self._native.cvc_state()
        return state

    @property
    def holder_name_state(self) -> FieldState:
        """The state of the holder's name: anything but spaces is valid."""
        state: FieldState = self._native.holder_name_state()
        return state

    def card(self) -> Card:
        """The card.

        Raises `kassa.Invalid` with all violations at once, by the field names of a card payment: ``pan``, ``expiryMonth``,
        ``expiryYear``, ``cvc`` and ``name``.
        """
        card: Card = self._native.card()
        return card

    @classmethod
    def _with(cls, typed: object) -> "CardInput":
        made = cls.__new__(cls)
        hold(made, typed)
        return made

    def __repr__(self) -> str:
        return "CardInput(***)"


write_as("@CardInput", held)
read_as("@Card", card_of)
