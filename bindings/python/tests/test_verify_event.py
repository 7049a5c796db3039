"""`verify_event`, by the vectors that every language reads, and beside the library of Standard Webhooks."""

from __future__ import annotations

import base64
import dataclasses
import json
import runpy
import traceback
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from kassa.server import Event, EventError, EventErrorReason, ServerError, verify_event
from kassa.server.testing import sign_event

EVENTS = Path(__file__).parents[3] / "tests/events"
VECTORS: list[dict[str, Any]] = json.loads((EVENTS / "signed.json").read_text())
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1767204060

vectors = pytest.mark.parametrize("vector", VECTORS, ids=[each["name"] for each in VECTORS])


def verified(vector: Mapping[str, Any]) -> Event:
    return verify_event(vector["body"].encode(), vector["headers"], vector["secrets"], now=vector["now"])


def plain(value: object) -> Any:
    """A value as the vectors write it."""
    if dataclasses.is_dataclass(value):
        members = ((each.name, getattr(value, each.name)) for each in dataclasses.fields(value))
        return {
            name + "_ms" * isinstance(member, datetime): plain(member) for name, member in members if member is not None
        }
    if isinstance(value, datetime):
        return int(value.timestamp() * 1000)
    return str(value) if isinstance(value, Decimal) else value


@vectors
def test_outcome_of_each_vector(vector: dict[str, Any]) -> None:
    wanted = vector["outcome"]
    if "event" in wanted:
        assert plain(verified(vector)) == wanted["event"]
        return
    with pytest.raises(EventError) as error:
        verified(vector)
    assert error.value.reason is EventErrorReason[wanted["error"]]
    assert isinstance(error.value, ServerError)
    # No text has a secret.
    assert not any(secret[6:] in str(error.value) for secret in vector["secrets"])


def test_vectors_are_those_of_their_script() -> None:
    assert runpy.run_path(str(EVENTS / "write_signed.py"))["VECTORS"] == VECTORS


class Clock(datetime):
    """The time of the vectors, for the library."""

    @classmethod
    def now(cls, tz: Any = None) -> Clock:
        return cls.fromtimestamp(NOW, tz)


def by_the_library(vector: Mapping[str, Any]) -> bool:
    for secret in vector["secrets"]:
        try:
            Webhook(secret).verify(vector["body"], vector["headers"], json_parse=False)
        except (WebhookVerificationError, ValueError):
            continue
        return True
    return False


def about_the_request(reason: str | None) -> bool:
    """Whether the library decides the same: it takes any secret, and does not read the body."""
    return reason not in ("MALFORMED_SECRET", "MALFORMED_EVENT")


# The library of Python fails at a signature without a comma.
DECIDED = [
    each
    for each in VECTORS
    if about_the_request(each["outcome"].get("error")) and each["name"] != "other_versions_beside"
]


@pytest.mark.parametrize("vector", DECIDED, ids=[each["name"] for each in DECIDED])
def test_library_decides_the_same(monkeypatch: pytest.MonkeyPatch, vector: dict[str, Any]) -> None:
    monkeypatch.setattr("standardwebhooks.webhooks.datetime", Clock)
    assert vector["now"] == NOW
    assert by_the_library(vector) == ("event" in vector["outcome"])


def signed(**changes: Any) -> tuple[bytes, Mapping[str, str]]:
    settings: dict[str, Any] = {"now": NOW, **changes}
    made = sign_event(SECRET, **settings)
    return made.body, made.headers


def test_signed_events_are_verified() -> None:
    body, headers = signed(reference="order-18", amount=Decimal("12.50"), after="expired")
    event = verify_event(body, headers, SECRET, now=NOW)
    assert (event.id, event.reference, event.amount) == (headers["webhook-id"], "order-18", Decimal("12.50"))
    assert (event.is_paid, event.after, event.checkout_state) == (True, "expired", "paid")
    assert event.timestamp == datetime.fromtimestamp(NOW, timezone.utc)
    body, headers = signed(kind="checkout.expired")
    event = verify_event(body.decode(), headers, SECRET, now=event.timestamp)
    assert (event.is_paid, event.checkout_state) == (False, "expired")
    # The library of the scheme takes it, too; by the clock of this machine.
    made = sign_event(SECRET)
    assert Webhook(SECRET).verify(made.body, dict(made.headers))["type"] == "checkout.paid"


def test_headers_come_in_many_forms() -> None:
    body, headers = signed()
    values = headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"]

    class Framework:
        def items(self) -> Iterator[tuple[str, str]]:
            return iter([(name.upper(), value) for name, value in headers.items()])

    events = {verify_event(body, form, [SECRET], now=NOW) for form in (headers, values, Framework())}
    assert len(events) == 1


