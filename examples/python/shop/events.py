"""The one place where the shop is told about money: the receiver of the server's signed events."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .checkouts import CheckoutCallFailed, Checkouts
from .forms import read_body
from .orders import Order, Orders
from .standing import Event, Standing, State

LOGGER = logging.getLogger("shop")


class Receiver:
    """Takes events. What is not taken (any status but 2xx) comes again."""

    def __init__(self, orders: Orders, checkouts: Checkouts, secret: str) -> None:
        self._orders = orders
        self._checkouts = checkouts
        self._webhook = Webhook(secret)

    def routes(self) -> list[Route]:
        """Their address."""
        return [Route("/events", self.receive, methods=["POST"])]

    async def receive(self, request: Request) -> Response:
        """An event, or what somebody made up. It is on the disk before the answer says that it was taken."""
        body = await read_body(request)
        try:
            # The signature, and that it was made just now (Standard Webhooks).
            told = self._webhook.verify(body, dict(request.headers))
        except (WebhookVerificationError, ValueError):
            raise HTTPException(401) from None
        event = read_event(told)
        order = self._orders.order_of(event.checkout)
        if order is None:
            raise HTTPException(404)
        if (Decimal(told["data"]["amount"]), told["data"]["currency"]) != (order.amount, order.currency):
            LOGGER.critical(
                "order %s: event %s is about another amount: a person has to look", order.reference, event.id
            )
            raise HTTPException(422)
        return self._take(order, event)

    def _take(self, order: Order, event: Event) -> Response:
        self._orders.take(event)
        # Also where it came before: the shop may have died before its people were told.
        before, now = self._orders.told(order), self._orders.standing(order)
        if (before.state, before.owed) != (now.state, now.owed):
            note(order, before, now)
            self._orders.note_told(order, now)
        return Response(status_code=204, background=BackgroundTask(self._close_others, order))

    async def _close_others(self, order: Order) -> None:
        """Nobody shall pay again what is paid: what was paid late may have another checkout that is open."""
        if self._orders.standing(order).state != State.PAID:
            return
        ends = ("checkout.paid", "checkout.expired", "checkout.cancelled")
        over = {event.checkout for event in self._orders.events(order) if event.kind in ends}
        for checkout in self._orders.checkouts(order):
            if checkout.id is not None and checkout.reference not in over:
                try:
                    await self._checkouts.cancel(checkout.id)
                except CheckoutCallFailed as error:
                    # It expires by itself, and what is paid until then is told.
                    LOGGER.warning("order %s is paid, and can be paid again: %s", order.reference, error)


def read_event(told: dict[str, Any]) -> Event:
    """An event, as the server writes it."""
    data = told["data"]
    payment: dict[str, str] = data.get("payment") or {}
    return Event(
        id=told["id"],
        checkout=data["reference"],
        version=data["version"],
        kind=told["type"],
        payment=payment.get("id"),
        payment_state=payment.get("state"),
        after=data.get("after"),
    )


def note(order: Order, before: Standing, now: Standing) -> None:
    """Tells the shop's people what to do: once, or after a crash twice. A real shop would tell its store here."""
    if now.owed > before.owed:
        LOGGER.critical("order %s: paid too much: give %d payment(s) back", order.reference, now.owed)
    if now.state == before.state:
        return
    if now.state == State.PAID:
        LOGGER.info("order %s: paid: deliver", order.reference)
    elif now.state == State.UNCLEAR:
        LOGGER.error("order %s: a person has to look, on the server's staff pages", order.reference)
    else:
        LOGGER.info("order %s: %s", order.reference, now.state.value)
