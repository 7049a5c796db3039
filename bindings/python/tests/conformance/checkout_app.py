"""The payer's app on one device: a checkout, and what its screen has shown last."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, cast

import kassa
from kassa import checkout

from .compare import is_like
from .patience import PATIENCE
from .stage import Scene
from .ways import Way


class App:
    """One device's checkout."""

    def __init__(self, way: Way, scene: Scene, given: Any) -> None:
        self._way = way
        server_url, token = given.get("server_url", scene.server_url), given.get("client_token", scene.client_token)
        failures = given.get("renews_after_failures")
        renew = None if failures is None else way.function(_renewal(failures, scene))
        self._checkout = way.run(lambda: way.checkout(server_url, token, renew_token=renew))
        self._states = self._checkout.states()
        self._shown: Any = None

    def act(self, name: str, given: Any) -> Any:
        """What the payer does, or the app for them."""
        match name:
            case "pay_by_card":
                names = ("pan", "expiry_month", "expiry_year", "cvc", "holder_name")
                arguments = [kassa.Card(*(given[each] for each in names))]
            case "details":
                return canonical(self._checkout.details)
            case "print":
                return f"{self._checkout!r} {self._checkout} {self._states!r}"
            case _:
                arguments = list(cast("dict[str, Any]", given or {}).values())
        self._way.run(lambda: getattr(self._checkout, name)(*arguments))
        return None

    def until(self, expected: Any, never: list[str]) -> None:
        """Waits until the screen shows what is expected. It must show nothing of ``never`` on the way."""
        seen = [self._shown]
        while True:
            kind = self._shown and self._shown["kind"]
            assert kind not in never, f"must never show {kind}, and did: {seen}"
            if matches(expected, self._shown):
                return
            assert len(seen) == 1 or self._shown is not None, f"ended before {expected}: {seen}"
            self._shown = self._next()
            seen.append(self._shown)

    def _next(self) -> Any:
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._checkout.close()

        limit = threading.Timer(PATIENCE, give_up)
        limit.start()
        try:
            state = self._way.run(lambda: self._way.next(self._states))
        finally:
            limit.cancel()
        assert not late.is_set(), f"no state comes after {self._shown}"
        return canonical(state)


NAMES = {
    "pay_by_mbank",
    "pay_by_megapay",
    "pay_by_qr",
    "pay_by_form",
    "pay_by_card",
    "confirm",
    "change_method",
    "keep_method",
    "page_opened",
    "came_back",
    "check_now",
    "renew_token",
    "close",
    "details",
    "print",
}


def _renewal(failures: int, scene: Scene) -> Any:
    """What the app does when a token has run out: it fails a few times, then it has a new one."""
    calls = itertools.count()

    def renew() -> str:
        if next(calls) < failures:
            raise OSError("the shop does not answer")
        return scene.new_token()

    return renew


def canonical(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case Decimal():
            return format(value, "f")
        case datetime():
            return (value - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
        case tuple():
            return [canonical(item) for item in cast("tuple[object, ...]", value)]
        case None | bool() | int() | str():
            return value
        case _:
            form = {field.name: canonical(getattr(value, field.name)) for field in dataclasses.fields(value)}
            for moment in ("expires_at", "code_expires_at"):
                if moment in form:
                    form[f"{moment}_ms"] = form.pop(moment)
            return (
                form
                if isinstance(value, checkout.CheckoutDetails | checkout.CheckoutMessage)
                else form | {"kind": value.kind}
            )


def matches(expected: Any, found: Any) -> bool:
    """Every key that is expected must be there and match, others may be as they are."""
    match expected, found:
        case {"$like": pattern}, _:
            return isinstance(found, str) and is_like(pattern, found)
        case dict(), dict():
            fields, others = cast("dict[str, Any]", expected), cast("dict[str, Any]", found)
            return all(matches(value, others.get(key)) for key, value in fields.items())
        case list(), list():
            items, places = cast("Sequence[Any]", expected), cast("Sequence[Any]", found)
            return len(items) == len(places) and all(map(matches, items, places))
        case _:
            # True is no 1 here.
            return type(expected) is type(found) and expected == found
