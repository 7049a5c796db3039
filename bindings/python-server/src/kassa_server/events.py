"""Events: what happened to checkouts and payments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Event:
    """An event for the shop."""

    cursor: str
    """Its place among all events, an opaque text: what ``GET /v1/events?after=`` takes."""
    id: str
    """The same however often it is delivered: the header ``webhook-id``."""
    kind: str
    """Such as ``checkout.paid``: what its JSON calls ``type``."""
    at: datetime
    """When it was recorded."""
    checkout: str
    """The checkout's identifier."""
    reference: str
    """The shop's own reference."""
    data: Mapping[str, Any]
    """All that it says."""


def event(told: Mapping[str, Any]) -> Event:
    """An event, as the server lists it."""
    body = told["event"]
    data = body["data"]
    at = EPOCH + timedelta(milliseconds=body["timestamp_ms"])
    return Event(told["cursor"], body["id"], body["type"], at, data["checkout"], data["reference"], data)
