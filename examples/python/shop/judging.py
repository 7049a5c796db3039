"""Asks the gateway about what callbacks and returning payers have said. **They are hints**: anybody can send one.

They are stored first and judged here, so that none is lost when the gateway cannot be asked, or the shop is restarted.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, repeat

import kassa

from .following import Follower
from .orders import Hint, Order, Orders, Payment

LOGGER = logging.getLogger("shop")
PROVIDERS = (kassa.Provider.CARDS, kassa.Provider.MBANK, kassa.Provider.MEGA_PAY)
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
        order = self._orders.order(payment.order_reference)
        if order is None:
            return True
        try:
            if hint.kind == "callback":
                return await self._weigh(payment, order, hint, kassa.Callback.parse(hint.text))
            return await self._weigh_return(payment, order, hint)
        except kassa.PaymentError as error:
            LOGGER.info("payment %s: a %s could not be checked: %s", payment.id, hint.kind, error)
            return False

    async def _weigh(self, payment: Payment, order: Order, hint: Hint, callback: kassa.Callback) -> bool:
        expected = kassa.ExpectedPayment(payment.ref, order.amount, order.currency)
        match await self._gateway.verify_callback(callback, expected):
            case kassa.Pending() if not payment.ref.can_be_asked_about:
                # Whether a QR code paid it is asked once it is over. Until then its number is not believed.
                LOGGER.info("payment %s: a %s names a payment that is still open", payment.id, hint.kind)
                return False
            case kassa.Confirmed(report) | kassa.Pending(report):
                self._believe(payment, callback.order_number, callback.provider, report)
            case kassa.Contradicted(fields, _):
                LOGGER.warning("payment %s: a %s is not true, in %s", payment.id, hint.kind, ", ".join(fields))
            case kassa.Unverifiable() if payment.ref.can_be_asked_about:
                self._follower.check_now(payment.id)
            case kassa.Unverifiable():
                # Nothing ties it to the order, as long as the gateway tells no amount.
                LOGGER.info("payment %s: a %s proves nothing so far", payment.id, hint.kind)
                return False
        return True

    async def _weigh_return(self, payment: Payment, order: Order, hint: Hint) -> bool:
        """A payer came back from a pay-form with an order number, and maybe no callback ever comes."""
        if payment.ref.can_be_asked_about:
            self._follower.check_now(payment.id)
            return True
        failures: list[kassa.PaymentError] = []
        for provider in PROVIDERS:
            try:
                return await self._weigh(payment, order, hint, _as_callback(order, hint.text, provider))
            except kassa.PaymentError as error:  # noqa: PERF203 - a question takes longer
                failures.append(error)
        # A refusal is what a provider says that does not know the number.
        raise next((error for error in failures if not isinstance(error, kassa.Refused)), failures[0])

    def _believe(self, payment: Payment, number: str, provider: kassa.Provider, report: kassa.StatusReport) -> None:
        """The gateway stands by it. A pay-form's payment has its number now, unless that one pays for another order."""
        if not payment.ref.can_be_asked_about:
            if not self._orders.learn(payment.id, kassa.PaymentRef.pay_form(number, provider)):
                LOGGER.warning("payment %s: order number %r pays for another order", payment.id, number)
                return
            payment = self._orders.payment(payment.id)
        self._follower.settle(payment, report)
        self._follower.follow(payment.id)


def _as_callback(order: Order, number: str, provider: kassa.Provider) -> kassa.Callback:
    """A number that a payer brought, as a callback that names it: anybody can send either, so both are weighed in one way."""
    claim = {"orderNumber": number, "amount": str(order.amount), "currency": order.currency, "provider": provider.name}
    return kassa.Callback.parse(json.dumps({**claim, "status": "RETURNED", "dateCreated": "unknown"}))
