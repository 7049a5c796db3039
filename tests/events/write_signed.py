#!/usr/bin/env python3
"""Writes signed.json beside it. It signs by itself, so that no client of the project tests its own signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

NOW = 1767204060
ID = "evt_9c41d07be25f4a36b8e0137ad4c2f65e"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
DATA: dict[str, Any] = {
    "checkout": "co_7c1e05b893f44d2aa6d05e381b9fc247",
    "reference": "order-17",
    "amount": "390",
    "currency": "KGS",
    "checkout_state": "paid",
    "version": 5,
    "number": 1,
}
PAYMENT = {"id": "pay_2f8a64d10b7e4c958e13d9a057f63c82", "method": "mbank", "state": "charged"}
EVENT: dict[str, Any] = {"id": ID, "type": "checkout.paid", "timestamp_ms": NOW * 1000, "data": DATA}


def text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def signature(body: str, at: int | str = NOW, secret: str = SECRET, event_id: str = ID) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{event_id}.{at}.{body}".encode(), hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def vector(name: str, outcome: object, body: str | None = None, at: int | str = NOW, **given: Any) -> dict[str, Any]:
    """One vector. ``headers`` adds to those of the server, and None takes one away."""
    body = text(EVENT) if body is None else body
    headers: dict[str, str | None] = {
        "webhook-id": ID,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(body, at),
        **given.get("headers", {}),
    }
    return {
        "name": name,
        "secrets": given.get("secrets", [SECRET]),
        "headers": {key: value for key, value in headers.items() if value is not None},
        "body": body,
        "now": NOW,
        "outcome": {"error": outcome} if isinstance(outcome, str) else {"event": outcome},
    }


def read(event: dict[str, Any]) -> dict[str, Any]:
    """What a client reads in an event: ``type`` is its kind, and what ``data`` says is the event's own."""
    return {"id": event["id"], "kind": event["type"], "timestamp_ms": event["timestamp_ms"], **event["data"]}


def event(kind: str = "checkout.paid", **data: Any) -> dict[str, Any]:
    return {**EVENT, "type": kind, "data": {**DATA, **data}}


def taken(name: str, event: dict[str, Any] = EVENT, **given: Any) -> dict[str, Any]:
    return vector(name, read(event), text(event), **given)


VIA = {"role": "staff", "key": "key_51d3b90c6ea84f1792c408fbe7a53d60"}
RESOLVED = event(
    "payment.resolved", payment=PAYMENT, after="unknown", reason="Банк төлөмдү тапты — «да»", by="Айзада", via=VIA
)
MEGAPAY = PAYMENT | {"method": "megapay", "commission": "3.90", "total": "393.90", "code_expires_at_ms": 1767204240000}
NEWER = event("checkout.split", planet="Mars")
NUMBER = event(amount=390)
NO_REFERENCE = {**EVENT, "data": {key: value for key, value in DATA.items() if key != "reference"}}
SPACED = json.dumps(EVENT, indent=2)

VECTORS = [
    # Taken
    taken("paid"),
    taken("paid_with_fractions", event(amount="390.50")),
    taken("paid_after_it_expired", event(after="expired")),
    taken("of_a_payment", event("payment.charged", checkout_state="open", payment=PAYMENT)),
    taken("of_a_wallet", event("payment.accepted", checkout_state="open", payment=MEGAPAY)),
    taken("decided_by_a_person", RESOLVED),
    vector("of_a_newer_server", read(event("checkout.split")), text({**NEWER, "color": "red"})),
    vector("body_with_spaces", read(EVENT), SPACED),
    vector(
        "names_in_any_case",
        read(EVENT),
        headers={
            "webhook-id": None,
            "Webhook-Id": ID,
            "webhook-timestamp": None,
            "WEBHOOK-TIMESTAMP": str(NOW),
            "Content-Type": "application/json",
        },
    ),
    taken("second_secret", secrets=[OTHER, SECRET]),
    taken(
        "second_signature",
        headers={"webhook-signature": f"{signature(text(EVENT), secret=OTHER)} {signature(text(EVENT))}"},
    ),
    taken(
        "other_versions_beside",
        headers={"webhook-signature": f"v1a,AAAA v2 {signature(text(EVENT))}"},
    ),
    taken("oldest", at=NOW - 300),
    taken("newest", at=NOW + 300),
    # The secrets
    vector("no_secret", "MALFORMED_SECRET", secrets=[]),
    vector("secret_without_prefix", "MALFORMED_SECRET", secrets=[SECRET.removeprefix("whsec_")]),
    vector("secret_no_base64", "MALFORMED_SECRET", secrets=[SECRET, "whsec_*MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]),
    vector("secret_too_short", "MALFORMED_SECRET", secrets=["whsec_AAAA"]),
    # The headers
    vector("no_id", "MISSING_HEADER", headers={"webhook-id": None}),
    vector("no_timestamp", "MISSING_HEADER", headers={"webhook-timestamp": None}),
    vector("no_signature", "MISSING_HEADER", headers={"webhook-signature": None}),
    vector("empty_signature", "MISSING_HEADER", headers={"webhook-signature": ""}),
    vector("timestamp_no_number", "MALFORMED_TIMESTAMP", headers={"webhook-timestamp": "soon"}),
    vector("timestamp_with_a_sign", "MALFORMED_TIMESTAMP", at=f"-{NOW}"),
    vector("too_old", "TOO_OLD", at=NOW - 301),
    vector("too_new", "TOO_NEW", at=NOW + 301),
    vector("too_old_and_wrong", "TOO_OLD", at=NOW - 301, secrets=[OTHER]),
    # The signature
    vector("signature_without_version", "MALFORMED_SIGNATURE", headers={"webhook-signature": signature("")[3:]}),
    vector(
        "signature_of_another_version", "MALFORMED_SIGNATURE", headers={"webhook-signature": "v2," + "A" * 43 + "="}
    ),
    vector("signature_no_base64", "MALFORMED_SIGNATURE", headers={"webhook-signature": "v1,*"}),
    vector("signature_too_short", "MALFORMED_SIGNATURE", headers={"webhook-signature": "v1,AAAA"}),
    vector("other_secret", "WRONG_SIGNATURE", secrets=[OTHER]),
    vector("other_id", "WRONG_SIGNATURE", headers={"webhook-id": "evt_00000000000000000000000000000000"}),
    vector("other_timestamp", "WRONG_SIGNATURE", headers={"webhook-timestamp": str(NOW + 1)}),
    vector("changed_body", "WRONG_SIGNATURE", SPACED, headers={"webhook-signature": signature(text(EVENT))}),
    # The body
    vector("no_json", "MALFORMED_EVENT", "paid"),
    vector("no_object", "MALFORMED_EVENT", "[]"),
    vector("no_data", "MALFORMED_EVENT", text({key: value for key, value in EVENT.items() if key != "data"})),
    vector("no_reference", "MALFORMED_EVENT", text(NO_REFERENCE)),
    vector("amount_is_a_number", "MALFORMED_EVENT", text(NUMBER)),
]

if __name__ == "__main__":
    written = json.dumps(VECTORS, ensure_ascii=False, indent=2) + "\n"
    (Path(__file__).parent / "signed.json").write_text(written, encoding="utf-8")
