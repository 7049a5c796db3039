"""Mypy reports what is taken for a yes or no and is none, where ``warn_unreachable`` is on. Never run."""

# mypy: warn-unreachable
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import kassa


def ship() -> None: ...


def take(verdict: kassa.Verdict) -> None:
    if verdict:
        ship()  # type: ignore[unreachable]


def confirm(gateway: kassa.Gateway, payment: kassa.PaymentRef) -> None:
    if gateway.confirm_mbank_payment(payment, "123456"):
        ship()  # type: ignore[unreachable]
