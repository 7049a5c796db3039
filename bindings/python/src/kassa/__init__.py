"""Accept payments, and always know what happened to the money.

Cards with 3DS, the mobile bank with a one-time password, MegaPay wallets with a PIN, the gateway's pay-form and dynamic QR
codes, through one gateway:

    import kassa

    with kassa.Gateway("https://pay.example.kg", kassa.Credentials("shop", password)) as gateway:
        payment = kassa.MbankPayment(
            order_number=kassa.new_order_number(), phone="996700000001", amount_som=250, comment="Two tickets"
        )
        store(str(payment.payment_ref()))  # before anything is sent
        try:
            created = gateway.create_mbank_payment(payment)
            gateway.confirm_mbank_payment(created.payment, input("The code from the SMS? "))
        except kassa.OutcomeUnknown as error:
            print(error)  # it may have been charged; never send it again, query it
        match gateway.watch(payment.payment_ref()).outcome():
            case kassa.Charged(report=report):
                print("paid", report.amount)
            case kassa.Rejected():
                print("not paid")
            case other:
                print("a person should look:", other)

`Gateway` is blocking; `AsyncGateway` has the same methods for asyncio and trio. A call without an answer raises a
`PaymentError` that says whether it may have moved money. Amounts are `decimal.Decimal` (or int), never float.

To do this                            call                                 and then
take a card payment                   create_card_payment                  open the confirmation page, watch
take a mobile-bank payment            create_mbank_payment                 confirm_mbank_payment, watch
take a payment from a MegaPay wallet  check_megapay                        pay_by_megapay, watch
let the payer choose on a pay-form    create_pay_form                      open the page, verify its callback
show a QR code                        create_qr_data, QrCode               watch
show the gateway's own QR picture     create_qr_image                      verify its callback
read, write or check an ELQR code     Elqr.parse, Elqr                     text, check, bank_links
know which order a callback is about  CallbackKey                          take the callback
take a callback                       Callback.parse                       verify_callback
take the payer's return               ReturnRedirect.parse                 verify_return
query a payment once                  check
show a page or a code after a crash   PaymentEntry                         store created.entry()
recover payments, send none twice     Gateway(..., journal=folder)         recover, finish
deliver in a script, once             deliver_unfinished                   your handler
deliver in a worker, for ever         deliver_forever                      your handler

Kassa logs to the logger ``kassa`` once it has a handler: ``logging.basicConfig(level=logging.DEBUG)`` is enough. No record
contains a secret; structured details are in ``record.kassa``. Each record comes in the context (``contextvars``) of its call.

`on_call` observes each request with its attempts and its outcome; `kassa.opentelemetry` makes spans and metrics of them.

For tests of your own code, use the in-memory gateway `kassa.testing.FakeGateway`; for stubs, the protocol `PaymentGateway`.

The payer's side of the merchant's server (``kassa-server``), for a payment screen, is `kassa.checkout`.

On the command line, run ``kassa``, or ``python -m kassa``.
"""

from typing import TYPE_CHECKING, Any

from ._one_module import Names as _Names

if TYPE_CHECKING:
    from ._core import InternalError
    from .answers import (
        CardPaymentCreated,
        CheckStatus,
        MbankConfirmed,
        MbankPaymentCreated,
        MegapayAccepted,
        MegapayChecked,
        NextStep,
        OpenConfirmation,
        PayFormCreated,
        QrData,
        QrImage,
    )
    from .async_gateway import AsyncGateway
    from .callback_key import CallbackKey
    from .callbacks import Callback, ReturnRedirect
    from .card_input import CardBrand, CardInput, Complete, FieldState, Incomplete, Wrong
    from .contract import AsyncPaymentGateway, PaymentGateway
    from .delivery import DeliverySummary
    from .dialect import Dialect, DialectField, DialectReading
    from .elqr import BankLink, Elqr, ElqrField, ElqrKind
    from .errors import (
        DeadlineExpired,
        Invalid,
        Misconfigured,
        OutcomeUnknown,
        PaymentError,
        Refused,
        Unauthorized,
        Unavailable,
        Unexpected,
    )
    from .gateway import Gateway
    from .journal import Journal
    from .journal_entry import JournalEntry, JournalState, Unfinished, Unreadable
    from .money import new_order_number, normalized_phone, som_to_tyiyn, tyiyn_to_som
    from .payment_entry import PaymentEntry
    from .payments import PaymentKind, PaymentRef, PaymentStatus, Provider, StatusReport
    from .policies import PollPolicy, RecoveryPolicy
    from .qr import QR_PNG_SIDE, QrCode, QrLevel
    from .recovery import AsyncRecovery, Recovered, Recovery
    from .requests import CardPayment, MbankPayment, MegapayPayment, PayForm, QrPayment
    from .secrets import Card, Credentials, Proxy
    from .settings import StatusQueryForm
    from .telemetry import CallAttempt, CompletedCall, on_call
    from .verdict import Charged, Mismatch, Pending, Rejected, Unverifiable, Verdict
    from .violations import Advice, AdviceTopic, Language, Rule, Violation
    from .watching import AsyncStatusWatch, QueryFailed, StatusWatch, WatchReport

