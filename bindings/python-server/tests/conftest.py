"""What the tests share."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest

from kassa_server.testing import KassaServer

pytest_plugins = ["pytester"]

PATIENCE = 60.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""The upper bound of a wait, in seconds. ``KASSA_PATIENCE`` multiplies it on a slow machine."""

NUMBERS = itertools.count(1)


class Order:
    """An order that is about to be paid by pay-form."""

    def __init__(self, server: KassaServer) -> None:
        self.reference = f"order-{next(NUMBERS)}"
        wanted = {
            "reference": self.reference,
            "amount": "390",
            "description": "Honey",
            "return_url": "http://127.0.0.1:9/paid",
        }
        checkout = server.request("POST", "/v1/checkouts", wanted)
        self.token: str = server.request("POST", f"/v1/checkouts/{checkout['id']}/tokens")["token"]
        self.payment: dict[str, Any] = server.request(
            "POST",
            "/v1/checkout/payments",
            {"method": "pay_form"},
            key=self.token,
            idempotency_key=self.reference,
        )
        self.page_url: str = self.payment["page_url"]


@pytest.fixture
def order(kassa_server: KassaServer) -> Order:
    return Order(kassa_server)
