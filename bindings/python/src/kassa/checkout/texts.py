"""Texts of a payment screen: states, buttons, fields, amounts, and the phone that a code goes to."""

from decimal import Decimal
from typing import Any, get_args

from .. import _check
from .._codec import record
from .._core import native
from .._dataclass import dataclass
from ..errors import Invalid
from ..violations import Language
from .amounts import amount_text
from .details import PaymentMethod
from .state import CheckoutState, EnterOtp, OpenPage, Paid, ShowQr, Waiting

_STATES: tuple[type, ...] = get_args(CheckoutState)
_MOST_ATTEMPTS = 2**32 - 1
"""A larger number is none of the core's."""


@record("CheckoutTexts")
@dataclass(frozen=True, slots=True)
class CheckoutTexts:
    """The texts of a payment screen for one state, in one language."""

    title: str
    """A short title."""
    explanation: str | None = None
    """What the payer should do, or what the state means for their money; `None` if the title is enough."""
    cost: str | None = None
    """What the payer agrees to pay by entering the code, if that is more than the amount, or may be. **Show it above the field
    for the code.**"""
    message: str | None = None
    """The result of the last attempt, or the problem."""
    reason: str | None = None
    """Why the gateway declined, in this language. The gateway's own words are never part of it."""

    @staticmethod
    def of(state: CheckoutState, language: Language, *, may_have_paid: bool) -> "CheckoutTexts":
        """The texts for a state.

        ``may_have_paid`` is true if the payer was shown something that can still be paid: a page whose checkout has ended, or
        a QR code that was left for another method. **Then the texts do not suggest a new order without a warning.**

        >>> CheckoutTexts.of(Expired(), Language.ENGLISH, may_have_paid=False).title
        'The time to pay is over'
        """
        _check.flag("may_have_paid", may_have_paid)
        _check.instance("language", language, Language)
        texts: CheckoutTexts = native.checkout_texts(_state(state), may_have_paid, language)
        return texts


def _state(state: Any) -> Any:
    """As much of a state as its texts depend on. The rest may be what cannot be handed to the core."""
    if not isinstance(state, _STATES):
        raise _check.wrong("state", "a kassa.checkout.CheckoutState", state)
    import dataclasses

    match state:
        case EnterOtp(attempts_left=left, commission=commission, total=total):
            # `checkout_texts` has no error for an amount that the core cannot hold. Then the cost is unknown.
            if not (_is_representable(commission) and _is_representable(total)):
                commission = total = None
            return dataclasses.replace(
                state,
                attempts_left=min(max(0, left), _MOST_ATTEMPTS),
                commission=commission,
                total=total,
                code_expires_at=None,
            )
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


def _is_representable(amount: Decimal | None) -> bool:
    """Whether the core can represent the amount."""
    if amount is not None:
        try:
            amount_text(amount, "KGS", Language.ENGLISH)
        except Invalid:
            return False
    return True


