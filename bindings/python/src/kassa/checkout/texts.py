"""What a payment screen says: of its states, on its buttons and fields, of amounts, and of the phone that a code goes to."""

import dataclasses
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from .. import _check
from .._calls import call
from .._convert import mirrors
from .._generated import native
from ..violations import Language
from .details import PaymentMethod
from .state import CheckoutState, EnterOtp, OpenPage, Paid, ShowQr, Waiting

_STATES: tuple[type, ...] = get_args(CheckoutState)
_MOST_ATTEMPTS = 2**32 - 1
"""A larger number is none of the core's."""


@mirrors(native.CheckoutTexts)
@dataclass(frozen=True, slots=True)
class CheckoutTexts:
    """What a payment screen says about its state, in one language."""

    title: str
    """What it is about, in a few words."""
    explanation: str | None = None
    """What the payer does now, or what it means for their money; `None` where the title says it."""
    message: str | None = None
    """What became of the last try, or what is in the way."""
    reason: str | None = None
    """More words about that, as they came from gateway or server, in any language. What is told for developers is not among
    them."""

    @staticmethod
    def of(state: CheckoutState, language: Language, *, may_have_paid: bool) -> "CheckoutTexts":
        """What the screen says of a state.

        ``may_have_paid`` is true where something that the payer was shown can still be paid: a page whose checkout has ended,
        or a QR code that was left for another way to pay. **Then they are not told to order again without a warning.**

        >>> CheckoutTexts.of(Expired(), Language.ENGLISH, may_have_paid=False).title
        'The time to pay is over'
        """
        _check.flag("may_have_paid", may_have_paid)
        _check.instance("language", language, Language)
        texts: CheckoutTexts = call(native.checkout_texts, _state(state), may_have_paid, language)
        return texts


def _state(state: Any) -> Any:
    """As much of a state as its texts depend on. The rest may be what cannot be handed to the core."""
    if not isinstance(state, _STATES):
        raise _check.wrong("state", "a kassa.checkout.CheckoutState", state)
    match state:
        case EnterOtp(attempts_left=left):
            return dataclasses.replace(state, attempts_left=min(max(0, left), _MOST_ATTEMPTS))
        case OpenPage():
            return dataclasses.replace(state, url="")
        case ShowQr():
            return dataclasses.replace(state, text="")
        case Waiting():
            return dataclasses.replace(state, page_url=None)
        case Paid():
            return dataclasses.replace(state, amount=Decimal(0), currency="")
        case _:
            return state


@mirrors(native.CheckoutLabels)
@dataclass(frozen=True, slots=True)
class CheckoutLabels:
    """The words of a payment screen that are the same in every state: buttons, fields, ways to pay. None of them has a place to
    be filled in."""

    title: str
    """The screen's title."""
    order: str
    """Before a colon and the shop's own reference."""
    reason: str
    """Before a colon and `CheckoutTexts.reason`."""
    pay_form: str
    """The way to pay by the gateway's own page."""
    pay_form_hint: str
    """What the payer has to know about it."""
    qr: str
    """The way to pay by a QR code."""
    qr_hint: str
    """What the payer has to know about it."""
    mbank: str
    """The way to pay by the mobile bank, and the title of its form."""
    mbank_hint: str
    """What the payer has to know about it."""
    card: str
    """The way to pay by a card that is typed into the app."""
    card_hint: str
    """What the payer has to know about it."""
    card_title: str
    """The title of the form for a card."""
    phone: str
    """The field for the phone."""
    phone_example: str
    """Below it, as long as what was typed is no number: whose it is, and an example."""
    phone_wrong: str
    """Where what was typed is no number, whatever rule it breaks: an example says more than the rule."""
    code: str
    """The field for the code from the SMS."""
    code_short: str
    """Where too little of it was typed."""
    card_number: str
    """The field for the card's number."""
    card_expiry: str
    """The field for the card's expiry, month first."""
    card_cvc: str
    """The field for the card's security code."""
    card_cvc_hint: str
    """Where it stands."""
    card_holder: str
    """The field for the name of the card's holder."""
    pay: str
    """The button that pays, where the amount is not known yet."""
    proceed: str
    """The button that goes on after the phone was typed."""
    confirm: str
    """The button that sends the code."""
    open_page: str
    """The button that opens the gateway's page."""
    open_page_again: str
    """The button that opens it again."""
    no_browser: str
    """Where nothing on this phone opens a page; above its address."""
    copy_address: str
    """The button that copies the address."""
    address_copied: str
    """What is said then."""
    have_paid: str
    """The button that asks at once how it ended, while a page or a QR code can be paid."""
    check_now: str
    """The button that asks at once how it ended, while the bank is waited for."""
    open_bank_app: str
    """The button that opens an app of a bank on this phone."""
    no_bank_app: str
    """Where there is none."""
    choose_bank: str
    """The button that shows the banks by name, for a code that opens in the app of each."""
    save_picture: str
    """The button that saves the picture of the QR code."""
    picture_saved: str
    """What is said then."""
    picture_not_saved: str
    """What is said where it was not."""
    qr_picture: str
    """What the QR code is, for those who hear the screen."""
    other_way: str
    """Above the other ways to pay, or the button that shows them, while a page is there; and the button that leaves a
    QR code."""
    other_way_hint: str
    """Beside it while a page is there: when not to."""
    other_than_code_hint: str
    """Beside it while a QR code is there: when not to."""
    other_number: str
    """The button that leaves the question for the code from the SMS."""
    other_number_hint: str
    """Beside it: for whom it is, and what becomes of the code."""
    back: str
    """The button that goes back."""
    back_to_code: str
    """The button that goes back to the open payment."""
    close: str
    """The button that closes the screen."""
    done: str
    """The button that closes it where the payment is paid."""
    covered: str
    """What covers the screen while the app is not in front."""

    @staticmethod
    def of(language: Language) -> "CheckoutLabels":
        """The words in a language.

        >>> CheckoutLabels.of(Language.ENGLISH).confirm
        'Confirm the payment'
        """
        labels: CheckoutLabels = call(native.checkout_labels, _check.instance("language", language, Language))
        return labels

    def name_of(self, method: PaymentMethod) -> str:
        """The name of a way to pay."""
        names = {
            PaymentMethod.PAY_FORM: self.pay_form,
            PaymentMethod.QR: self.qr,
            PaymentMethod.MBANK: self.mbank,
            PaymentMethod.CARD: self.card,
        }
        return names[_check.instance("method", method, PaymentMethod)]

    def hint_of(self, method: PaymentMethod) -> str:
        """What the payer has to know about a way to pay."""
        hints = {
            PaymentMethod.PAY_FORM: self.pay_form_hint,
            PaymentMethod.QR: self.qr_hint,
            PaymentMethod.MBANK: self.mbank_hint,
            PaymentMethod.CARD: self.card_hint,
        }
        return hints[_check.instance("method", method, PaymentMethod)]


def phone_hint(typed: str, language: Language) -> str | None:
    """What stands below the field for a phone: to which number the code goes, by the rule of `kassa.normalized_phone`.

    `None` where what was typed is none; show ``phone_example`` of the labels then. **Show it**: a payer who sees it notices a
    mistake before the code is sent to somebody else. The number is not broken over two lines.

    >>> phone_hint("0555 000-101", Language.ENGLISH).replace("\\u00a0", " ")
    'The code goes to +996 555 000 101'
    """
    _check.text("typed", typed)
    hint: str | None = call(native.phone_hint, typed, _check.instance("language", language, Language))
    return hint
