"""What the shop makes of the gateway's word, and what it refuses to start with."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import kassa
import pytest
from client import callback
from kassa.testing import FakeFault, FakeGateway

from shop import judging
from shop.catalogue import Cart
from shop.following import Follower
from shop.forms import read_expiry
from shop.judging import Judge
from shop.orders import AnotherGateway, Hint, Order, Orders, Payment, PaymentUnderWay
from shop.settings import Settings, WrongSettings
from shop.states import State

JAR = kassa.PaymentRef.pay_form(390)
CHARGED = kassa.Charged(JAR, kassa.StatusReport(kassa.PaymentStatus.CHARGED, amount=Decimal(390)), ("amount",))
REJECTED = kassa.Rejected(kassa.StatusReport(kassa.PaymentStatus.REJECTED))
NOWHERE = "http://127.0.0.1:9"
SOON = timedelta(milliseconds=10)
T = TypeVar("T")


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    orders = Orders(tmp_path / "shop.db", "a gateway")
    yield orders
    orders.close()


@pytest.fixture
def follower(orders: Orders) -> Follower:
    return new_follower(orders)


def new_gateway(url: str = NOWHERE) -> kassa.AsyncGateway:
    dialect = kassa.Dialect.from_json('{"qr_numbers": "transaction_id"}')
    return kassa.AsyncGateway(url, kassa.Credentials("shop", "password"), query_retries=0, dialect=dialect)


def new_follower(orders: Orders) -> Follower:
    return Follower(new_gateway(), orders, timedelta(seconds=1))


def in_a_loop_of_its_own(work: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: the browser's driver keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def begin(orders: Orders, order: Order | None = None) -> Payment:
    number = kassa.new_order_number()
    order = order or orders.add_order(Cart(1, gift_box=False))
    return orders.begin(order, number, kassa.PaymentRef.card(number, order.amount, order.currency))


def test_what_does_not_fit_is_never_called_paid_nor_unpaid(orders: Orders, follower: Follower) -> None:
    for verdict in (
        kassa.Contradicted(("amount",), CHARGED.report),
        kassa.Contradicted(("currency",), REJECTED.report),
        kassa.Unverifiable("no amount", CHARGED.report),
    ):
        payment = begin(orders)
        follower.settle(payment, verdict)
        settled = orders.payment(payment.id).state
        assert (settled, settled.leaves_order_open) == (State.UNCLEAR, False)


def test_an_open_payment_is_not_settled(orders: Orders, follower: Follower) -> None:
    payment = begin(orders)
    report = kassa.StatusReport(status=kassa.PaymentStatus.other("PAID_MAYBE"))
    follower.settle(payment, kassa.Open(payment.ref, report))
    assert orders.payment(payment.id) == payment


def test_what_is_over_stays_over(orders: Orders, follower: Follower) -> None:
    payment = begin(orders)
    follower.settle(payment, CHARGED)
    follower.settle(payment, REJECTED)
    assert not orders.move(payment.id, State.AWAITING_PAYER)
    assert orders.payment(payment.id).state == State.CHARGED


@pytest.mark.parametrize("end", [State.NOT_MADE, State.REJECTED])
def test_a_charge_is_believed_after_a_refusal(
    end: State, orders: Orders, follower: Follower, caplog: pytest.LogCaptureFixture
) -> None:
    alone = begin(orders)
    orders.move(alone.id, end)
    follower.settle(alone, CHARGED)
    assert orders.payment(alone.id).state == State.CHARGED

    order = orders.add_order(Cart(1, gift_box=False))
    refused = begin(orders, order)
    orders.move(refused.id, end)
    second = begin(orders, order)
    with pytest.raises(PaymentUnderWay):
        begin(orders, order)
    follower.settle(second, CHARGED)
    # Both took money: a person has to give one back.
    follower.settle(refused, CHARGED)
    assert "give one back" in caplog.text
    assert orders.latest_payment(order) == orders.payment(second.id)


def test_a_number_belongs_to_one_payment_however_it_is_spelled(orders: Orders) -> None:
    one, other = begin(orders), begin(orders)
    ref = JAR.with_claimed_number("PF-17", kassa.Provider.MBANK)
    assert orders.learn(one.id, ref)
    assert orders.learn(one.id, ref)
    assert not orders.learn(other.id, kassa.PaymentRef.qr(39000).with_transaction_id(" pf-17"))
    assert orders.payment(other.id) == other


def test_a_crash_leaves_what_may_have_been_sent_unknown(tmp_path: Path) -> None:
    async def crash_and_resume() -> list[State]:
        orders = Orders(tmp_path / "shop.db", "a gateway")
        fake = FakeGateway()
        gateway = fake.async_gateway.with_journal(tmp_path / "payments")
        unsent, sent, seen = (begin_pay_form(orders), begin(orders), begin_pay_form(orders))
        fake.fail_next(FakeFault.ANSWER_LOST)
        with pytest.raises(kassa.OutcomeUnknown):
            await gateway.create_card_payment(card_payment(sent))
        await gateway.create_pay_form(pay_form(seen))
        follower = Follower(gateway, orders, timedelta(seconds=1))
        follower.resume()
        states = [orders.payment(payment.id).state for payment in (unsent, sent, seen)]
        await follower.stop()
        entry = follower.entry(orders.payment(seen.id))
        assert entry is not None
        assert entry.page_url is not None, "the payer can be shown the page again"
        orders.close()
        return states

    assert in_a_loop_of_its_own(crash_and_resume()) == [State.NOT_MADE, State.UNKNOWN, State.AWAITING_PAYER]


def test_what_nobody_looks_at_is_settled_and_finished_once_it_is_paid(tmp_path: Path) -> None:
    async def settle() -> list[State]:
        orders = Orders(tmp_path / "shop.db", "a gateway")
        fake = FakeGateway()
        gateway = fake.async_gateway.with_journal(tmp_path / "payments")
        paid, declined, open_one = (begin(orders) for _ in range(3))
        for payment in (paid, declined, open_one):
            await gateway.create_card_payment(card_payment(payment))
        fake.charge(paid.id)
        fake.reject(declined.id)
        fake.stop_clock()
        follower = Follower(gateway, orders, SOON)
        follower.resume()
        await until(lambda: orders.payment(declined.id).state.is_over and len(list(unfinished.unfinished())) == 1)
        await follower.stop()
        states = [orders.payment(payment.id).state for payment in (paid, declined, open_one)]
        orders.close()
        return states

    unfinished = kassa.Journal(tmp_path / "payments")
    assert in_a_loop_of_its_own(settle()) == [State.CHARGED, State.REJECTED, State.AWAITING_PAYER]
    [left] = unfinished.unfinished()
    assert isinstance(left, kassa.JournalEntry)
    assert left.state == kassa.JournalState.OPEN


def begin_pay_form(orders: Orders) -> Payment:
    payment_id = kassa.new_order_number()
    return orders.begin(orders.add_order(Cart(1, gift_box=False)), payment_id, JAR.with_entry_id(payment_id))


def pay_form(payment: Payment) -> kassa.PayForm:
    return kassa.PayForm(
        amount=390, service_name="Honey", callback_url=NOWHERE, return_url=NOWHERE, entry_id=payment.id
    )


def card_payment(payment: Payment) -> kassa.CardPayment:
    return kassa.CardPayment(
        order_number=payment.id,
        description="Honey",
        amount=390,
        currency="KGS",
        card=kassa.Card("4111111111111111", "12", 2099, "123", "Aibek Asanov"),
        language="en",
        callback_url=NOWHERE,
        ip="203.0.113.7",
    )


def test_a_callback_is_not_forgotten_while_the_gateway_is_away_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(judging, "MOST_ATTEMPTS", 2)
    monkeypatch.setattr(judging, "SLOW_PAUSE", 0.01)
    caplog.set_level(logging.INFO, "shop")

    def attempts() -> int:
        return caplog.text.count("a callback could not be checked")

    async def wait_for_attempts() -> int:
        orders = Orders(tmp_path / "shop.db", "a gateway")
        gateway = new_gateway()
        judge = Judge(gateway, orders, Follower(gateway, orders, SOON), SOON)
        order = orders.add_order(Cart(1, gift_box=False))
        payment = orders.begin(order, "form", JAR)
        orders.add_hint(payment.id, Hint("key", "callback", callback("PF-1", "MBank").decode()))
        judge.look(payment.id)
        await until(lambda: attempts() >= 5)
        await judge.stop()
        count = len(orders.open_hints(payment.id))
        orders.close()
        return count

    assert in_a_loop_of_its_own(wait_for_attempts()) == 1


class Amountless(BaseHTTPRequestHandler):
    """A gateway that says of every payment that it was charged, and with ``amount`` how much that was."""

    amount: str | None = None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        told = "" if self.amount is None else f', "amount": {self.amount}'
        self._answer(200, f'{{"code": "200", "data": {{"status": "CHARGE"{told}}}}}')

    def do_GET(self) -> None:
        """It knows of no QR transaction."""
        self._answer(404, '{"code": "404", "message": "no such transaction"}')

    def _answer(self, http_status: int, text: str) -> None:
        body = text.encode()
        self.send_response(http_status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name
        pass


@pytest.mark.parametrize(("amount", "state"), [("390", State.CHARGED), ("1", State.AWAITING_PAYER)])
@pytest.mark.parametrize(
    "hint",
    [Hint("key", "callback", callback("PF-cheap", "MBank").decode()), Hint("key", "return", "PF-cheap")],
    ids=["callback", "return"],
)
def test_a_number_without_an_amount_proves_nothing_until_there_is_one(
    hint: Hint, amount: str, state: State, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Anybody can say in a callback what an order costs, and name a cheaper payment of their own."""
    caplog.set_level(logging.INFO, "shop")

    class Gateway(Amountless):
        pass

    async def judge_twice() -> list[State]:
        orders = Orders(tmp_path / "shop.db", "a gateway")
        async with new_gateway(f"http://127.0.0.1:{server.server_port}") as gateway:
            judge = Judge(gateway, orders, Follower(gateway, orders, SOON), SOON)
            order = orders.add_order(Cart(1, gift_box=False))
            payment = orders.begin(order, "form", JAR)
            orders.move(payment.id, State.AWAITING_PAYER)
            orders.add_hint(payment.id, hint)
            judge.look(payment.id)
            await until(lambda: "proves nothing so far" in caplog.text)
            states = [orders.payment(payment.id).state]
            Gateway.amount = amount
            await until(lambda: not orders.open_hints(payment.id))
            states.append(orders.payment(payment.id).state)
            await judge.stop()
        orders.close()
        return states

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert in_a_loop_of_its_own(judge_twice()) == [State.AWAITING_PAYER, state]
        server.shutdown()


