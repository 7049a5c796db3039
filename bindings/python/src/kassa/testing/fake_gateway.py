"""A gateway in memory (test double, fake)."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn

from .. import _check
from .._calls import call, translated
from .._generated import native
from ..async_gateway import AsyncGateway
from ..errors import Misconfigured
from ..gateway import Gateway
from ..settings import made
from .fault import FakeFault
from .payment import FakeNotification, FakePayment
from .plan import FakePlan


class FakeGateway:
    """A gateway in memory for tests of **your own** code: nothing is sent, no time is waited, and what happens is what the test
    says.

    `gateway` and `async_gateway` are gateways like any other, with the same rules, errors and verdicts; everything else here is
    the payer's side, and what goes wrong. Payments are named by what the code under test knows of them: an order number, a
    gateway's number, a transaction, a page's address or a QR code's text.

    >>> fake = FakeGateway()
    >>> gateway = fake.gateway  # hand this to the code under test
    >>> tea = kassa.MbankPayment(order_number="order-1", phone="996555000101", amount_som=100, comment="Tea")

    The answer is lost, so nobody knows whether the payment was made:

    >>> fake.fail_next(FakeFault.RESPONSE_LOST)
    >>> try:
    ...     gateway.create_mbank_payment(tea)
    ... except kassa.OutcomeUnknown as error:
    ...     payment = error.payment

    It was. The payer pays, and the watch finds it out:

    >>> notice = fake.charge("order-1")
    >>> gateway.watch(payment).outcome().is_charged
    True

    **The clock** is virtual. While it runs, whoever waits for a moment finds that it has come: a watch of 20 minutes ends at
    once. A test that wants to see the time between stops it (`stop_clock`) and moves it (`advance`).

    Two of them know nothing of each other. A fork ends what it can do: make one in each process.
    """

    __slots__ = ("__weakref__", "_async_gateway", "_core", "_gateway")

    def __init__(self) -> None:
        """A fake gateway without payments, whose clock runs."""
        with translated():
            core = _of_this_process(native.FakeGateway())
        self._core = core
        config = native.default_config("https://fake.example", native.Credentials.basic("fake", "fake"))
        self._gateway = made(Gateway, config, lambda: core().gateway())
        self._async_gateway = made(AsyncGateway, config, lambda: core().gateway())

    @property
    def gateway(self) -> Gateway:
        """The gateway for code under test that waits; always the same one. Closing it closes `async_gateway`, too."""
        return self._gateway

    @property
    def async_gateway(self) -> AsyncGateway:
        """The gateway for code under test that uses asyncio; always the same one, over the same payments as `gateway`."""
        return self._async_gateway

    @property
    def payments(self) -> tuple[FakePayment, ...]:
        """All payments so far, the oldest first."""
        payments: tuple[FakePayment, ...] = call(self._core().payments)
        return payments

    def charge(self, payment: str) -> FakeNotification:
        """The payer pays. ``payment`` is one of its numbers, the address of its page, or the text of its code. The answer is
        what the gateway would tell the merchant, for a test to hand on.

        Raises `kassa.Invalid` where there is no such payment, or it is final.
        """
        notice: FakeNotification = call(self._core().charge, _check.text("payment", payment))
        return notice

    def reject(self, payment: str) -> FakeNotification:
        """The payer declines, or the bank does. ``payment`` is named as in `charge`.

        Raises as `charge` does.
        """
        notice: FakeNotification = call(self._core().reject, _check.text("payment", payment))
        return notice

    def plan(self, plan: FakePlan) -> None:
        """What becomes of the payments that are made from now on. They stay open unless this says otherwise."""
        call(self._core().plan, _check.instance("plan", plan, FakePlan))

    def fail_next(self, fault: FakeFault) -> None:
        """Lets one call go wrong: the next one, or the one after those that were given before."""
        call(self._core().fail_next, _check.instance("fault", fault, FakeFault))

    @property
    def otp(self) -> str:
        """The one-time password of every payer: with it a mobile-bank payment is confirmed and charged."""
        otp: str = call(self._core().otp)
        return otp

    @property
    def now(self) -> timedelta:
        """The time on the clock since the fake gateway was made."""
        now: timedelta = call(self._core().now)
        return now

    def advance(self, by: timedelta | float) -> None:
        """Moves the clock forward, by a `timedelta` or a number of seconds. Whoever waited for a moment up to then goes on."""
        call(self._core().advance, _check.duration("by", by))

    def stop_clock(self) -> None:
        """Stops the clock: from now on time passes by `advance` alone."""
        call(self._core().stop_clock)

    def start_clock(self) -> None:
        """Lets the clock run again."""
        call(self._core().start_clock)

    def __repr__(self) -> str:
        return "FakeGateway()"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a kassa.testing.FakeGateway cannot be pickled or copied; make another one")


def _of_this_process(core: Any) -> Callable[[], Any]:
    """What a fork leaves behind is never touched again: its locks may be held by threads that exist no more."""
    process = os.getpid()

    def checked() -> Any:
        if process != os.getpid():
            raise Misconfigured("the fake gateway was made before a fork; make one in this process")
        return core

    return checked
