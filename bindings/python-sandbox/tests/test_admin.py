"""What the sandbox tells of itself, and what can be changed while it runs; paid through the SDK."""

from __future__ import annotations

import json
import time
import typing
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import kassa
import pytest
from conftest import PATIENCE, Receiver, Shop

from kassa_sandbox import (
    AdminRefused,
    CallbackAttempt,
    DialectName,
    Endpoint,
    FaultName,
    MbankQuid,
    Sandbox,
    UnknownPayment,
    cards,
    phones,
)
from kassa_sandbox.values import moment


def test_ledger_tells_what_happened(kassa_sandbox: Sandbox, shop: Shop) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=2)
    shop.pay_by_card("order-1")
    created = shop.pay_by_card("order-2", cards.APPROVED.pan)
    charged, open_one = kassa_sandbox.ledger()
    assert (charged.kind, charged.provider, charged.currency) == ("card", "Cards", "KGS")
    assert str(charged.amount) == "100.10"
    assert (charged.status, charged.code, charged.times_charged) == ("CHARGE", "200", 1)
    assert charged.is_charged
    assert before < charged.created_at < datetime.now(timezone.utc) + timedelta(seconds=2)
    assert (open_one.order_number, open_one.status, open_one.times_charged) == ("order-2", "CREATED", 0)
    assert not open_one.is_charged
    with pytest.raises(TypeError, match=r"use payment\.is_charged"):
        bool(open_one)
    assert open_one.gateway_number == created.payment.gateway_number
    assert kassa_sandbox.payment("order-2") == open_one
    assert kassa_sandbox.ledger("nobody") == ()
    with pytest.raises(UnknownPayment, match="nobody"):
        kassa_sandbox.payment("nobody")


def test_amounts_of_every_kind_are_exact(kassa_sandbox: Sandbox, shop: Shop) -> None:
    shop.ask_for_otp("order-1")
    shop.gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=9990))
    shop.gateway.create_qr_data(kassa.QrPayment())
    shop.gateway.create_pay_form(
        kassa.PayForm(
            amount=Decimal("300.05"),
            service_name="Tea",
            callback_url="http://127.0.0.1:9/c",
            return_url="https://shop.example.kg/back",
        )
    )
    mbank, qr, open_qr, form = kassa_sandbox.ledger()
    assert [payment.kind for payment in (mbank, qr, open_qr, form)] == ["mbank", "qr", "qr", "pay_form"]
    assert [mbank.amount, qr.amount, open_qr.amount, form.amount] == [250, 9990, None, Decimal("300.05")]
    assert all(isinstance(payment.amount, Decimal) for payment in (mbank, qr, form))
    assert form.provider is None


def test_every_request_is_told(kassa_sandbox: Sandbox, shop: Shop) -> None:
    shop.pay_by_card("order-1")
    shop.status("order-1")
    kassa_sandbox.faults.add("response-lost", times=1)
    with pytest.raises(kassa.OutcomeUnknown):
        shop.pay_by_card("order-2")
    told = [(it.endpoint, it.order_number, it.fault) for it in kassa_sandbox.requests()]
    assert told == [
        ("payment", "order-1", None),
        ("get-status", "order-1", None),
        ("payment", "order-2", "response-lost"),
    ]
    first, second = kassa_sandbox.requests("order-1")
    assert (first.http_status, second.http_status) == (200, 200)
    assert first.at <= second.at


def delivered(sandbox: Sandbox, wanted: Callable[[CallbackAttempt], bool]) -> CallbackAttempt:
    """The attempt that is wanted; one is told of only after its receiver has answered."""
    deadline = time.monotonic() + PATIENCE
    while True:
        for attempt in sandbox.callbacks("order-1"):
            if wanted(attempt):
                return attempt
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_every_callback_is_told(kassa_sandbox: Sandbox, shop: Shop, receiver: Receiver) -> None:
    shop.pay_by_card("order-1", cards.APPROVED.pan, receiver.url)
    kassa_sandbox.approve("order-1")
    received = receiver.next()
    while received["status"] != "CHARGE":
        received = receiver.next()
    told = delivered(kassa_sandbox, lambda attempt: attempt.status == "CHARGE")
    assert (told.order_number, told.url, told.attempt, told.http_status) == ("order-1", receiver.url, 1, 204)
    assert (told.error, told.fault) == (None, None)
    assert told.at >= kassa_sandbox.payment("order-1").created_at
    assert json.loads(told.body) == received
    assert kassa_sandbox.callbacks("order-2") == ()


def test_forged_callback_is_told_from_a_true_one(kassa_sandbox: Sandbox, shop: Shop, receiver: Receiver) -> None:
    kassa_sandbox.faults.add("callback-forged", order_number="order-1", times=1)
    shop.pay_by_card("order-1", callback_url=receiver.url)
    assert receiver.next()["amount"] != receiver.next()["amount"]
    forged = delivered(kassa_sandbox, lambda attempt: attempt.fault == "callback-forged")
    assert json.loads(forged.body, parse_float=Decimal)["amount"] != kassa_sandbox.payment("order-1").amount
    assert kassa_sandbox.payment("order-1").times_charged == 1


