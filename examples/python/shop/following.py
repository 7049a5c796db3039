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

    def settle(self, payment: Payment, verdict: kassa.Verdict) -> None:
        """Takes in how a payment ended."""
        match verdict:
            case kassa.Charged():
                state = State.CHARGED
            case kassa.Rejected():
                state = State.REJECTED
            case kassa.Contradicted() | kassa.Unverifiable():
                LOGGER.error("payment %s: a person has to look: %s", payment.id, verdict)
                state = State.UNCLEAR
            case kassa.Open():
                return
        try:
            changed = self._orders.move(payment.id, state, detail=verdict.report.reason if verdict.report else None)
        except sqlite3.IntegrityError:
            LOGGER.critical("payment %s: CHARGED, and its order has another payment: give one back", payment.id)
            return
        if changed:
            LOGGER.info("payment %s: %s", payment.id, state.value)
            if watch := self._watches.get(payment.id):
                watch.cancel()

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
                verdict = await watch.outcome()
            except kassa.DeadlineExpired:
                return False
            finally:
                del self._watches[payment.id]
        # Nothing where it was cancelled: the payment was settled on another way.
        if verdict is not None:
            self.settle(payment, verdict)
        return True


def after_a_crash(payment: Payment) -> State:
    """Where a payment stands that may have been on its way when the program stopped."""
    # Making a pay-form or a QR code moves no money, and nobody was shown this one.
    is_unseen = not payment.ref.can_be_asked_about
    return State.NOT_MADE if is_unseen else State.UNKNOWN