def test_a_pay_form_that_is_paid_twice_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Gateway(Amountless):
        amount = "390"

    async def judge_both() -> State:
        orders = Orders(tmp_path / "shop.db", "a gateway")
        async with new_gateway(f"http://127.0.0.1:{server.server_port}") as gateway:
            judge = Judge(gateway, orders, Follower(gateway, orders, SOON), SOON)
            order = orders.add_order(Cart(1, gift_box=False))
            payment = orders.begin(order, "form", JAR)
            for number in ("PF-1", "PF-2"):
                assert "give one back" not in caplog.text
                orders.add_hint(payment.id, Hint(number, "callback", callback(number, "MBank").decode()))
                judge.look(payment.id)
                await until(lambda: not orders.open_hints(payment.id))
            await judge.stop()
            state = orders.payment(payment.id).state
        orders.close()
        return state

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert in_a_loop_of_its_own(judge_both()) == State.CHARGED
        server.shutdown()
    assert "CHARGED a second time, as 'PF-2': give one back" in caplog.text


async def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.01)


def test_hints_are_kept_once_and_not_without_end(orders: Orders) -> None:
    payment = begin(orders)
    hints = [Hint(f"key-{count:02}", "callback", "{}") for count in range(21)]
    assert [orders.add_hint(payment.id, hint) for hint in hints] == [True] * 20 + [False]
    orders.close_hint(payment.id, hints[0])
    assert orders.add_hint(payment.id, hints[0])
    assert orders.open_hints(payment.id) == hints[1:20]