def test_payers_are_played(kassa_sandbox: Sandbox, shop: Shop) -> None:
    created = shop.pay_by_card("order-1", cards.APPROVED.pan)
    assert created.payment.gateway_number is not None
    assert kassa_sandbox.approve(created.payment.gateway_number).status == "CHARGE"
    assert shop.status("order-1") == kassa.PaymentStatus.CHARGED
    with pytest.raises(AdminRefused) as decided:
        kassa_sandbox.decline("order-1")
    assert decided.value.http_status == 409
    shop.ask_for_otp("order/2 ?")
    assert kassa_sandbox.decline("order/2 ?").status == "Reject"
    with pytest.raises(UnknownPayment, match="nobody"):
        kassa_sandbox.approve("nobody")


def test_qr_code_without_a_sum_is_paid_with_one(kassa_sandbox: Sandbox, shop: Shop) -> None:
    number = shop.gateway.create_qr_data(kassa.QrPayment()).transaction_id
    assert number is not None
    with pytest.raises(AdminRefused, match="tyiyn"):
        kassa_sandbox.approve(number)
    paid = kassa_sandbox.approve(number, sum_tyiyn=12550)
    assert (paid.transaction_id, str(paid.amount), paid.is_charged) == (number, "12550", True)


def test_switches_are_read_and_changed(kassa_sandbox: Sandbox, shop: Shop) -> None:
    before = kassa_sandbox.switches.read()
    assert before.reused_order_number == "refuse"
    after = kassa_sandbox.switches.change(reused_order_number="charge-twice", language="ru")
    assert (after.reused_order_number, after.language) == ("charge-twice", "ru")
    assert after.status_numbers == before.status_numbers
    shop.pay_by_card("order-1")
    shop.pay_by_card("order-1")
    assert kassa_sandbox.payment("order-1").times_charged == 2
    with pytest.raises(AdminRefused) as refused:
        kassa_sandbox.switches.change(language="de")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert [field for field, _ in refused.value.violations] == ["language"]
    kassa_sandbox.reset()
    assert kassa_sandbox.switches.read() == before


@pytest.mark.parametrize("dialect", typing.get_args(DialectName))
def test_each_dialect_comes_with_what_the_sdk_has_to_know(kassa_sandbox: Sandbox, dialect: DialectName) -> None:
    kassa_sandbox.switches.change(acts_as=dialect)
    shop = Shop(kassa_sandbox, dialect)
    with shop.gateway:
        created = shop.ask_for_otp("order-1")
        shop.gateway.confirm_mbank_payment(created.payment, phones.MBANK_APPROVED.otp)
        report = shop.gateway.provider_status("order-1", kassa.Provider.MBANK)
        assert (report.status, report.amount) == (kassa.PaymentStatus.CHARGED, Decimal(250))
        qr = shop.gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=9990))
        transaction = kassa_sandbox.ledger()[-1].transaction_id or ""
        assert transaction in (qr.payload or ""), "the code says it"
        assert qr.transaction_id == transaction


@pytest.mark.parametrize(("place", "is_confirmed"), [("field", True), ("order-number", False), ("not-sent", False)])
def test_quid_is_taken_at_one_place(kassa_sandbox: Sandbox, place: MbankQuid, *, is_confirmed: bool) -> None:
    kassa_sandbox.switches.change(acts_as="finipay", mbank_quid=place)
    shop = Shop(kassa_sandbox, "finipay")
    with shop.gateway:
        created = shop.ask_for_otp("order-1")
        if is_confirmed:
            shop.gateway.confirm_mbank_payment(created.payment, phones.MBANK_APPROVED.otp)
        else:
            with pytest.raises(kassa.PaymentError):
                shop.gateway.confirm_mbank_payment(created.payment, phones.MBANK_APPROVED.otp)
    assert kassa_sandbox.payment("order-1").is_charged == is_confirmed


def test_fault_strikes_as_often_as_it_was_told(kassa_sandbox: Sandbox, shop: Shop) -> None:
    with kassa_sandbox.faults.add("response-lost", order_number="order-1", endpoint="payment", times=1) as fault:
        assert fault.struck == 0
        shop.pay_by_card("order-2")
        with pytest.raises(kassa.OutcomeUnknown):
            shop.pay_by_card("order-1")
        assert fault.struck == 1
        assert shop.status("order-1") == kassa.PaymentStatus.CHARGED
    assert fault.struck == 1
    assert kassa_sandbox.payment("order-1").times_charged == 1
    assert kassa_sandbox.faults.list() == ()


