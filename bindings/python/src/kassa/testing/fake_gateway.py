"""An in-memory gateway (test double, fake)."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn

from .. import _check
from .._core import native
from ..async_gateway import AsyncGateway
from ..errors import Misconfigured
from ..gateway import Gateway
from ..settings import made
from .fault import FakeFault
from .payment import FakeNotification, FakePayment
from .plan import FakePlan


class FakeGateway:
    """An in-memory gateway for tests of **your own** code: it sends nothing, does not wait in real time, and follows the
    test's plan.

    `gateway` and `async_gateway` are ordinary gateways, with the same rules, errors and verdicts; the other methods act as
    the payer or cause faults. Payments are identified by what the code under test knows: an order number, a gateway number, a
    transaction id, a page's URL or a QR code's text.

    >>> fake = FakeGateway()
    >>> gateway = fake.gateway  # hand this to the code under test
    >>> tea = kassa.MbankPayment(order_number="order-1", phone="996555000101", amount_som=100, comment="Tea")

    The response is lost, so the outcome of the payment is unknown:

    >>> fake.fail_next(FakeFault.RESPONSE_LOST)
    >>> try:
    ...     gateway.create_mbank_payment(tea)
    ... except kassa.OutcomeUnknown as error:
    ...     payment = error.payment

    It was made. The payer pays, and the watch finds out:

    >>> notice = fake.charge("order-1")
    >>> gateway.watch(payment).outcome().is_charged
    True

    **The clock** is virtual. While it runs, every wait ends at once, even a watch of 20 minutes. To see the time in between,
    stop it (`stop_clock`) and move it (`advance`).

    Two fake gateways are independent. It does not work after a fork: create one in each process.
    """

    __slots__ = ("__weakref__", "_async_gateway", "_core", "_gateway")

    def __init__(self) -> None:
        """Creates a fake gateway without payments, with a running clock."""
        core = _of_this_process(native.FakeGateway())
        self._core = core
        config = native.default_config("https://fake.example", native.Credentials.basic("fake", "fake"))
        self._gateway = made(Gateway, config, lambda: core().gateway())
        self._async_gateway = made(AsyncGateway, config, lambda: core().gateway())

    @property
    def gateway(self) -> Gateway:
        """The blocking gateway for the code under test; always the same object. Closing it closes `async_gateway`, too."""
        return self._gateway

    @property
    def async_gateway(self) -> AsyncGateway:
        """The asyncio gateway for the code under test; always the same object, with the same payments as `gateway`."""
        return self._async_gateway

    @property
    def payments(self) -> tuple[FakePayment, ...]:
        """All payments so far, oldest first."""
        payments: tuple[FakePayment, ...] = self._core().payments()
        return payments

    def charge(self, payment: str) -> FakeNotification:
        """The payer pays. ``payment`` is one of the payment's numbers, the URL of its page, or the text of its code. Returns
        what the gateway would send to the merchant, to pass to the code under test.

        Raises `kassa.Invalid` if there is no such payment, or it is final.
        """
        notice: FakeNotification = self._core().charge(_check.text("payment", payment))
        return notice

    def reject(self, payment: str) -> FakeNotification:
        """The payer or the bank declines. ``payment`` is as in `charge`.

        Raises as `charge` does.
        """
        notice: FakeNotification = self._core().reject(_check.text("payment", payment))
        return notice

    def plan(self, plan: FakePlan) -> None:
        """Sets what happens to payments created from now on. By default they stay open."""
        self._core().plan(_check.instance("plan", plan, FakePlan))

    def fail_next(self, fault: FakeFault) -> None:
        """Makes one call fail: the next one, or the one after the calls with faults that were set before."""
        self._core().fail_next(_check.instance("fault", fault, FakeFault))

    @property
    def otp(self) -> str:
        """The one-time password of every payer, and the PIN of every MegaPay wallet: it confirms a payment, which is then
        charged."""
        otp: str = self._core().otp()
        return otp

    @property
    def now(self) -> timedelta:
        """The time on the clock since the fake gateway was created."""
        now: timedelta = self._core().now()
        return now

    def advance(self, by: timedelta | float) -> None:
        """Moves the clock forward by a `timedelta` or a number of seconds. Waits that end by then continue."""
        self._core().advance(_check.duration("by", by))

    def stop_clock(self) -> None:
        """Stops the clock: from now on only `advance` moves it."""
        self._core().stop_clock()

    def start_clock(self) -> None:
        """Starts the clock again."""
        self._core().start_clock()

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
