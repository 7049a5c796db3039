"""The client of the package kassa, `kassa.server`, at a real server."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

import pytest
from conftest import PATIENCE, Order
from kassa.server import (
    AsyncClient,
    Checkout,
    Client,
    Conflict,
    Event,
    EventError,
    NotFound,
    Problem,
    ServerUnavailable,
    WrongKey,
    verify_event,
)

from kassa_server.testing import KassaServer

NUMBERS = itertools.count(1)
BACK = "https://shop.example.kg/paid"


@pytest.fixture
def client(kassa_server: KassaServer) -> Iterator[Client]:
    with Client(kassa_server.url, kassa_server.api_key, timeout=PATIENCE) as client:
        yield client


def opened(client: Client, amount: Decimal | int | str = 390) -> Checkout:
    return client.open_checkout(f"client-{next(NUMBERS)}", amount, "Мёд", BACK)


def test_checkout_is_opened_and_found(client: Client) -> None:
    checkout = client.open_checkout(
        "client 0/ы",
        Decimal("390.50"),
        "Мёд",
        BACK,
        methods=["qr", "pay_form"],
        lifetime=timedelta(minutes=5),
        metadata={"cart": "81"},
        currency="KGS",
    )
    assert (checkout.amount, checkout.description, checkout.state) == (Decimal("390.50"), "Мёд", "open")
    assert (set(checkout.methods), checkout.metadata) == ({"qr", "pay_form"}, {"cart": "81"})
    assert checkout.expires_at - checkout.opened_at == timedelta(minutes=5)
    assert not checkout.is_paid
    assert client.checkout(checkout.id) == client.find_checkout("client 0/ы") == checkout
    assert client.find_checkout("client 0") is None


def test_opening_again_opens_nothing_new(client: Client) -> None:
    checkout = opened(client)
    again = client.open_checkout(checkout.reference, 390, "Мёд", BACK)
    assert again == checkout
    with pytest.raises(Conflict) as other:
        client.open_checkout(checkout.reference, 391, "Мёд", BACK)
    assert (other.value.status, other.value.kind) == (422, "reference_used")


def test_refusals_name_the_fields(client: Client, kassa_server: KassaServer) -> None:
    with pytest.raises(Problem) as refused:
        client.open_checkout("", "0", "Мёд", "nowhere")
    assert (refused.value.status, refused.value.kind) == (400, "invalid")
    assert {each.field for each in refused.value.violations} == {"reference", "amount", "return_url"}
    with pytest.raises(NotFound):
        client.checkout("co_00000000000000000000000000000000")
    with Client(kassa_server.url, "ak_wrong") as stranger, pytest.raises(WrongKey):
        stranger.events().__next__()


def test_checkout_is_cancelled_once(client: Client) -> None:
    checkout = opened(client)
    cancelled = client.cancel(checkout.id)
    assert (cancelled.state, cancelled.version) == ("cancelled", 1)
    # A repetition, as after a lost answer.
    assert client.cancel(checkout.id) == cancelled
    assert client.wait_for_change(checkout.id, after_version=0) == cancelled
    assert client.wait_for_change(checkout.id, after_version=1, wait=0) == cancelled


def test_tokens_are_made_and_revoked(client: Client, kassa_server: KassaServer) -> None:
    checkout = opened(client)
    token = client.new_token(checkout.id)
    assert token.lifetime > timedelta(minutes=1)
    assert token.token not in repr(token)
    assert kassa_server.request("GET", "/v1/checkout", key=token.token)["id"] == checkout.id
    assert client.revoke_tokens(checkout.id) == 1
    assert client.revoke_tokens(checkout.id) == 0


def test_payment_is_seen_until_it_is_paid(client: Client, kassa_server: KassaServer, order: Order) -> None:
    open_ = client.find_checkout(order.reference)
    assert open_ is not None
    [payment] = open_.payments
    assert (payment.method, payment.page_url, payment.failure) == ("pay_form", order.page_url, None)
    kassa_server.pay_by_form(order.page_url)
    client.check(open_.id)
    checkout = open_
    while not checkout.is_paid:
        checkout = client.wait_for_change(checkout.id, checkout.version)
    assert checkout.paid_by == payment.id
    events = [each for each in client.events(limit=2) if each.event.reference == order.reference]
    kinds = [each.event.kind for each in events]
    assert kinds == ["payment.created", "payment.accepted", "payment.charged", "checkout.paid"]
    assert events[2].event.payment is not None
    assert events[2].event.payment.state == "charged"
    # From the middle on.
    rest = [each.event for each in client.events(events[1].cursor) if each.event.reference == order.reference]
    assert rest == [each.event for each in events[2:]]
    with pytest.raises(Conflict) as known:
        client.resolve_payment(payment.id, "not_charged", reason="no such payment", by="Aida")
    assert known.value.status == 409
    assert (known.value.kind, known.value.state) == ("not_in_doubt", "charged")
    assert client.replay_events(checkout.id) == client.replay_events() == 0


def test_person_resolves_a_payment(client: Client, order: Order) -> None:
    resolved = client.resolve_payment(order.payment["id"], "charged", reason="It is in the statement", by="Айзада")
    assert resolved.state == "charged"
    checkout = client.find_checkout(order.reference)
    assert checkout is not None
    assert checkout.is_paid
    [event] = [each.event for each in client.events() if each.event.id and each.event.by == "Айзада"]
    assert (event.kind, event.reason, event.via and event.via.role) == (
        "payment.resolved",
        "It is in the statement",
        "shop",
    )


def test_async_calls_wait_side_by_side(client: Client, kassa_server: KassaServer) -> None:
    async def use() -> None:
        async with AsyncClient(kassa_server.url, kassa_server.api_key, timeout=PATIENCE) as asynchronous:
            checkouts = [opened(client) for _ in range(8)]
            waiting = [asyncio.create_task(asynchronous.wait_for_change(each.id, 0, wait=60)) for each in checkouts]
            for each in checkouts:
                await asynchronous.cancel(each.id)
            assert {each.state for each in await asyncio.gather(*waiting)} == {"cancelled"}
            references = {each.event.reference async for each in asynchronous.events()}
            assert references >= {each.reference for each in checkouts}

    asyncio.run(use())


def test_server_is_away_for_a_moment() -> None:
    with KassaServer() as server, Client(server.url, server.api_key, timeout=PATIENCE) as client:
        checkout = opened(client)
        server.kill()
        with pytest.raises(ServerUnavailable):
            client.checkout(checkout.id)
        server.restart()
        assert client.checkout(checkout.id) == checkout


class Receiver(ThreadingHTTPServer):
    """A shop that takes events."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.secrets: list[str] = []
        self.events: list[Event] = []
        self.paid = threading.Event()
        self.refused: list[str] = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        shop = cast("Receiver", self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            with pytest.raises(EventError):
                verify_event(body + b" ", self.headers, shop.secrets)
            shop.events.append(verify_event(body, self.headers, shop.secrets))
        except EventError as error:
            shop.refused.append(str(error))
        self.send_response(204)
        self.end_headers()
        if shop.refused or shop.events[-1].is_paid:
            shop.paid.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Says nothing."""


def test_servers_events_are_verified() -> None:
    with Receiver() as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_port}/events"
        with KassaServer(events_url=url) as server, Client(server.url, server.api_key, timeout=PATIENCE) as client:
            receiver.secrets = ["whsec_" + "A" * 32, server.events_secret]
            order = Order(server)
            server.pay_by_form(order.page_url)
            assert receiver.paid.wait(PATIENCE)
            assert receiver.refused == []
            assert [each.event for each in client.events()] == receiver.events
        receiver.shutdown()
