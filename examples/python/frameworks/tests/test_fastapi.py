"""Unit tests of the shop on FastAPI, as a user writes them: no server, no network."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import kassa
import pytest
from fastapi.testclient import TestClient
from kassa.server.testing import sign_event
from kassa.testing import FakeGateway

from fastapi_shop import app, direct
from orders import Orders

# docs: begin event
SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSBzaG9wJ3MgdGVzdHM="


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Orders:
    monkeypatch.setenv("KASSA_SERVER_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("KASSA_API_KEY", "ak_test")
    monkeypatch.setenv("KASSA_EVENTS_SECRET", SECRET)
    monkeypatch.setenv("SHOP_URL", "https://shop.example.kg")
    monkeypatch.setenv("SHOP_DATABASE", str(tmp_path / "shop.db"))
    return Orders(str(tmp_path / "shop.db"))


def test_paid_order_waits_for_delivery(orders: Orders) -> None:
    orders.add("order-17")
    with TestClient(app.app) as client:
        signed = sign_event(SECRET, reference="order-17", amount="390")
        for _ in range(2):  # an event can come twice
            assert client.post("/events", content=signed.body, headers=signed.headers).status_code == 204
        forged = sign_event(SECRET, reference="order-17", now=0)
        assert client.post("/events", content=forged.body, headers=forged.headers).status_code == 401
    assert orders.list_in("paid") == ["order-17"]
    # docs: end event


def test_missing_setting_ends_the_start(orders: Orders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KASSA_API_KEY")
    with pytest.raises(ValueError, match="KASSA_API_KEY"), TestClient(app.app):
        pass
    assert orders.list_in("new") == []


# docs: begin fake
def test_charged_pay_form_is_in_the_journal(
    kassa_fake_gateway: FakeGateway, orders: Orders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = kassa_fake_gateway
    gateway = fake.async_gateway.with_journal(tmp_path / "payments")
    monkeypatch.setattr(kassa.AsyncGateway, "from_environment", Mock(return_value=gateway))
    monkeypatch.setenv("SHOP_JOURNAL", str(tmp_path / "payments"))
    monkeypatch.setenv("SHOP_CALLBACK_SECRET", "a secret of 32 bytes or more, ok")
    with TestClient(direct.app) as client:
        page_url = client.post("/buy", follow_redirects=False).headers["location"]
        notice = fake.charge(page_url)  # the payer pays
        (payment,) = fake.payments
        assert client.post(payment.callback_url or "", content=notice.callback).status_code == 204
        assert client.post("/callbacks", content=notice.callback).status_code == 400  # not signed
    (reference,) = orders.list_in("new")
    (entry,) = kassa.Journal(tmp_path / "payments").unfinished()
    assert isinstance(entry, kassa.JournalEntry)
    assert (entry.state, entry.note) == (kassa.JournalState.CHARGED, reference)
    # docs: end fake
