"""The payer's side of the merchant's server, for a payment screen: its state, and the payer's actions.

    from kassa import checkout

    with checkout.Checkout("https://pay.shop.example.kg", client_token) as paying:
        for state in paying.states():
            match state:
                case checkout.Ready():
                    paying.pay_by_mbank(input("Your phone? "))
                case checkout.EnterOtp(attempts_left=left):
                    paying.confirm(input(f"The code from the SMS ({left} tries)? "))
                case checkout.Paid(amount, currency):
                    print("paid", amount, currency)
                    break

`Checkout` is blocking; `AsyncCheckout` is for asyncio and trio. It holds no secret of the merchant: a client token opens one
checkout of ``kassa-server``. **The shop delivers on the server's event, never because an app says that the checkout is
paid.**
"""

from .._one_module import show_as_one_module as _show_as_one_module
from .amounts import amount_text, pay_text
from .asynchronous import AsyncCheckout, AsyncCheckoutStates
from .blocking import Checkout, CheckoutStates
from .details import CheckoutDetails, PaymentMethod
from .message import CheckoutMessage, DeclineReason, MessageTopic
from .state import (
    CheckoutState,
    EnterOtp,
    Expired,
    NotPaid,
    Opening,
    OpenPage,
    Paid,
    PersonNeeded,
    Ready,
    Sending,
    ShowQr,
    TokenExpired,
    Waiting,
)
from .texts import CheckoutLabels, CheckoutTexts, phone_hint

__all__ = [
    "AsyncCheckout",
    "AsyncCheckoutStates",
    "Checkout",
    "CheckoutDetails",
    "CheckoutLabels",
    "CheckoutMessage",
    "CheckoutState",
    "CheckoutStates",
    "CheckoutTexts",
    "DeclineReason",
    "EnterOtp",
    "Expired",
    "MessageTopic",
    "NotPaid",
    "OpenPage",
    "Opening",
    "Paid",
    "PaymentMethod",
    "PersonNeeded",
    "Ready",
    "Sending",
    "ShowQr",
    "TokenExpired",
    "Waiting",
    "amount_text",
    "pay_text",
    "phone_hint",
]

_show_as_one_module(globals())
