"""For tests of **your own** receiver of events: signed ones, as kassa-server sends them.

    from kassa.server.testing import sign_event

    def test_paid_order_is_delivered(client):
        signed = sign_event(SECRET, reference="order-17", amount="390")
        assert client.post("/events", data=signed.body, headers=signed.headers).status_code == 204
        assert is_delivered("order-17")

For a real server behind your tests, use the fixture of the package ``kassa-server``.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from .events import HEADERS, body_of, signature_of

__all__ = ["SignedEvent", "sign_event"]


@dataclass(frozen=True, slots=True)
class SignedEvent:
    """A request of the server to ``events.url``."""

    headers: Mapping[str, str]
    """``webhook-id``, ``webhook-timestamp``, ``webhook-signature`` and ``Content-Type``."""
    body: bytes
    """The event as JSON."""


def sign_event(
    secret: str,
    kind: str = "checkout.paid",
    *,
    reference: str = "order-17",
    amount: Decimal | int | str = "390",
    checkout: str | None = None,
    checkout_state: str | None = None,
    event_id: str | None = None,
    now: datetime | float | None = None,
    **data: object,
) -> SignedEvent:
    """An event for a test, signed with the secret (``whsec_…``) that your receiver verifies with.

    * ``kind``, ``reference``, ``amount``, ``checkout``: what it is about; by default, the checkout's identifier is random
    * ``checkout_state``: by default, the state that follows from ``kind``
    * ``event_id``: the event's identifier; by default a new one. Give the same one twice to test a repeated delivery
    * ``now``: when it is sent (a `datetime` with a time zone, or seconds since 1970). Give an old one to test a replay
    * further members of its data, such as ``after="expired"``
    """
    at = time.time() if now is None else now.timestamp() if isinstance(now, datetime) else now
    event_id = event_id if event_id is not None else f"evt_{secrets.token_hex(16)}"
    ended = {"checkout.expired": "expired", "checkout.cancelled": "cancelled"}
    state = ended.get(kind, "paid" if kind.startswith("checkout.") else "open")
    about: dict[str, object] = {
        "checkout": checkout if checkout is not None else f"co_{secrets.token_hex(16)}",
        "reference": reference,
        "amount": str(amount),
        "currency": "KGS",
        "checkout_state": checkout_state if checkout_state is not None else state,
        "version": 5,
        "number": 1,
    }
    body = body_of({"id": event_id, "type": kind, "timestamp_ms": int(at * 1000), "data": {**about, **data}})
    values = (event_id, str(int(at)), signature_of(secret, event_id, int(at), body))
    return SignedEvent({"Content-Type": "application/json", **dict(zip(HEADERS, values, strict=True))}, body)