def test_a_database_is_used_with_its_own_gateway_only(tmp_path: Path) -> None:
    Orders(tmp_path / "shop.db", "https://pay.example.kg").close()
    with pytest.raises(AnotherGateway, match="use another folder"):
        Orders(tmp_path / "shop.db", "https://other.example.kg")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12/39", ("12", 2039)), ("8 / 2031", ("08", 2031)), ("1239", ("", 0)), ("13-39", ("13", 2039)), ("", ("", 0))],
)
def test_expiry_dates_are_read_as_people_write_them(text: str, expected: tuple[str, int]) -> None:
    assert read_expiry(text) == expected


REAL = {"KASSA_URL": "https://pay.example.kg/", "KASSA_LOGIN": "shop", "KASSA_PASSWORD": "secret"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "SHOP_PUBLIC_URL is needed"),
        ({"KASSA_PASSWORD": ""}, "KASSA_PASSWORD is needed"),
        ({"SHOP_PUBLIC_URL": "shop.example.kg"}, "SHOP_PUBLIC_URL must be"),
        ({"KASSA_URL": "ftp://pay.example.kg"}, "KASSA_URL must be"),
        ({"KASSA_URL": NOWHERE, "SHOP_PORT": "a"}, "SHOP_PORT must be"),
        ({"KASSA_URL": NOWHERE, "KASSA_DIALECT": "no-such-file"}, "KASSA_DIALECT names a file"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, str], problem: str) -> None:
    with pytest.raises(WrongSettings, match=problem):
        Settings.read(REAL | change)


def test_settings_never_show_the_password() -> None:
    settings = Settings.read(REAL | {"SHOP_PUBLIC_URL": "https://shop.example.kg/"})
    assert settings.public_url == "https://shop.example.kg"
    assert settings.poll_interval == timedelta(seconds=10)
    assert "secret" not in repr(settings)
