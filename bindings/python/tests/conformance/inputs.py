"""Builds the package's values from the JSON of a vector."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, get_args

import kassa
from kassa import checkout


def json_text(value: Any) -> str:
    """A dialect or a callback may be written as a text, or as the JSON that it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def dialect(value: Any) -> kassa.Dialect:
    """The default one where there is none, one by its name where a text of small letters stands there, else by its JSON."""
    if value is None:
        return kassa.Dialect()
    if isinstance(value, str) and re.fullmatch("[a-z]+", value):
        return kassa.Dialect.named(value)
    return kassa.Dialect.from_json(json_text(value))


def settings(config: Any, server_url: str) -> dict[str, Any]:
    """The arguments of both gateways. What is absent is left at its default."""
    given = {name: value for name, value in config.items() if value is not None}
    arguments: dict[str, Any] = {
        "base_url": given.pop("base_url").replace("{server}", server_url),
        "credentials": kassa.Credentials(given.pop("login"), given.pop("password")),
    }
    for name, value in given.items():
        match name:
            case "connect_timeout_ms" | "payment_deadline_ms" | "query_deadline_ms":
                arguments[name.removesuffix("_ms")] = timedelta(milliseconds=value)
            case "status_query":
                arguments[name] = kassa.StatusQueryForm(value)
            case "dialect":
                arguments[name] = dialect(value)
            case "proxy":
                arguments[name] = proxy(value, server_url)
            case _:
                arguments[name] = value
    return arguments


def proxy(value: Any, server_url: str) -> kassa.Proxy:
    match value:
        case "direct":
            return kassa.Proxy.direct()
        case "environment":
            return kassa.Proxy.environment()
        case _:
            return kassa.Proxy.url(value["url"].replace("{server}", server_url))


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_STATES: dict[str, type[Any]] = {state.kind: state for state in get_args(checkout.CheckoutState)}
_PARTS: dict[str, Callable[[Any], Any]] = {
    "amount": Decimal,
    "commission": Decimal,
    "total": Decimal,
    "code_expires_at": lambda milliseconds: _EPOCH + timedelta(milliseconds=milliseconds),
    "method": checkout.PaymentMethod,
    "methods": lambda names: tuple(map(checkout.PaymentMethod, names)),
    "message": lambda given: _message(given),
    "reason": lambda given: _message(given),
}


def checkout_state(given: Any) -> checkout.CheckoutState:
    present = {name.removesuffix("_ms"): part for name, part in given.items() if name != "kind" and part is not None}
    fields = {name: _PARTS[name](part) if name in _PARTS else part for name, part in present.items()}
    if given["kind"] == "waiting":
        fields.setdefault("page_url", None)
    state: checkout.CheckoutState = _STATES[given["kind"]](**fields)
    return state


def _message(given: Any) -> checkout.CheckoutMessage:
    decline = checkout.DeclineReason(given["decline"]) if "decline" in given else None
    return checkout.CheckoutMessage(checkout.MessageTopic(given["topic"]), given.get("reason"), decline)


def callback_key(given: Any) -> kassa.CallbackKey:
    """A key by its secret, and by the previous ones."""
    key = kassa.CallbackKey(given["secret"])
    for secret in given.get("previous", ()):
        key = key.with_previous(secret)
    return key


def within(gateway: Any, given: Any) -> tuple[Any, Any]:
    """The gateway, with another deadline or a note where a step says so, and the rest of the input."""
    rest = dict(given)
    time, note = rest.pop("within_ms", None), rest.pop("note", None)
    if time is not None:
        gateway = gateway.with_deadline(timedelta(milliseconds=time))
    return gateway if note is None else gateway.with_note(note), rest


CARD_FIELDS = ("pan", "expiry_month", "expiry_year", "cvc", "holder_name")


def card(given: Any) -> kassa.Card:
    return kassa.Card(**{name: given[name] for name in CARD_FIELDS})


def card_input(given: Any) -> kassa.CardInput:
    form = kassa.CardInput().with_number(given.get("number", "")).with_expiry(given.get("expiry", ""))
    form = form.with_cvc(given.get("cvc", "")).with_holder_name(given.get("holder_name", ""))
    return form.as_of(*given["as_of"]) if "as_of" in given else form


