"""Maps the names in the vectors to the package's methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import kassa
from kassa import checkout

from . import inputs, printed
from .canonical import canonical

# A gateway of either kind, or a watch. What a method of it gives is awaited where that is needed.
Either = Any


@dataclass
class Came:
    """What a step brought: its result in the canonical form, and everything that can be printed of it."""

    result: Any
    printed: str


def came(name: str, function: Callable[[], Any]) -> Came:
    """What a function brought as the step of this name."""
    try:
        answer = function()
    except kassa.PaymentError as error:
        printed.assert_no_cause(error)
        return Came({"error": canonical(error)}, printed.forms(error))
    except ValueError as error:
        # `in_python` says which vectors end so.
        if not str(error).endswith(" must be longer than zero"):
            raise
        return Came({"error": {"kind": "ValueError", "text": str(error)}}, printed.forms(error))
    return Came({"answer": _FORMS.get(name, canonical)(answer)}, printed.forms(answer))


def call(gateway: Either, name: str, given: Any) -> Callable[[], Any]:  # noqa: C901 (one case a step)
    """The call of a gateway, made ready."""
    match name:
        case _ if name in inputs.REQUESTS:
            request = inputs.REQUESTS[name](given)
            return lambda: getattr(gateway, name)(request)
        case "payment_status":
            return lambda: gateway.payment_status(given["gateway_number"], given.get("language"))
        case "confirm_mbank_payment":
            return lambda: gateway.confirm_mbank_payment(inputs.payment_ref(given["payment"]), given["otp"])
        case "pay_by_megapay":
            return lambda: gateway.pay_by_megapay(inputs.megapay_payment(given["payment"]), given["pin"])
        case "provider_status":
            return lambda: gateway.provider_status(given["order_number"], inputs.provider(given["provider"]))
        case "qr_status":
            return lambda: gateway.qr_status(given["transaction_id"])
        case "verify_callback":
            callback = kassa.Callback.parse(inputs.json_text(given["callback"]))
            return lambda: gateway.verify_callback(callback, inputs.payment_ref(given["payment"]))
        case "verify_return":
            redirect = kassa.ReturnRedirect.parse(given["url"])
            return lambda: gateway.verify_return(redirect, inputs.payment_ref(given["payment"]))
        case "check":
            return lambda: gateway.check(inputs.payment_ref(given["payment"]))
        case "close":
            return lambda: gateway.close()
        case _:
            raise ValueError(f"no step is named {name}")


def _code(given: Any) -> kassa.QrCode:
    return kassa.QrCode.encode(given["text"], kassa.QrLevel(given["level"]))


def _signed(given: Any, sign: Callable[[kassa.CallbackKey, str, kassa.PaymentRef], str]) -> str:
    return sign(inputs.callback_key(given), given["url"], inputs.payment_ref(given["payment"]))


# What needs no gateway.
PLAIN: dict[str, Callable[[Any], Any]] = {
    "parse_callback": lambda given: kassa.Callback.parse(inputs.json_text(given["body"])),
    "callback_status": lambda given: _status_by(given),
    "parse_return_redirect": lambda given: kassa.ReturnRedirect.parse(given["url"]),
    "parse_payment_ref": lambda given: kassa.PaymentRef.parse(given["text"]),
    "parse_payment_entry": lambda given: kassa.PaymentEntry.parse(given["text"]),
    "payment_entry_text": lambda given: str(inputs.payment_entry(given)),
    "callback_url": lambda given: _signed(given, kassa.CallbackKey.callback_url),
    "return_url": lambda given: _signed(given, kassa.CallbackKey.return_url),
    "read_callback_url": lambda given: inputs.callback_key(given).read_callback_url(given["called"]),
    "read_return_url": lambda given: inputs.callback_key(given).read_return_url(given["called"]),
    "payment_ref_text": lambda given: str(inputs.payment_ref(given)),
    "can_be_checked": lambda given: inputs.payment_ref(given).can_be_checked,
    "make_payment_ref": inputs.made_payment_ref,
    "payment_ref_of": lambda given: inputs.request(given["request"]).payment_ref(),
    "advice": lambda given: inputs.request(given["request"]).advice(),
    "parse_local_date_time": lambda given: _moment_of(given["text"]),
    "provider_from_name": lambda given: kassa.Provider(given["name"]),
    "read_dialect": lambda given: kassa.Dialect.from_json(inputs.json_text(given["json"])),
    "named_dialect": lambda given: kassa.Dialect.named(given["name"]),
    "dialect_names": lambda _: kassa.Dialect.names(),
    "explain_response": lambda given: _explained(given),
    "dialect_advice": lambda given: inputs.dialect(given.get("dialect")).advice(),
    "qr_data_advice": lambda given: inputs.qr_data(given).advice(),
    "som_to_tyiyn": lambda given: kassa.som_to_tyiyn(Decimal(given["som"])),
    "tyiyn_to_som": lambda given: kassa.tyiyn_to_som(given["tyiyn"]),
    "new_order_number": lambda _: kassa.new_order_number(),
    "normalized_phone": lambda given: kassa.normalized_phone(given["text"]),
    "encode_qr": _code,
    "parse_elqr": lambda given: kassa.Elqr.parse(given["text"]),
    "write_elqr": lambda given: inputs.elqr(given).text(),
    "check_elqr": lambda given: kassa.Elqr.parse(given["text"]).check(given["amount_tyiyn"]),
    "elqr_bank_links": lambda given: kassa.Elqr.parse(given["text"]).bank_links(),
    "draw_qr_png": lambda given: _code(given).png(given["px"]),
    "draw_qr_text": lambda given: _code(given).text(),
    "draw_qr_svg": lambda given: _code(given).svg(),
    "type_number": lambda given: _typed("number", given),
    "type_expiry": lambda given: _typed("expiry", given),
    "type_cvc": lambda given: _typed("cvc", given),
    "type_holder_name": lambda given: _typed("holder_name", given),
    "typed_card": lambda given: inputs.card_input(given).card().masked_number,
    "violation_text": lambda given: _violation(given).text_in(kassa.Language.from_tag(given["language"])),
    "advice_text": lambda given: _advice(given).text_in(kassa.Language.from_tag(given["language"])),
    "checkout_texts": lambda given: _screen_texts(given),
    "checkout_labels": lambda given: checkout.CheckoutLabels.of(kassa.Language.from_tag(given["language"])),
    "amount_text": lambda given: _in_words(given, checkout.amount_text),
    "pay_text": lambda given: _in_words(given, checkout.pay_text),
    "phone_hint": lambda given: checkout.phone_hint(given["text"], kassa.Language.from_tag(given["language"])),
    "language_from_tag": lambda given: kassa.Language.from_tag(given["tag"]),
    "print": lambda given: VALUES[given["type"]](given["value"]),
}


def _status_by(given: Any) -> kassa.PaymentStatus | None:
    return kassa.Callback.parse(inputs.json_text(given["callback"])).status_by(inputs.dialect(given.get("dialect")))


def _explained(given: Any) -> kassa.DialectReading:
    return inputs.dialect(given.get("dialect")).explain(given["endpoint"], inputs.json_text(given["response"]))


def _violation(given: Any) -> kassa.Violation:
    return kassa.Violation(given["field"], kassa.Rule(given["rule"]), given.get("limit"), given["text"])


def _advice(given: Any) -> kassa.Advice:
    return kassa.Advice(given["field"], kassa.AdviceTopic(given["topic"]), given["text"])


def _screen_texts(given: Any) -> checkout.CheckoutTexts:
    state, language = inputs.checkout_state(given["state"]), kassa.Language.from_tag(given["language"])
    return checkout.CheckoutTexts.of(state, language, may_have_paid=given["may_have_paid"])


def _in_words(given: Any, form: Callable[[Decimal, str, kassa.Language], str]) -> str:
    return form(Decimal(given["amount"]), given["currency"], kassa.Language.from_tag(given["language"]))


def _typed(field: str, given: Any) -> dict[str, Any]:
    """One field of a card form, after its text was typed."""
    form = inputs.card_input(given | {field: given["text"]})
    typed = {"text": getattr(form, field), "state": canonical(getattr(form, f"{field}_state"))}
    return typed | ({"brand": str(form.brand), "lengths": list(form.number_lengths)} if field == "number" else {})


def _gateways(given: Any) -> Any:
    """The configuration is the arguments of a gateway. The address goes in as it is, and is seen in the gateway."""
    settings = inputs.settings(given, "")
    gateways = kassa.Gateway(**settings), kassa.AsyncGateway(**settings)
    return gateways, [_config_of(gateway) for gateway in gateways], list(settings.values())[1:]


def _config_of(gateway: kassa.Gateway | kassa.AsyncGateway) -> Any:
    return gateway._config  # pyright: ignore[reportPrivateUsage]


# What only goes in.
VALUES: dict[str, Callable[[Any], Any]] = {
    "card": inputs.card,
    "card_input": inputs.card_input,
    "card_payment": inputs.card_payment,
    "mbank_payment": inputs.mbank_payment,
    "megapay_payment": inputs.megapay_payment,
    "pay_form": inputs.pay_form,
    "qr_payment": inputs.qr_payment,
    "callback_key": inputs.callback_key,
    "credentials": lambda given: kassa.Credentials(given["login"], given["password"]),
    "proxy": lambda given: inputs.proxy(given["proxy"], ""),
    "gateway_config": _gateways,
    "gateway": _gateways,
    "poll_policy": inputs.policy,
    "payment_ref": inputs.payment_ref,
}


def _moment_of(text: str) -> Any:
    """Dates come in callbacks only."""
    callback = {"orderNumber": "1", "amount": 1, "status": "CHARGE", "provider": "MBank", "dateCreated": text}
    return kassa.Callback.parse(json.dumps(callback)).date_created


def _png_size(png: bytes) -> Any:
    """The first chunk of a PNG says how wide and high it is."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return {"width": int.from_bytes(png[16:20], "big"), "height": int.from_bytes(png[20:24], "big")}


