"""Unit tests of the shop on Flask, as a user writes them: no server, no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from kassa.server.testing import sign_event

from flask_shop.app import create_app
from orders import Orders

# docs: begin event
SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSBzaG9wJ3MgdGVzdHM="


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.setenv("KASSA_SERVER_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("KASSA_API_KEY", "ak_test")
    monkeypatch.setenv("KASSA_EVENTS_SECRET", SECRET)
    monkeypatch.setenv("SHOP_URL", "https://shop.example.kg")
    monkeypatch.setenv("SHOP_DATABASE", str(tmp_path / "shop.db"))
    return create_app()


def test_paid_order_waits_for_delivery(app: Flask, tmp_path: Path) -> None:
    orders = Orders(str(tmp_path / "shop.db"))
    orders.add("order-17")
    signed = sign_event(SECRET, reference="order-17", amount="390")
    for _ in range(2):  # an event can come twice
        assert app.test_client().post("/events", data=signed.body, headers=signed.headers).status_code == 204
    forged = sign_event(SECRET, reference="order-17", now=0)
    assert app.test_client().post("/events", data=forged.body, headers=forged.headers).status_code == 401
    assert orders.list_in("paid") == ["order-17"]
    # docs: end event


def test_delivery_that_fails_is_done_again(tmp_path: Path) -> None:
    orders = Orders(str(tmp_path / "shop.db"))
    orders.add("order-17")
    assert orders.mark_paid("order-17")

    def fail(reference: str) -> None:
        raise OSError(reference)

    with pytest.raises(OSError, match="order-17"):
        orders.deliver("order-17", fail)
    delivered: list[str] = []
    for _ in range(2):
        orders.deliver("order-17", delivered.append)
    assert delivered == ["order-17"]
    assert not orders.mark_paid("order-18")


def test_missing_setting_ends_the_start(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KASSA_EVENTS_SECRET")
    with pytest.raises(KeyError, match="KASSA_EVENTS_SECRET"):
        create_app()
    assert app.url_map.is_endpoint_expecting("order", "reference")
