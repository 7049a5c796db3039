"""Follows every open payment to its end. Only the gateway's own status settles one."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from datetime import timedelta

import kassa

from .orders import Orders, Payment
from .states import State

LOGGER = logging.getLogger("shop")

# By the pause between two questions while somebody looks: an open payment that nobody looks at is asked about less often, and
# the older it is, the less.
SLOWER = 30
ROUND = 180


class Follower:
    """Asks about a payment while somebody looks at its order, and beside that settles whatever is unfinished."""

    def __init__(self, gateway: kassa.AsyncGateway, orders: Orders, interval: timedelta) -> None:
        self._gateway = gateway
        self._orders = orders
        self._interval = interval
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def resume(self) -> None:
        """At the start: goes on with what an earlier run has left open."""
        for payment in self._orders.open_payments():
            if payment.state in (State.PREPARED, State.CONFIRMING):
                # That run ended while the gateway was being asked, or just before.
                self.recover(payment.id)
        self._tasks["whatever is unfinished"] = asyncio.create_task(self._settle())

    def recover(self, payment_id: str) -> None:
        """Says where a payment stands that may have been on its way when the program, or the request, stopped."""
        payment = self._orders.payment(payment_id)
        entry = self.entry(payment)
        if entry is not None:
            self._orders.learn(payment.id, entry.payment)
        if entry is not None and entry.state == kassa.JournalState.OPEN and (entry.page_url or entry.qr_text):
            state = State.AWAITING_PAYER
        else:
            # Making a pay-form or a QR code moves no money, and nobody was shown this one.
            is_unseen = not payment.ref.can_be_asked_about
            state = State.NOT_MADE if is_unseen else State.UNKNOWN
        self._orders.move(payment.id, state)

    def entry(self, payment: Payment) -> kassa.JournalEntry | None:
        """What the journal knows of a payment: also the page or the code that its payer was shown."""
        try:
            return self._gateway.journal.entry(payment.ref) if self._gateway.journal else None
        except kassa.Unavailable as error:
            LOGGER.error("payment %s: a person has to look: %s", payment.id, error)
            return None

    def look(self, payment_id: str) -> None:
        """Somebody looks: asks, unless it is over, or was asked about just now, or nothing is known yet to ask with."""
        payment = self._orders.payment(payment_id)
        if payment_id not in self._tasks and not payment.state.is_over and payment.ref.can_be_asked_about:
            self._tasks[payment_id] = asyncio.create_task(self._ask(payment))

    def check_now(self, payment_id: str) -> None:
        """Something may have happened: asks at once."""
        if task := self._tasks.pop(payment_id, None):
            task.cancel()
        self.look(payment_id)

    async def stop(self) -> None:
        """Stops asking. What is open stays open."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def settle(self, payment: Payment, verdict: kassa.Verdict) -> None:
        """Takes in how a payment ended."""
        match verdict:
            case kassa.Charged(found):
                self._charge(payment, found, verdict.report.reason)
            case kassa.Rejected():
                self._end(payment, State.REJECTED, verdict.report.reason)
            case kassa.Contradicted() | kassa.Unverifiable():
                LOGGER.error("payment %s: a person has to look: %s", payment.id, verdict)
                self._end(payment, State.UNCLEAR, verdict.report.reason if verdict.report else None)
            case kassa.Open():
                pass

    def _charge(self, payment: Payment, found: kassa.PaymentRef, detail: str | None = None) -> None:
        # A pay-form's payment has its number now, unless that one pays for another order.
        number = found.order_number
        if not self._orders.learn(payment.id, found):
            LOGGER.warning("payment %s: order number %r pays for another order", payment.id, number)
        elif payment.state == State.CHARGED and number != payment.ref.order_number:
            # A pay-form may be paid again, under another number.
            LOGGER.critical("payment %s: CHARGED a second time, as %r: give one back", payment.id, number)
        else:
            self._end(payment, State.CHARGED, detail)

    def _end(self, payment: Payment, state: State, detail: str | None = None) -> None:
        try:
            changed = self._orders.move(payment.id, state, detail=detail)
        except sqlite3.IntegrityError:
            LOGGER.critical("payment %s: CHARGED, and its order has another payment: give one back", payment.id)
            return
        if changed:
            LOGGER.info("payment %s: %s", payment.id, state.value)

    async def _ask(self, payment: Payment) -> None:
        try:
            verdict = await self._gateway.check(payment.ref)
            # A contradiction may be one odd reply. Where it is none, settling brings it, too.
            if not isinstance(verdict, kassa.Contradicted):
                self.settle(payment, verdict)
        except (kassa.PaymentError, sqlite3.Error) as error:
            # Credentials that are being changed, say, or a database that is being copied.
            LOGGER.error("payment %s cannot be asked about: %s", payment.id, error)
        await asyncio.sleep(self._interval.total_seconds())
        del self._tasks[payment.id]

    async def _settle(self) -> None:
        """Whatever an earlier run has left, and what nobody looks at any more."""
        policy = kassa.SettlePolicy(interval=SLOWER * self._interval, deadline=ROUND * self._interval)
        while True:
            try:
                async for settled in self._gateway.settle(policy):
                    await self._take(settled)
            except (kassa.PaymentError, sqlite3.Error) as error:
                LOGGER.error("what is unfinished cannot be settled: %s", error)
            await asyncio.sleep(policy.interval.total_seconds())

    async def _take(self, settled: kassa.Settled) -> None:
        """Only what the shop itself calls paid is finished. All else comes again, until a person has looked."""
        if isinstance(settled, kassa.Unreadable):
            LOGGER.critical("a person has to look: the journal's entry %s %s", settled.id, settled.why)
            return
        ref = settled.payment
        try:
            payment = self._orders.payment(ref.entry_id or ref.order_number or "")
        except LookupError:
            LOGGER.critical("order %s: its payment %s is not in the database", settled.note, settled.id)
            return
        match settled.state:
            case kassa.JournalState.CHARGED:
                self._charge(payment, ref, settled.reason)
            case kassa.JournalState.REJECTED:
                self._end(payment, State.REJECTED, settled.reason)
            case _:
                LOGGER.error("payment %s: a person has to look: %s", payment.id, settled)
                self._end(payment, State.UNCLEAR)
        if self._orders.payment(payment.id).state == State.CHARGED:
            await self._gateway.finish(settled)
