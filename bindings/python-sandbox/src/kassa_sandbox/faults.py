"""Fault injection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Any, cast

from ._admin import Admin
from ._names import FaultName
from .values import Endpoint


@dataclass(frozen=True, slots=True)
class Fault:
    """A snapshot of a fault that is set."""

    id: int
    """Its id."""
    name: FaultName
    """Its name."""
    struck: int
    """How often it was injected."""
    endpoint: Endpoint | None
    """The endpoint that it applies to; None for all."""
    order_number: str | None
    """The order that it applies to; None for all."""
    probability: float
    """The probability of each injection."""
    times: int | None
    """The maximum number of injections; None for no limit."""


class ActiveFault:
    """A fault that was set: it counts how often it was injected, and is removed by its removal or at the end of a ``with``
    block."""

    def __init__(self, admin: Admin, fault: Fault) -> None:
        self._admin = admin
        self._fault = fault

    @property
    def id(self) -> int:
        """Its id."""
        return self._fault.id

    @property
    def name(self) -> FaultName:
        """Its name."""
        return self._fault.name

    @property
    def struck(self) -> int:
        """How often it was injected so far; after its removal, the last known number."""
        self._is_set()
        return self._fault.struck

    def remove(self) -> None:
        """Removes the fault if it is still set."""
        if self._is_set():
            self._admin.request("DELETE", f"faults/{self.id}")

    def _is_set(self) -> bool:
        for fault in listed(self._admin):
            # A restarted sandbox numbers its faults from the beginning.
            if replace(fault, struck=0) == replace(self._fault, struck=0):
                self._fault = fault
                return True
        return False

    def __enter__(self) -> ActiveFault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"ActiveFault(id={self.id}, name={self.name!r})"


class Faults:
    """Fault injection. `clear` and the sandbox's ``reset`` remove all faults.

    No money moves, and the caller gets an error: ``request-lost``, ``reset-on-connect``, ``retry-after`` (429),
    ``unavailable`` (503), ``unauthorized`` (401).

    The money moves, but the response is lost or late: ``response-lost``, ``reset-before-response``,
    ``reset-in-headers``, ``reset-in-body``, ``delay``, ``drip`` (a byte a second).

    The money moves, but the response is unexpected: ``html-502``, ``not-json``, ``cut-json``, ``endless-body``,
    ``redirect``, ``unknown-status``, ``unknown-code``, ``other-dialect``.

    The payment itself: ``stuck-pending`` (open until it is approved or declined here), ``otp-twice`` (a confirmation is
    executed twice concurrently).

    The callback: ``callback-lost``, ``callback-late``, ``callback-duplicated``, ``callback-out-of-order``,
    ``callback-forged`` (an additional callback, although nobody paid).
    """

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def add(
        self,
        name: FaultName,
        *,
        order_number: str | None = None,
        endpoint: Endpoint | None = None,
        times: int | None = None,
        probability: float | None = None,
        seed: int | None = None,
        delay: timedelta | None = None,
        retry_after: timedelta | None = None,
        status: str | None = None,
        code: str | None = None,
    ) -> ActiveFault:
        """Sets a fault; `AdminRefused` names a field that is wrong, or that this fault does not have.

        * ``order_number``: only this order: the merchant's number, the gateway's number or the transaction id
        * ``endpoint``: only requests to this endpoint
        * ``times``: the maximum number of injections; no limit by default
        * ``probability``: from 0 to 1, from a separate random generator seeded with ``seed``
        * ``delay``: for ``delay`` and ``callback-late``
        * ``retry_after``: whole seconds, for ``retry-after`` and ``unavailable``
        * ``status``, ``code``: the word for ``unknown-status``, the code for ``unknown-code``

        An order whose first response is lost:

            with sandbox.faults.add("response-lost", order_number="order-17", times=1) as fault:
                ...
            assert fault.struck == 1
        """
        wanted: dict[str, object] = {
            "name": name,
            "order_number": order_number,
            "endpoint": endpoint,
            "times": times,
            "probability": probability,
            "seed": seed,
            "delay_ms": whole("delay", delay, timedelta(milliseconds=1)),
            "retry_after_s": whole("retry_after", retry_after, timedelta(seconds=1)),
            "status": status,
            "code": code,
        }
        answer = self._admin.request(
            "POST", "faults", {key: value for key, value in wanted.items() if value is not None}
        )
        return ActiveFault(self._admin, fault(answer))

    def list(self) -> tuple[Fault, ...]:
        """The faults that are set, with the number of injections of each."""
        return listed(self._admin)

    def clear(self) -> None:
        """Removes all faults."""
        self._admin.request("DELETE", "faults")


def listed(admin: Admin) -> tuple[Fault, ...]:
    """The faults that are set."""
    return tuple(map(fault, cast("list[dict[str, Any]]", admin.request("GET", "faults")["faults"])))


def fault(answer: Mapping[str, Any]) -> Fault:
    """A fault as the sandbox reports it."""
    return Fault(
        id=answer["id"],
        name=answer["name"],
        struck=answer["struck"],
        endpoint=answer.get("endpoint"),
        order_number=answer.get("order_number"),
        probability=float(answer.get("probability", 1)),
        times=answer.get("times"),
    )


def whole(field: str, duration: timedelta | None, unit: timedelta) -> int | None:
    """A duration in whole units; one that is not whole is refused, not rounded."""
    if duration is None:
        return None
    count, rest = divmod(duration, unit)
    if rest:
        raise ValueError(
            f"{field}: {duration} is not a whole number of {'seconds' if unit.seconds else 'milliseconds'}"
        )
    return count