def card_payment(given: Any) -> kassa.CardPayment:
    fields: dict[str, Any] = {name: value for name, value in given.items() if name not in CARD_FIELDS}
    fields["amount"] = Decimal(given["amount"])
    return kassa.CardPayment(**fields, card=card(given))


def mbank_payment(given: Any) -> kassa.MbankPayment:
    return kassa.MbankPayment(**given)


def megapay_payment(given: Any) -> kassa.MegapayPayment:
    return kassa.MegapayPayment(**given | {"amount": Decimal(given["amount"])})


def pay_form(given: Any) -> kassa.PayForm:
    return kassa.PayForm(**given | {"amount": Decimal(given["amount"])})


def qr_payment(given: Any) -> kassa.QrPayment:
    return kassa.QrPayment(**given)


def qr_data(given: Any) -> kassa.QrData:
    texts = {name: given.get(name) for name in ("payload", "transaction_id")}
    return kassa.QrData(**texts, payment=payment_ref(given["payment"]), raw=given.get("raw", ""))


REQUESTS = {
    "create_card_payment": card_payment,
    "create_mbank_payment": mbank_payment,
    "check_megapay": megapay_payment,
    "create_pay_form": pay_form,
    "create_qr_image": qr_payment,
    "create_qr_data": qr_payment,
}


def request(given: Any) -> Any:
    """A request by the call that would send it."""
    return REQUESTS[given["do"]](given["input"])


def provider(value: Any) -> kassa.Provider:
    known = {"cards": kassa.Provider.CARDS, "mega_pay": kassa.Provider.MEGA_PAY, "mbank": kassa.Provider.MBANK}
    return known[value] if isinstance(value, str) else kassa.Provider(value["name"])


def payment_ref(given: Any) -> kassa.PaymentRef:
    named = given.get("provider")
    return kassa.PaymentRef(
        kassa.PaymentKind(given["kind"]),
        given.get("order_number"),
        given.get("gateway_number"),
        None if named is None else provider(named),
        given.get("transaction_id"),
        given.get("confirm_identifier"),
        None if given.get("amount") is None else Decimal(given["amount"]["$decimal"]),
        given.get("currency"),
        given.get("is_claimed") or False,
        given.get("entry_id"),
        given.get("transaction_from_code") or False,
    )


def payment_entry(given: Any) -> kassa.PaymentEntry:
    return kassa.PaymentEntry(payment_ref(given["payment"]), given.get("page_url"), given.get("qr_text"))


def elqr(given: Any) -> kassa.Elqr:
    """A code to be written. What is absent is left at its default."""
    return kassa.Elqr(**given | {"kind": kassa.ElqrKind(given["kind"])})


def made_payment_ref(given: Any) -> kassa.PaymentRef:
    """A reference as its constructors make it."""
    match given["kind"]:
        case "card":
            made = kassa.PaymentRef.card(given["order_number"], Decimal(given["amount"]), given["currency"])
        case "mbank":
            made = kassa.PaymentRef.mbank(given["order_number"], given["amount_som"])
        case "megapay":
            made = kassa.PaymentRef.megapay(given["order_number"], Decimal(given["amount"]))
        case "pay_form":
            made = kassa.PaymentRef.pay_form(Decimal(given["amount"]))
        case _:
            made = kassa.PaymentRef.qr(given.get("sum_tyiyn"))
    if number := given.get("gateway_number"):
        made = made.with_gateway_number(number)
    if transaction := given.get("transaction_id"):
        made = made.with_transaction_id(transaction)
    if claimed := given.get("claimed"):
        named = claimed.get("provider")
        made = made.with_claimed_number(claimed["order_number"], None if named is None else provider(named))
    return made


def policy(given: Any) -> kassa.PollPolicy:
    return kassa.PollPolicy(**_times(given))


def recovery_policy(given: Any) -> kassa.RecoveryPolicy:
    others = {name: given[name] for name in ("at_once", "follow_new") if name in given}
    return kassa.RecoveryPolicy(**_times(given), **others)


def _times(given: Any) -> dict[str, Any]:
    names = ("interval", "deadline")
    return {name: timedelta(milliseconds=given[f"{name}_ms"]) for name in names if f"{name}_ms" in given}


def level(value: str) -> kassa.QrLevel:
    return kassa.QrLevel(value)
