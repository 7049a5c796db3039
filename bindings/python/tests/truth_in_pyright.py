"""Pyright reports what is taken for a yes or no and is none; an ignore that is not needed is an error here. Never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import kassa
from kassa import checkout


def ship() -> None: ...


def verify(gateway: kassa.Gateway, callback: kassa.Callback, payment: kassa.PaymentRef) -> None:
    if gateway.verify_callback(callback, payment):  # pyright: ignore[reportGeneralTypeIssues]
        ship()
    if gateway.watch(payment).outcome():  # pyright: ignore[reportGeneralTypeIssues]
        ship()
    if gateway.qr_status("1").status:  # pyright: ignore[reportGeneralTypeIssues]
        ship()
    assert gateway.confirm_mbank_payment(payment, "123456")  # pyright: ignore[reportGeneralTypeIssues]
    ship()


def recover(gateway: kassa.Gateway, shown: checkout.CheckoutState) -> bool:
    for recovered in gateway.recover():
        if recovered:  # pyright: ignore[reportGeneralTypeIssues]
            ship()
    return not shown  # pyright: ignore[reportGeneralTypeIssues]