def test_errors_say_what_to_do() -> None:
    body, headers = signed()
    late = NOW + 420

    def text(secrets: Any = SECRET, body: bytes = body, **changes: Any) -> str:
        settings: dict[str, Any] = {"now": NOW, **changes}
        with pytest.raises(EventError) as error:
            verify_event(body, headers, secrets, **settings)
        return str(error.value)

    assert "420 s ago, and 300 s are allowed" in text(now=late)
    assert "check the clocks" in text(now=NOW - 420)
    assert verify_event(body, headers, SECRET, now=late, tolerance=timedelta(hours=1)).is_paid
    assert "of 24 to 64 bytes" in text("ak_something")
    assert text([SECRET, "whsec_"]).startswith("secret 2 of 2 must be")
    assert "pass the bytes as they came" in text(body=body + b"\n")
    with pytest.raises(TypeError, match="bytes as they came, not dict"):
        verify_event(json.loads(body), headers, SECRET)


@pytest.mark.parametrize("secrets", [None, [SECRET, None], [SECRET, SECRET.encode()], 7, b"whsec_"])
def test_what_is_no_secret_is_named(secrets: Any) -> None:
    body, headers = signed()
    with pytest.raises(EventError) as error:
        verify_event(body, headers, secrets, now=NOW)
    assert error.value.reason is EventErrorReason.MALFORMED_SECRET
    assert str(error.value).startswith("secret 2 of 2 must be" if isinstance(secrets, list) else "the secret must be")


@pytest.mark.parametrize("headers", [None, [("webhook-id", "evt_1")], ("evt_1", str(NOW)), "webhook-id: evt_1"])
def test_headers_of_another_kind_are_a_mistake(headers: Any) -> None:
    with pytest.raises(TypeError, match="headers is a mapping of names and values"):
        verify_event(b"", headers, SECRET, now=NOW)


def test_values_of_headers_can_be_lists_and_bytes() -> None:
    body, headers = signed()
    lists: Any = {name: [value, "other"] for name, value in headers.items()}
    raw: Any = {name.encode(): value.encode() for name, value in headers.items()}
    assert verify_event(body, lists, SECRET, now=NOW) == verify_event(body, raw, SECRET, now=NOW)


def test_body_with_surrogates_is_what_it_was_decoded_from() -> None:
    from kassa.server.events import signature_of

    body, _ = signed()
    body = body.replace(b"order-17", b"order-\xff")
    values = ("evt_1", str(NOW), signature_of(SECRET, "evt_1", NOW, body))
    reasons = {body.decode(errors="surrogateescape"): "MALFORMED_EVENT", "\ud800": "WRONG_SIGNATURE"}
    for text, reason in reasons.items():
        with pytest.raises(EventError) as error:
            verify_event(text, values, SECRET, now=NOW)
        assert error.value.reason is EventErrorReason[reason]


@pytest.mark.parametrize("tolerance", [float("nan"), -1, timedelta(seconds=-1)])
def test_tolerance_is_a_time(tolerance: float | timedelta) -> None:
    body, headers = signed(now=1)
    with pytest.raises(ValueError, match="tolerance must be 0 s or more"):
        verify_event(body, headers, SECRET, now=NOW, tolerance=tolerance)


def test_no_frame_shows_a_secret() -> None:
    """As error trackers do: the local variables of every frame, printed. What is signed with the secret is one, too."""
    from kassa.server.events import signature_of

    body, headers = signed()
    forged = body + b" "
    right = signature_of(SECRET, headers["webhook-id"], NOW, forged)
    hidden = (SECRET[6:], repr(base64.b64decode(SECRET[6:])), right[3:], repr(base64.b64decode(right[3:])))
    calls: list[tuple[Any, Any, Any]] = [
        (forged, headers, SECRET),
        (forged, headers, [SECRET, "ak_1"]),
        (None, headers, SECRET),
        (body, {}, SECRET),
        (body, None, [SECRET]),
    ]
    for call in calls:
        with pytest.raises((EventError, TypeError)) as error:
            verify_event(*call, now=NOW)
        shown = traceback.TracebackException.from_exception(error.value, capture_locals=True)
        # The first frame is the test's own.
        inner = "".join(str(frame.locals) for frame in shown.stack[1:])
        assert inner
        assert not any(secret in inner for secret in hidden)


@pytest.mark.parametrize("body", [b"\xff", b"[" * 100_000, b"null", b'{"id":1}', b'{"data":{"amount":"NaN"}}'])
def test_odd_bodies_are_no_event(body: bytes) -> None:
    from kassa.server.events import signature_of

    values = ("evt_1", str(NOW), signature_of(SECRET, "evt_1", NOW, body))
    with pytest.raises(EventError) as error:
        verify_event(body, values, SECRET, now=NOW)
    assert error.value.reason is EventErrorReason.MALFORMED_EVENT
