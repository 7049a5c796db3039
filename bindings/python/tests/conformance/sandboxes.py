"""The gateway's own side, with faults: what the vectors of a sandbox say to it."""

from __future__ import annotations

import http.client
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from kassa_sandbox import Sandbox

from .patience import PATIENCE

# Those that may be shared, and that no vector uses at the moment.
_IDLE: deque[Sandbox] = deque()


def borrow(kind: Literal["shared", "own"], config: Any) -> Sandbox:
    """A sandbox for one vector, with the login and the password of its configuration; all vectors have the same ones."""
    if kind == "shared":
        with suppress(IndexError):
            return _IDLE.pop()
    # No callback is sent again because its receiver had to wait for a processor.
    patience = timedelta(seconds=round(PATIENCE))
    return Sandbox(login=config["login"], password=config["password"], callback_timeout=patience, log=None).start()


def give_back(kind: Literal["shared", "own"], sandbox: Sandbox) -> None:
    if kind == "shared":
        sandbox.reset()
        _IDLE.append(sandbox)
    else:
        sandbox.stop()


def stop_all() -> None:
    while _IDLE:
        _IDLE.pop().stop()


def _set_fault(sandbox: Sandbox, given: Any) -> None:
    settings = dict(given)
    if "delay_ms" in settings:
        settings["delay"] = timedelta(milliseconds=settings.pop("delay_ms"))
    sandbox.faults.add(settings.pop("name"), **settings)


def _post_form(sandbox: Sandbox, given: Any) -> int:
    """What the payer's browser does; no redirect is followed."""
    connection = http.client.HTTPConnection(urlsplit(sandbox.base_url).netloc)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", f"{given['page']}?token={given['token']}", urlencode(given["fields"]), kind)
    status = connection.getresponse().status
    connection.close()
    return status


def _once_there(read: Callable[[], Sequence[Any]], given: Any, *names: str) -> list[Any]:
    """What is on record once there is as much as the step wants: a request may still be worked on when the SDK has given up
    on it, and a callback's receiver has its answer before the sandbox writes it down.
    """
    end = time.monotonic() + PATIENCE
    while len(found := read()) < given["count"] and time.monotonic() < end:
        time.sleep(0.01)
    return [_told(line, *names) for line in found]


def _told(line: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(line, name) for name in names}


_LEDGER = ("order_number", "gateway_number", "transaction_id", "status", "times_charged")

# The steps that are the sandbox's, or its payer's.
STEPS: dict[str, Callable[[Sandbox, Any], Any]] = {
    "set_fault": _set_fault,
    "clear_faults": lambda sandbox, _: sandbox.faults.clear(),
    "approve": lambda sandbox, given: _without_answer(sandbox.approve(given["number"])),
    "decline": lambda sandbox, given: _without_answer(sandbox.decline(given["number"])),
    "post_form": _post_form,
    "ledger": lambda sandbox, _: [_told(payment, *_LEDGER) for payment in sandbox.ledger()],
    "requests": lambda sandbox, given: _once_there(sandbox.requests, given, "endpoint", "http_status", "fault"),
    "callbacks": lambda sandbox, given: _once_there(sandbox.callbacks, given, "http_status", "fault"),
}


def _without_answer(_: object) -> None:
    return None