def _report(report: kassa.WatchReport | None) -> Any:
    """In Python a verdict is a report of a watch as it is."""
    form = canonical(report)
    return form if report is None or isinstance(report, kassa.QueryFailed) else {"kind": "status", "verdict": form}


def _listed(item: kassa.Unfinished | kassa.Recovered) -> Any:
    """In Python an entry is unfinished, or recovered, as it is."""
    form = canonical(item)
    return {"kind": "payment", "entry": form} if isinstance(item, kassa.JournalEntry) else form


# Answers that are compared in another form than that of their type.
_FORMS: dict[str, Callable[[Any], Any]] = {
    "read_dialect": lambda dialect: json.loads(dialect.to_json()),
    "named_dialect": lambda dialect: json.loads(dialect.to_json()),
    "draw_qr_png": _png_size,
    "draw_qr_text": str.splitlines,
    "type_number": lambda typed: typed,
    "type_expiry": lambda typed: typed,
    "type_cvc": lambda typed: typed,
    "type_holder_name": lambda typed: typed,
    "print": lambda _: None,
    "new_gateway": lambda _: None,
    "watch": lambda _: None,
    "start": lambda _: None,
    "next": _report,
    "unfinished": lambda items: list(map(_listed, items)),
    "recover": lambda end: {"recovered": list(map(_listed, end[0])), "error": canonical(end[1])},
    "ledger": lambda lines: lines,
    "requests": lambda lines: lines,
    "callbacks": lambda lines: lines,
    "all": lambda end: {"reports": list(map(_report, end[0])), "error": canonical(end[1])},
}