def test_fault_ends_when_it_is_removed(kassa_sandbox: Sandbox, shop: Shop) -> None:
    fault = kassa_sandbox.faults.add("unavailable")
    other = kassa_sandbox.faults.add("callback-lost", order_number="order-9", probability=0.5, seed=7)
    listed = kassa_sandbox.faults.list()
    assert [(it.id, it.name, it.order_number) for it in listed] == [
        (fault.id, "unavailable", None),
        (other.id, "callback-lost", "order-9"),
    ]
    assert listed[1].probability == 0.5
    with pytest.raises(kassa.Unavailable):
        shop.status("order-1")
    fault.remove()
    fault.remove()
    assert fault.struck == 1
    with pytest.raises(kassa.Refused):
        shop.status("order-1")
    kassa_sandbox.faults.clear()
    assert kassa_sandbox.faults.list() == ()
    other.remove()
    assert other.struck == 0


def test_fault_from_before_a_restart_ends_no_other(kassa_sandbox: Sandbox, shop: Shop) -> None:
    with kassa_sandbox.faults.add("delay", order_number="order-1", delay=timedelta(milliseconds=1)) as fault:
        shop.pay_by_card("order-1")
        assert fault.struck == 1
        kassa_sandbox.restart()
        other = kassa_sandbox.faults.add("drip")
    assert fault.struck == 1
    assert [it.name for it in kassa_sandbox.faults.list()] == [other.name]


def test_delay_is_given_as_a_duration(kassa_sandbox: Sandbox, shop: Shop) -> None:
    kassa_sandbox.faults.add("retry-after", retry_after=timedelta(minutes=2), times=1)
    with pytest.raises(kassa.Unavailable) as busy:
        shop.pay_by_card("order-1")
    assert busy.value.retry_after == timedelta(minutes=1), "a minute at most, whatever the gateway says"
    with kassa_sandbox.faults.add("delay", delay=timedelta(milliseconds=1)) as fault:
        shop.pay_by_card("order-1")
        assert fault.struck == 1
    with pytest.raises(ValueError, match="retry_after"):
        kassa_sandbox.faults.add("retry-after", retry_after=timedelta(seconds=0.5))


def test_wrong_fault_is_refused_by_its_field(kassa_sandbox: Sandbox) -> None:
    with pytest.raises(AdminRefused, match="name") as refused:
        kassa_sandbox.faults.add("no-such-fault")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert refused.value.http_status == 400
    assert [field for field, _ in refused.value.violations] == ["name"]
    with pytest.raises(AdminRefused, match="probability"):
        kassa_sandbox.faults.add("delay", delay=timedelta(1), probability=2)
    assert kassa_sandbox.faults.list() == ()


NEEDED: dict[str, dict[str, typing.Any]] = {
    "delay": {"delay": timedelta(seconds=1)},
    "callback-late": {"delay": timedelta(seconds=1)},
}


@pytest.mark.parametrize("name", typing.get_args(FaultName))
def test_sandbox_knows_every_fault(kassa_sandbox: Sandbox, name: FaultName) -> None:
    kassa_sandbox.faults.add(name, **NEEDED.get(name, {}))
    assert [fault.name for fault in kassa_sandbox.faults.list()] == [name]


@pytest.mark.parametrize("endpoint", typing.get_args(Endpoint))
def test_sandbox_knows_every_endpoint(kassa_sandbox: Sandbox, endpoint: Endpoint) -> None:
    kassa_sandbox.faults.add("unavailable", endpoint=endpoint)
    assert [fault.endpoint for fault in kassa_sandbox.faults.list()] == [endpoint]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20T09:05:07Z", datetime(2026, 11, 20, 9, 5, 7, tzinfo=timezone.utc)),
        ("2026-11-20T09:05:07.5+06:00", datetime(2026, 11, 20, 3, 5, 7, 500_000, tzinfo=timezone.utc)),
        ("2026-11-20T09:05:07.123456789Z", datetime(2026, 11, 20, 9, 5, 7, 123_456, tzinfo=timezone.utc)),
    ],
)
def test_moments_are_read_in_every_form(text: str, expected: datetime) -> None:
    assert moment(text) == expected


def test_clock_steps_forward_and_resolves_what_is_pending(kassa_sandbox: Sandbox, shop: Shop) -> None:
    assert kassa_sandbox.clock.read().ahead == timedelta()
    kassa_sandbox.faults.add("stuck-pending")
    shop.pay_by_card("held")
    assert kassa_sandbox.payment("held").status == "PENDING"
    kassa_sandbox.clock.forward(timedelta(days=1))
    assert kassa_sandbox.payment("held").status == "PENDING"
    values = kassa_sandbox.clock.resolve_pending(after=timedelta(hours=1), after_queries=9)
    assert (values.resolve_after, values.resolve_after_queries) == (timedelta(hours=1), 9)
    assert values.ahead == timedelta(days=1)
    assert values.now > datetime.now(timezone.utc) + timedelta(hours=23)
    deadline = time.monotonic() + PATIENCE
    while kassa_sandbox.payment("held").status != "CHARGE":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert kassa_sandbox.clock.resolve_pending().resolve_after is None
    with pytest.raises(ValueError, match="whole number of milliseconds"):
        kassa_sandbox.clock.forward(timedelta(microseconds=1))
    kassa_sandbox.reset()
    assert kassa_sandbox.clock.read().ahead == timedelta()
