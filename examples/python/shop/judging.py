"""Asks the gateway about what callbacks and returning payers have said. **They are hints**: anybody can send one.

They are stored first and judged here, so that none is lost when the gateway cannot be asked, or the shop is restarted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, repeat

import kassa

from .following import Follower
from .orders import Hint, Orders, Payment

LOGGER = logging.getLogger("shop")
MOST_ATTEMPTS = 120
# After that a slow eye is kept on it for a day; then a look at the order's page, or a start of the shop, begins anew.
SLOW_PAUSE = 300.0
MOST_SLOW_ATTEMPTS = 288


class Judge:
    """One task a payment, as long as there is something to ask about."""

    def __init__(self, gateway: kassa.AsyncGateway, orders: Orders, follower: Follower, interval: timedelta) -> None:
        self._gateway = gateway
        self._orders = orders
        self._follower = follower
        self._interval = interval.total_seconds()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._news: dict[str, asyncio.Event] = {}

    def resume(self) -> None:
        """At the start: goes on with what an earlier run has left."""
        for payment_id in self._orders.payments_with_open_hints():
            self.look(payment_id)

    def look(self, payment_id: str) -> None:
        """There is a new hint for a payment."""
        self._news.setdefault(payment_id, asyncio.Event()).set()
        if payment_id not in self._tasks:
            self._tasks[payment_id] = asyncio.create_task(self._judge(payment_id))

    async def stop(self) -> None:
        """Stops asking. What was not judged stays stored."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _judge(self, payment_id: str) -> None:
        try:
            await self._ask_until_judged(payment_id, self._news[payment_id])
        finally:
            del self._tasks[payment_id], self._news[payment_id]

    async def _ask_until_judged(self, payment_id: str, news: asyncio.Event) -> None:
        pauses = self._pauses()
        while (pause := next(pauses, None)) is not None:
            news.clear()
            for hint in self._orders.open_hints(payment_id):
                if await self._is_dealt_with(self._orders.payment(payment_id), hint):
                    self._orders.close_hint(payment_id, hint)
            if not self._orders.open_hints(payment_id):
                return
            # The gateway could not be asked, or does not know the number yet.
            try:
                await asyncio.wait_for(news.wait(), pause)
            except asyncio.TimeoutError:
                continue
            pauses = self._pauses()

    def _pauses(self) -> Iterator[float]:
        return chain(repeat(self._interval, MOST_ATTEMPTS), repeat(SLOW_PAUSE, MOST_SLOW_ATTEMPTS))

    async def _is_dealt_with(self, payment: Payment, hint: Hint) -> bool:
        if hint.kind == "return" and payment.ref.can_be_asked_about:
            self._follower.check_now(payment.id)
            return True
        try:
            verdict = await self._verdict(payment, hint)
        except kassa.PaymentError as error:
            LOGGER.info("payment %s: a %s could not be checked: %s", payment.id, hint.kind, error)
            return False
        return self._take(payment, hint, verdict)

    async def _verdict(self, payment: Payment, hint: Hint) -> kassa.Verdict:
        if hint.kind == "callback":
            return await self._gateway.verify_callback(kassa.Callback.parse(hint.text), payment.ref)
        return await self._gateway.verify_return(kassa.ReturnRedirect(hint.text), payment.ref)

    def _take(self, payment: Payment, hint: Hint, verdict: kassa.Verdict) -> bool:
        """Acts on a verdict; whether there is nothing more to ask about the hint."""
        match verdict:
            case kassa.Charged() | kassa.Rejected():
                self._follower.settle(payment, verdict)
            case kassa.Contradicted(fields):
                LOGGER.warning("payment %s: a %s is not true, in %s", payment.id, hint.kind, ", ".join(fields))
            case kassa.Open() | kassa.Unverifiable() if payment.ref.can_be_asked_about:
                self._follower.check_now(payment.id)
            case kassa.Open():
                # A pay-form takes the number of a payment once that is charged, so this one is asked about by its hint.
                LOGGER.info("payment %s: a %s names a payment that is still open", payment.id, hint.kind)
                return False
            case kassa.Unverifiable(why):
                LOGGER.info("payment %s: a %s proves nothing so far: %s", payment.id, hint.kind, why)
                return False
        return True