__version__: str

# Names are imported lazily: most programs use few of them.
_names = _Names(
    __name__,
    {
        "_core": "InternalError",
        "answers": "CardPaymentCreated CheckStatus MbankConfirmed MbankPaymentCreated MegapayAccepted MegapayChecked "
        "NextStep OpenConfirmation PayFormCreated QrData QrImage",
        "async_gateway": "AsyncGateway",
        "callback_key": "CallbackKey",
        "callbacks": "Callback ReturnRedirect",
        "card_input": "CardBrand CardInput Complete FieldState Incomplete Wrong",
        "contract": "AsyncPaymentGateway PaymentGateway",
        "delivery": "DeliverySummary",
        "dialect": "Dialect DialectField DialectReading",
        "elqr": "BankLink Elqr ElqrField ElqrKind",
        "errors": "DeadlineExpired Invalid Misconfigured OutcomeUnknown PaymentError "
        "Refused Unauthorized Unavailable Unexpected",
        "gateway": "Gateway",
        "journal": "Journal",
        "journal_entry": "JournalEntry JournalState Unfinished Unreadable",
        "money": "new_order_number normalized_phone som_to_tyiyn tyiyn_to_som",
        "payment_entry": "PaymentEntry",
        "payments": "PaymentKind PaymentRef PaymentStatus Provider StatusReport",
        "qr": "QR_PNG_SIDE QrCode QrLevel",
        "policies": "PollPolicy RecoveryPolicy",
        "recovery": "AsyncRecovery Recovered Recovery",
        "requests": "CardPayment MbankPayment MegapayPayment PayForm QrPayment",
        "secrets": "Card Credentials Proxy",
        "settings": "StatusQueryForm",
        "telemetry": "CallAttempt CompletedCall on_call",
        "verdict": "Charged Mismatch Pending Rejected Unverifiable Verdict",
        "violations": "Advice AdviceTopic Language Rule Violation",
        "watching": "AsyncStatusWatch QueryFailed StatusWatch WatchReport",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("kassa")
    found = globals()[name] = _names.find(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "QR_PNG_SIDE",
    "Advice",
    "AdviceTopic",
    "AsyncGateway",
    "AsyncPaymentGateway",
    "AsyncRecovery",
    "AsyncStatusWatch",
    "BankLink",
    "CallAttempt",
    "Callback",
    "CallbackKey",
    "Card",
    "CardBrand",
    "CardInput",
    "CardPayment",
    "CardPaymentCreated",
    "Charged",
    "CheckStatus",
    "Complete",
    "CompletedCall",
    "Credentials",
    "DeadlineExpired",
    "DeliverySummary",
    "Dialect",
    "DialectField",
    "DialectReading",
    "Elqr",
    "ElqrField",
    "ElqrKind",
    "FieldState",
    "Gateway",
    "Incomplete",
    "InternalError",
    "Invalid",
    "Journal",
    "JournalEntry",
    "JournalState",
    "Language",
    "MbankConfirmed",
    "MbankPayment",
    "MbankPaymentCreated",
    "MegapayAccepted",
    "MegapayChecked",
    "MegapayPayment",
    "Misconfigured",
    "Mismatch",
    "NextStep",
    "OpenConfirmation",
    "OutcomeUnknown",
    "PayForm",
    "PayFormCreated",
    "PaymentEntry",
    "PaymentError",
    "PaymentGateway",
    "PaymentKind",
    "PaymentRef",
    "PaymentStatus",
    "Pending",
    "PollPolicy",
    "Provider",
    "Proxy",
    "QrCode",
    "QrData",
    "QrImage",
    "QrLevel",
    "QrPayment",
    "QueryFailed",
    "Recovered",
    "Recovery",
    "RecoveryPolicy",
    "Refused",
    "Rejected",
    "ReturnRedirect",
    "Rule",
    "StatusQueryForm",
    "StatusReport",
    "StatusWatch",
    "Unauthorized",
    "Unavailable",
    "Unexpected",
    "Unfinished",
    "Unreadable",
    "Unverifiable",
    "Verdict",
    "Violation",
    "WatchReport",
    "Wrong",
    "__version__",
    "new_order_number",
    "normalized_phone",
    "on_call",
    "som_to_tyiyn",
    "tyiyn_to_som",
]
