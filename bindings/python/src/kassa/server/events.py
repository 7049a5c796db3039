"""Verifying the events that the server sends, by the scheme of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from .errors import EventError, EventErrorReason
from .values import Event, Unreadable, read_event

ID, TIMESTAMP, SIGNATURE = HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
SECRET_PREFIX, VERSION = "whsec_", "v1"


class EventHeaders(Protocol):
    """The headers of a request: a dict, or what your framework has (Flask, Django, Starlette, aiohttp)."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Names, in any case, and values."""
        ...


def verify_event(
    body: bytes | bytearray | memoryview | str,
    headers: EventHeaders | tuple[str, str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: timedelta | float = timedelta(minutes=5),
    now: datetime | float | None = None,
) -> Event:
    """The event of a request to ``events.url``, if the server has signed it. `EventError` says why it is not accepted.

    * ``body``: the bytes of the request as they came, **not** JSON that was parsed and written again
    * ``headers``: the request's headers, with names in any case; or the values of ``webhook-id``, ``webhook-timestamp`` and
      ``webhook-signature``, in this order
    * ``secrets``: ``events.secret`` of the server (``whsec_…``); several while it is replaced
    * ``tolerance``: how far the time of sending may be from now, to either side (a `timedelta`, or seconds)
    * ``now``: the time to compare with (a `datetime` with a time zone, or seconds since 1970), for tests

    An event can come twice, with the same ``event.id``, and after a restore of the server with a new one: deliver once for each
    order. Answer with 2xx after the transaction that deals with it:

        event = verify_event(request.get_data(), request.headers, os.environ["KASSA_EVENTS_SECRET"])
        if event.is_paid and not is_delivered(event.reference):
            deliver(event.reference)
    """
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"body is the request's bytes as they came, not {type(body).__name__}")
    keys = _keys((secrets,) if isinstance(secrets, str) else tuple(secrets))
    event_id, timestamp, signature = headers if isinstance(headers, tuple) else _found(headers)
    for name, value in zip(HEADERS, (event_id, timestamp, signature), strict=True):
        if not value:
            raise _error("MISSING_HEADER", f"the header {name} is missing. Is this a request of kassa-server?")
    _check_time(timestamp, tolerance, now)
    raw = bytes(body)
    _check_signature(signature, b".".join((event_id.encode(errors="replace"), timestamp.encode(), raw)), keys)
    try:
        return read_event(json.loads(raw))
    except (ValueError, RecursionError) as error:
        what = error if isinstance(error, Unreadable) else "it is not JSON"
        raise _error("MALFORMED_EVENT", f"the signature is right, but the body is no event: {what}") from error


def _error(reason: str, detail: str) -> EventError:
    return EventError(EventErrorReason[reason], detail)


def key_of(secret: str, place: str = "the secret") -> bytes:
    """The key that a secret stands for."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(SECRET_PREFIX) or not 24 <= len(key) <= 64:
        # Its text is not told: it may be another secret.
        rule = "must be whsec_ and base64 of 24 to 64 bytes, as `kassa-server secret` prints it"
        raise _error("MALFORMED_SECRET", f"{place} {rule}")
    return key


def _keys(secrets: tuple[str, ...]) -> list[bytes]:
    if not secrets:
        raise _error("MALFORMED_SECRET", "there is no secret: give the server's events.secret")
    count = len(secrets)
    return [key_of(one, "the secret" if count == 1 else f"secret {at} of {count}") for at, one in enumerate(secrets, 1)]


def _found(headers: EventHeaders) -> tuple[str, str, str]:
    found = {name.lower(): value for name, value in headers.items()}
    return found.get(ID, ""), found.get(TIMESTAMP, ""), found.get(SIGNATURE, "")


def _check_time(timestamp: str, tolerance: timedelta | float, now: datetime | float | None) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise _error("MALFORMED_TIMESTAMP", f"{TIMESTAMP} must be seconds since 1970, not {timestamp[:20]!r}")
    allowed = tolerance.total_seconds() if isinstance(tolerance, timedelta) else tolerance
    current = time.time() if now is None else now.timestamp() if isinstance(now, datetime) else now
    age = int(timestamp) - int(current)
    if abs(age) > allowed:
        reason, side = ("TOO_OLD", "ago") if age < 0 else ("TOO_NEW", "ahead")
        help_ = "check the clocks of both machines. An event that waits in a queue is verified when it arrives, before it waits"
        raise _error(reason, f"the event was sent {abs(age)} s {side}, and {allowed:g} s are allowed: {help_}")


def _check_signature(header: str, message: bytes, keys: list[bytes]) -> None:
    given: list[bytes] = []
    for signature in header.split(" "):
        version, _, encoded = signature.partition(",")
        try:
            mac = base64.b64decode(encoded, validate=True) if version == VERSION else b""
        except (binascii.Error, ValueError):
            continue
        if len(mac) == hashlib.sha256().digest_size:
            given.append(mac)
    if not given:
        raise _error("MALFORMED_SIGNATURE", f"{SIGNATURE} must have a signature of the form v1,BASE64 of 32 bytes")
    made = [hmac.digest(key, message, "sha256") for key in keys]
    # Each in constant time.
    if not any(hmac.compare_digest(one, other) for one in made for other in given):
        whose = (
            "the secret is not this server's" if len(keys) == 1 else f"none of the {len(keys)} secrets is this server's"
        )
        help_ = "pass the bytes as they came, not JSON that was parsed and written again"
        raise _error("WRONG_SIGNATURE", f"the signature does not match: {whose}, or the body was changed ({help_})")


def signature_of(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature``, as the server makes it."""
    mac = hmac.digest(key_of(secret), f"{event_id}.{timestamp}.".encode() + body, "sha256")
    return f"{VERSION},{base64.b64encode(mac).decode()}"


def body_of(event: dict[str, Any]) -> bytes:
    """A body, as the server writes it."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
