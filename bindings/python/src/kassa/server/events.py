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
from typing import Any, Protocol, cast

from ._settings import Hidden
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
    order. Answer with 2xx after the transaction that deals with it. In Flask:

        event = verify_event(request.get_data(), request.headers, os.environ["KASSA_EVENTS_SECRET"])
        if event.is_paid and not is_delivered(event.reference):
            deliver(event.reference)

    In Django ``request.body`` and ``request.headers``, in a view that is ``csrf_exempt``. In FastAPI and Starlette
    ``await request.body()`` and ``request.headers``.
    """
    # Error trackers print the local variables of each frame.
    hidden = Hidden(_several(secrets))
    del secrets
    if isinstance(body, str):
        raw = _encoded(body)
    elif isinstance(body, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raw = bytes(body)
    else:
        raise TypeError(f"body is the request's bytes as they came, not {type(body).__name__}")
    _check_secrets(hidden)
    event_id, timestamp, signature = _values_of(headers)
    for name, value in zip(HEADERS, (event_id, timestamp, signature), strict=True):
        if not value:
            raise _error("MISSING_HEADER", f"the header {name} is missing. Is this a request of kassa-server?")
    _check_time(timestamp, tolerance, now)
    _check_signature(signature, b".".join((event_id.encode(errors="replace"), timestamp.encode(), raw)), hidden)
    try:
        return read_event(json.loads(raw))
    except (ValueError, RecursionError) as error:
        what = error if isinstance(error, Unreadable) else "it is not JSON"
        raise _error("MALFORMED_EVENT", f"the signature is right, but the body is not an event: {what}") from error


def _error(reason: str, detail: str) -> EventError:
    return EventError(EventErrorReason[reason], detail)


def _several(secrets: Any) -> tuple[Any, ...]:
    """The secrets, if they are several: a value of another kind is one that is malformed."""
    if isinstance(secrets, Iterable) and not isinstance(secrets, str | bytes):
        return tuple(cast("Iterable[object]", secrets))
    return (secrets,)


def _encoded(body: str) -> bytes:
    try:
        # As servers for WSGI and ASGI decode what is not UTF-8.
        return body.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        # No bytes are decoded to it, so no signature fits.
        return body.encode(errors="replace")


def _key(secret: Any) -> bytes | None:
    """The key that a secret encodes. None if it is malformed."""
    if not isinstance(secret, str) or not secret.startswith(SECRET_PREFIX):
        return None
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if 24 <= len(key) <= 64 else None


def _check_secrets(hidden: Hidden[tuple[Any, ...]]) -> None:
    if not hidden.value:
        raise _error("MALFORMED_SECRET", "there is no secret: give the server's events.secret")
    count = len(hidden.value)
    for at in range(count):
        if _key(hidden.value[at]) is None:
            # Its text is not part of the message: it may be another secret.
            place = "the secret" if count == 1 else f"secret {at + 1} of {count}"
            rule = "must be whsec_ and base64 of 24 to 64 bytes, as `kassa-server secret` prints it"
            raise _error("MALFORMED_SECRET", f"{place} {rule}")


def _values_of(headers: Any) -> tuple[str, str, str]:
    if isinstance(headers, tuple):
        values = cast("tuple[object, ...]", headers)
        if len(values) == len(HEADERS):
            return _text(values[0]), _text(values[1]), _text(values[2])
    elif callable(getattr(headers, "items", None)):
        found: dict[str, str] = {}
        for name, value in headers.items():
            found.setdefault(_text(name).lower(), _text(value))
        return found.get(ID, ""), found.get(TIMESTAMP, ""), found.get(SIGNATURE, "")
    kind = type(cast("object", headers)).__name__
    raise TypeError(
        f"headers is a mapping of names and values, or a tuple of the values of {', '.join(HEADERS)}, not {kind}"
    )


def _text(value: Any) -> str:
    """A header's value; the first one of several."""
    if isinstance(value, list | tuple):
        value = next(iter(cast("Iterable[object]", value)), "")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _check_time(timestamp: str, tolerance: timedelta | float, now: datetime | float | None) -> None:
    allowed = tolerance.total_seconds() if isinstance(tolerance, timedelta) else tolerance
    # Also if it is not a number (NaN), which no age would be above.
    if not allowed >= 0:
        raise ValueError("tolerance must be 0 s or more")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise _error("MALFORMED_TIMESTAMP", f"{TIMESTAMP} must be seconds since 1970, not {timestamp[:20]!r}")
    current = time.time() if now is None else now.timestamp() if isinstance(now, datetime) else now
    age = int(timestamp) - int(current)
    if abs(age) > allowed:
        reason, side = ("TOO_OLD", "ago") if age < 0 else ("TOO_NEW", "ahead")
        help_ = "check the clocks of both machines. An event that waits in a queue is verified when it arrives, before it waits"
        raise _error(reason, f"the event was sent {abs(age)} s {side}, and {allowed:g} s are allowed: {help_}")


def _check_signature(header: str, message: bytes, hidden: Hidden[tuple[Any, ...]]) -> None:
    signatures: list[bytes] = []
    for each in header.split(" "):
        version, _, encoded = each.partition(",")
        try:
            mac = base64.b64decode(encoded, validate=True) if version == VERSION else b""
        except (binascii.Error, ValueError):
            continue
        if len(mac) == hashlib.sha256().digest_size:
            signatures.append(mac)
    if not signatures:
        raise _error("MALFORMED_SIGNATURE", f"{SIGNATURE} must have a signature of the form v1,BASE64 of 32 bytes")
    if not _is_signed(message, signatures, hidden.value):
        count = len(hidden.value)
        cause = "the secret is not this server's" if count == 1 else f"none of the {count} secrets is this server's"
        help_ = "pass the bytes as they came, not JSON that was parsed and written again"
        raise _error("WRONG_SIGNATURE", f"the signature does not match: {cause}, or the body was changed ({help_})")


def _is_signed(message: bytes, signatures: list[bytes], secrets: tuple[Any, ...]) -> bool:
    keys = [key for secret in secrets if (key := _key(secret)) is not None]
    right = [hmac.digest(key, message, "sha256") for key in keys]
    # Each in constant time.
    return any(hmac.compare_digest(one, other) for one in right for other in signatures)


def signature_of(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature``, as the server makes it."""
    key = _key(secret)
    del secret
    if key is None:
        raise _error("MALFORMED_SECRET", "the secret must be whsec_ and base64 of 24 to 64 bytes")
    mac = hmac.digest(key, f"{event_id}.{timestamp}.".encode() + body, "sha256")
    return f"{VERSION},{base64.b64encode(mac).decode()}"


def body_of(event: dict[str, Any]) -> bytes:
    """A body, as the server writes it."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