@record("CheckoutLabels")
@dataclass(frozen=True, slots=True)
class CheckoutLabels:
    """The labels of a payment screen that do not depend on the state: buttons, fields, payment methods. None has a
    placeholder."""

    title: str
    """The screen's title."""
    order: str
    """The label of the shop's reference, followed by a colon."""
    pay_form: str
    """The payment method: the gateway's own page."""
    pay_form_hint: str
    """Its explanation for the payer."""
    qr: str
    """The payment method: a QR code."""
    qr_hint: str
    """Its explanation for the payer."""
    mbank: str
    """The payment method: the mobile bank; also the title of its form."""
    mbank_hint: str
    """Its explanation for the payer."""
    megapay: str
    """The payment method: a MegaPay wallet; also the title of its form."""
    megapay_hint: str
    """Its explanation for the payer."""
    card: str
    """The payment method: a card entered in the app."""
    card_hint: str
    """Its explanation for the payer."""
    card_title: str
    """The title of the card form."""
    phone: str
    """The field for the phone."""
    phone_example: str
    """The hint below the phone field until the input is a phone number, with an example."""
    phone_wrong: str
    """The error if the input is not a phone number: an example, whatever rule is broken."""
    code: str
    """The field for the code from the SMS."""
    code_short: str
    """The error if the code is too short."""
    card_number: str
    """The field for the card's number."""
    card_expiry: str
    """The field for the card's expiry, month first."""
    card_cvc: str
    """The field for the card's security code."""
    card_cvc_hint: str
    """Where to find the code on the card."""
    card_holder: str
    """The field for the name of the card's holder."""
    pay: str
    """The pay button while the amount is unknown."""
    proceed: str
    """The button that continues after the phone number."""
    confirm: str
    """The button that sends the code."""
    open_page: str
    """The button that opens the gateway's page."""
    open_page_again: str
    """The button that opens it again."""
    no_browser: str
    """The text above a page's URL if no app on this phone opens it."""
    copy_address: str
    """The button that copies the URL."""
    address_copied: str
    """The confirmation of that."""
    have_paid: str
    """The button that queries the status at once, while a page or a QR code can be paid."""
    check_now: str
    """The button that queries the status at once, while the bank's answer is pending."""
    open_bank_app: str
    """The button that opens a bank's app on this phone."""
    no_bank_app: str
    """The text if there is no such app."""
    choose_bank: str
    """The button that lists the banks whose apps open the code."""
    save_picture: str
    """The button that saves the picture of the QR code."""
    picture_saved: str
    """The confirmation of that."""
    picture_not_saved: str
    """The error if the picture could not be saved."""
    qr_picture: str
    """The description of the QR code for screen readers."""
    other_way: str
    """The heading above the other methods (or the button that shows them) next to a page, and the button that leaves a QR
    code."""
    other_way_hint: str
    """The warning next to it for a page: when not to switch."""
    other_than_code_hint: str
    """The warning next to it for a QR code: when not to switch."""
    other_number: str
    """The button that leaves the form for the code from the SMS."""
    other_number_hint: str
    """The hint next to it: when to use it, and what happens to the code."""
    back: str
    """The button that goes back."""
    back_to_code: str
    """The button that goes back to the open payment."""
    close: str
    """The button that closes the screen."""
    done: str
    """The button that closes the screen after the payment."""
    covered: str
    """The text that covers the screen while the app is in the background."""

    @staticmethod
    def of(language: Language) -> "CheckoutLabels":
        """The labels in a language.

        >>> CheckoutLabels.of(Language.ENGLISH).confirm
        'Confirm the payment'
        """
        labels: CheckoutLabels = native.checkout_labels(_check.instance("language", language, Language))
        return labels

    def name_of(self, method: PaymentMethod) -> str:
        """The name of a payment method."""
        names = {
            PaymentMethod.PAY_FORM: self.pay_form,
            PaymentMethod.QR: self.qr,
            PaymentMethod.MBANK: self.mbank,
            PaymentMethod.MEGAPAY: self.megapay,
            PaymentMethod.CARD: self.card,
        }
        return names[_check.instance("method", method, PaymentMethod)]

    def hint_of(self, method: PaymentMethod) -> str:
        """The explanation of a payment method for the payer."""
        hints = {
            PaymentMethod.PAY_FORM: self.pay_form_hint,
            PaymentMethod.QR: self.qr_hint,
            PaymentMethod.MBANK: self.mbank_hint,
            PaymentMethod.MEGAPAY: self.megapay_hint,
            PaymentMethod.CARD: self.card_hint,
        }
        return hints[_check.instance("method", method, PaymentMethod)]


def phone_hint(typed: str, language: Language) -> str | None:
    """The hint below the phone field: to which number the code goes, normalized with `kassa.normalized_phone`.

    `None` if the input is not a phone number; show ``phone_example`` of the labels then. **Always show the hint**, so that
    the payer notices a mistake before the code goes to somebody else. The number has no-break spaces.

    >>> phone_hint("0555 000-101", Language.ENGLISH).replace("\\u00a0", " ")
    'The code goes to +996 555 000 101'
    """
    _check.text("typed", typed)
    hint: str | None = native.phone_hint(typed, _check.instance("language", language, Language))
    return hint
