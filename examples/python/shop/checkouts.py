"""The shop's requests to kassa-server. All are idempotent."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx

from .orders import Checkout, Order
from .settings import ServerSettings

PATIENCE = 20.0
"""Seconds that an answer may take."""


class CheckoutCallFailed(Exception):
    """The server did not answer, or refused. The text is for the log. No money was moved by it."""


class Checkouts:
    """The server's checkouts, by the shop's API key."""

    def __init__(self, server: ServerSettings) -> None:
        # The server is the merchant's own: no proxy leads to it.
        self._client = httpx.AsyncClient(
            base_url=server.url,
            headers={"Authorization": f"Bearer {server.api_key}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    async def open(self, order: Order, checkout: Checkout) -> tuple[str, str]:
        """Opens it: its identifier, and the page where its payer pays. The same request gives the same checkout."""
        wanted = {
            "reference": checkout.reference,
            "amount": str(order.amount),
            "currency": order.currency,
            "description": order.cart.text,
            "return_url": checkout.return_url,
        }
        told = await self._ask("/v1/checkouts", wanted)
        if told["page_url"] is None:
            raise CheckoutCallFailed("the server has no pages for payers: its setting page.enabled is off")
        return told["id"], told["page_url"]

    async def cancel(self, checkout_id: str) -> None:
        """Gives it up, so that nobody pays it; `CheckoutCallFailed` where it is paid, or a payment of it is under way."""
        await self._ask(f"/v1/checkouts/{checkout_id}/cancel")

    async def close(self) -> None:
        """Lets the connections go."""
        await self._client.aclose()

    async def _ask(self, path: str, body: object = None) -> dict[str, Any]:
        try:
            answer = await self._client.post(path, json=body)
        except httpx.HTTPError as error:
            raise CheckoutCallFailed(f"the server does not answer: {error!r}") from error
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise CheckoutCallFailed(f"the server refuses {path}: {answer.text}")
        told: dict[str, Any] = answer.json()
        return told
