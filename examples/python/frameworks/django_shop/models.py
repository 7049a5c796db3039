"""The orders."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.db import models, transaction


def new_reference() -> str:
    return f"order-{secrets.token_hex(5)}"


# docs: begin orders
class Order(models.Model):
    """An order is ``new``, then ``paid``, then ``delivered``."""

    reference: models.CharField[str, str] = models.CharField(max_length=32, primary_key=True, default=new_reference)
    state: models.CharField[str, str] = models.CharField(max_length=16, default="new")


def mark_paid(reference: str) -> bool:
    """Marks an order as paid. A repetition changes nothing. False if there is no such order."""
    Order.objects.filter(reference=reference, state="new").update(state="paid")
    return Order.objects.filter(reference=reference).exists()


def deliver_once(reference: str, deliver: Callable[[str], object]) -> None:
    """Delivers a paid order. One process at a time does it; after a crash in the middle it is done again."""
    with transaction.atomic():
        if Order.objects.filter(reference=reference, state="paid").update(state="delivered"):
            deliver(reference)  # if it fails, the order stays paid
            # docs: end orders
