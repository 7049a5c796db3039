"""Follows every open payment to its end. Only the gateway's own status settles one."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from datetime import timedelta
from time import monotonic

import kassa

from .orders import Orders, Payment
from .states import State

LOGGER = logging.getLogger("shop")

# Long after the payer gave up, a slow eye is kept on a payment; after that, every start of the shop and every look at the
# order's page begins anew.
SLOWLY = kassa.PollPolicy(interval=timedelta(minutes=5), deadline=timedelta(days=1))


class Follower:
    """One watch a payment, as long as the payment is open."""

    def __init__(self, gateway: kassa.AsyncGateway, orders: Orders, interval: timedelta) -> None:
        self._gateway = gateway
        self._orders = orders
        self._policies = (kassa.PollPolicy(interval=interval), SLOWLY)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watches: dict[str, kassa.AsyncStatusWatch] = {}

    def resume(self) -> None:
        """At the start: goes on with what an earlier run has left open."""
        for payment in self._orders.open_payments():
            if payment.state in (State.PREPARED, State.CONFIRMING):
                # That run ended while the gateway was being asked, or just before.
                self._orders.move(payment.id, after_a_crash(payment))
            self.follow(payment.id)

    def follow(self, payment_id: str) -> None:
        """Follows a payment, unless it is being followed, or is over, or nothing is known yet to ask with."""
        payment = self._orders.payment(payment_id)
        if payment_id in self._tasks or payment.state.is_over or not payment.ref.can_be_asked_about:
            return
        self._tasks[payment_id] = asyncio.create_task(self._follow(payment))

    def check_now(self, payment_id: str) -> None:
        """Something may have happened: asks at once."""
        if watch := self._watches.get(payment_id):
            watch.check_now()
        else:
            self.follow(payment_id)

    async def stop(self) -> None:
        """Stops asking. What is open stays open."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def settle(self, payment: Payment, report: kassa.StatusReport) -> None:
        """Takes in what the gateway itself says about a payment."""
        if report.status == kassa.PaymentStatus.CHARGED:
            state = State.CHARGED if self._is_price(payment, report) else State.WRONG_AMOUNT
        elif report.status == kassa.PaymentStatus.REJECTED:
            state = State.REJECTED
        else:
            return
        try:
            changed = self._orders.move(payment.id, state, detail=report.reason)
        except sqlite3.IntegrityError:
            LOGGER.critical("payment %s: CHARGED, and its order has another payment: give one back", payment.id)
            return
        if changed:
            LOGGER.info("payment %s: %s", payment.id, state.value)
            if watch := self._watches.get(payment.id):
                watch.cancel()

    def _is_price(self, payment: Payment, report: kassa.StatusReport) -> bool:
        # The unit of a QR amount is not shown, and the gateway made the code for this very sum.
        if payment.ref.kind == kassa.PaymentKind.QR:
            return True
        order = self._orders.order(payment.order_reference)
        if order is None:
            return False
        # What it does not say contradicts nothing.
        same_amount = report.amount is None or report.amount == order.amount
        return same_amount and (report.currency is None or report.currency.upper() == order.currency)

    async def _follow(self, payment: Payment) -> None:
        try:
            await self._watch(payment)
        finally:
            del self._tasks[payment.id]

    async def _watch(self, payment: Payment) -> None:
        for policy in self._policies:
            if await self._is_over_after(payment, policy):
                return
            LOGGER.warning("payment %s is still open", payment.id)

    async def _is_over_after(self, payment: Payment, policy: kassa.PollPolicy) -> bool:
        ends_at = monotonic() + policy.deadline.total_seconds()
        while monotonic() < ends_at:
            try:
                return await self._is_over_in_one_watch(payment, policy)
            except (kassa.PaymentError, sqlite3.Error) as error:  # noqa: PERF203 - a watch takes longer
                # Credentials that are being changed, say, or a database that is being copied: no reason to stop asking.
                LOGGER.error("payment %s cannot be asked about: %s", payment.id, error)
                await asyncio.sleep(policy.interval.total_seconds())
        return False

    async def _is_over_in_one_watch(self, payment: Payment, policy: kassa.PollPolicy) -> bool:
        async with self._gateway.watch(payment.ref, policy) as watch:
            self._watches[payment.id] = watch
            try:
                async for report in watch:
                    self._take(payment, report)
            except kassa.DeadlineExpired:
                return False
            finally:
                del self._watches[payment.id]
        return True

    def _take(self, payment: Payment, report: kassa.WatchReport) -> None:
        match report:
            case kassa.StatusReport():
                self.settle(payment, report)
            case kassa.QueryFailed(error):
                LOGGER.info("payment %s: asking failed, and goes on: %s", payment.id, error)


def after_a_crash(payment: Payment) -> State:
    """Where a payment stands that may have been on its way when the program stopped."""
    # Making a pay-form or a QR code moves no money, and nobody was shown this one.
    is_unseen = not payment.ref.can_be_asked_about
    return State.NOT_MADE if is_unseen else State.UNKNOWN
