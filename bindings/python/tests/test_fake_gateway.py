"""What a test of a user's relies on: each flow, each fault, and the clock."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
import threading
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from raw_gateway import card_payment, mbank_payment, megapay_payment

import kassa
from kassa.testing import FakeFault, FakeGateway, FakePlan


@pytest.fixture
def fake() -> FakeGateway:
    return FakeGateway()


def pay_form() -> kassa.PayForm:
    return kassa.PayForm(
        amount=300, service_name="Tea", callback_url="https://s.kg/c", return_url="https://s.kg/r?cart=17"
    )


def test_card_payment_is_charged_when_its_payer_confirms(fake: FakeGateway) -> None:
    gateway = fake.gateway
    created = gateway.create_card_payment(card_payment(order_number="order-1"))
    stored = kassa.PaymentEntry.parse(str(created.entry()))
    assert isinstance(gateway.check(stored.payment), kassa.Pending)
    assert created.next_step == kassa.OpenConfirmation(stored.page_url or "")
    notice = fake.charge(stored.page_url or "")
    assert gateway.verify_callback(kassa.Callback.parse(notice.callback), stored.payment).is_charged
    [payment] = fake.payments
    assert (payment.kind, payment.status) == (kassa.PaymentKind.CARD, kassa.PaymentStatus.CHARGED)
    assert (payment.order_number, payment.amount, payment.currency) == ("order-1", Decimal("100.10"), "KGS")
    for recovered in ("order-1", "nobody's"):
        with pytest.raises(kassa.Invalid, match="payment"):
            fake.reject(recovered)


def test_mobile_bank_payment_is_charged_by_the_right_password_alone(fake: FakeGateway) -> None:
    gateway = fake.gateway
    entry = gateway.create_mbank_payment(mbank_payment()).entry()
    assert entry == kassa.PaymentEntry(entry.payment)
    with pytest.raises(kassa.Refused, match="WRONG_OTP"):
        gateway.confirm_mbank_payment(entry.payment, "000000")
    assert isinstance(gateway.check(entry.payment), kassa.Pending)
    gateway.confirm_mbank_payment(entry.payment, fake.otp)
    assert gateway.check(entry.payment).is_charged


def test_only_the_right_pin_charges_and_once(fake: FakeGateway) -> None:
    gateway, payment = fake.gateway, megapay_payment()
    checked = gateway.check_megapay(payment)
    assert (checked.commission, checked.total) == (Decimal("5.01"), Decimal("255.51"))
    assert checked.pin_lifetime == timedelta(minutes=3)
    assert checked.entry() == kassa.PaymentEntry(payment.payment_ref())
    with pytest.raises(kassa.Refused, match="WRONG_OTP"):
        gateway.pay_by_megapay(payment, "000000")
    assert isinstance(gateway.check(checked.payment), kassa.Pending)
    accepted = gateway.pay_by_megapay(payment, fake.otp)
    assert accepted.payment == payment.payment_ref()
    assert gateway.check(accepted.payment).is_charged
    with pytest.raises(kassa.Refused, match="NOT_FOUND"):
        gateway.pay_by_megapay(payment, fake.otp)
    with pytest.raises(kassa.OutcomeUnknown, match="ORDER_NUMBER_USED"):
        gateway.check_megapay(payment)
    assert [(each.kind, each.amount) for each in fake.payments] == [(kassa.PaymentKind.MEGAPAY, Decimal("250.50"))]


def test_megapay_payment_under_asyncio(fake: FakeGateway) -> None:
    async def flow() -> None:
        gateway, payment = fake.async_gateway, megapay_payment()
        checked = await gateway.check_megapay(payment)
        await gateway.pay_by_megapay(payment, fake.otp)
        assert (await gateway.check(checked.payment)).is_charged

    asyncio.run(flow())


def test_pay_form_is_verified_by_its_callback_and_its_return(fake: FakeGateway) -> None:
    gateway = fake.gateway
    created = gateway.create_pay_form(pay_form())
    assert created.entry() == kassa.PaymentEntry(created.payment, page_url=created.pay_form_url)
    notice = fake.charge(created.pay_form_url)
    callback = kassa.Callback.parse(notice.callback)
    assert gateway.verify_callback(callback, created.payment).is_charged
    assert notice.return_url is not None
    assert notice.return_url.startswith("https://s.kg/r?cart=17&")
    assert gateway.verify_return(kassa.ReturnRedirect.parse(notice.return_url), created.payment).is_charged
    # A cheaper one's callback does not pay for a dearer one.
    assert not gateway.verify_callback(callback, kassa.PaymentRef.pay_form(500)).is_charged


def test_qr_payments_are_charged_as_data_and_as_a_picture(fake: FakeGateway) -> None:
    gateway = fake.gateway
    data = gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=9990))
    assert data.entry() == kassa.PaymentEntry(data.payment, qr_text=data.payload)
    fake.charge(data.payload or "")
    assert gateway.check(data.payment).is_charged
    picture = gateway.create_qr_image(kassa.QrPayment(sum_tyiyn=9990))
    notice = fake.charge(fake.payments[-1].transaction_id or "")
    assert gateway.verify_callback(kassa.Callback.parse(notice.callback), picture.payment).is_charged


HOUR = timedelta(hours=1)
FAULTS = [
    (FakeFault.NO_CONNECTION, kassa.Unavailable, 0),
    (FakeFault.REQUEST_LOST, kassa.OutcomeUnknown, 0),
    (FakeFault.RESPONSE_LOST, kassa.OutcomeUnknown, 1),
    (FakeFault.NO_RESPONSE, kassa.OutcomeUnknown, 1),
    (FakeFault.refused("51", "NO_MONEY"), kassa.Refused, 0),
    (FakeFault.UNAUTHORIZED, kassa.Unauthorized, 0),
    (FakeFault.SERVER_ERROR, kassa.OutcomeUnknown, 0),
    (FakeFault.too_many_requests(HOUR), kassa.Unavailable, 0),
]


@pytest.mark.parametrize(("fault", "error", "made"), FAULTS, ids=lambda value: str(value))
def test_each_fault_does_what_it_says(
    fake: FakeGateway, fault: FakeFault, error: type[kassa.PaymentError], made: int
) -> None:
    fake.fail_next(fault)
    with pytest.raises(kassa.PaymentError) as caught:
        fake.gateway.create_mbank_payment(mbank_payment())
    assert (type(caught.value), len(fake.payments)) == (error, made)
    match caught.value:
        case kassa.Refused(code=code, reason=reason):
            assert (code, reason) == ("51", "NO_MONEY")
        case kassa.Unavailable(retry_after=retry_after) if fault.retry_after:
            assert retry_after == HOUR
        case _:
            pass
    # One call alone goes wrong.
    assert fake.gateway.create_mbank_payment(mbank_payment()).payment


def test_asyncio_meets_the_same_faults(fake: FakeGateway) -> None:
    async def flow() -> None:
        fake.fail_next(FakeFault.RESPONSE_LOST)
        with pytest.raises(kassa.OutcomeUnknown) as lost:
            await fake.async_gateway.create_card_payment(card_payment(order_number="order-1"))
        fake.charge("order-1")
        outcome = await fake.async_gateway.watch(lost.value.payment).outcome()
        assert isinstance(outcome, kassa.Charged)

    asyncio.run(flow())
    assert fake.gateway.check(kassa.PaymentRef.card("order-1", Decimal("100.10"), "KGS")).is_charged


def test_running_clock_keeps_no_watch_waiting(fake: FakeGateway) -> None:
    gateway = fake.gateway
    fake.plan(FakePlan.charge(after=45))
    payment = gateway.create_card_payment(card_payment()).payment
    outcome = gateway.watch(payment).outcome()
    assert isinstance(outcome, kassa.Charged)
    assert fake.now == timedelta(seconds=50), "the first tick after it was paid"
    fake.plan(FakePlan.STAY_PENDING)
    payment = gateway.create_card_payment(card_payment()).payment
    with pytest.raises(kassa.DeadlineExpired):
        asyncio.run(fake.async_gateway.watch(payment).outcome())


def test_stopped_clock_moves_by_the_test_alone(fake: FakeGateway) -> None:
    async def flow() -> None:
        fake.stop_clock()
        fake.plan(FakePlan.reject(after=timedelta(seconds=15)))
        created = await fake.async_gateway.create_card_payment(card_payment())
        async with fake.async_gateway.watch(created.payment) as watch:
            assert isinstance(await anext(watch), kassa.Pending)
            report = asyncio.create_task(anext(watch))
            for seconds in (9, 1):
                await asyncio.sleep(0)
                assert not report.done(), fake.now
                fake.advance(seconds)
            assert isinstance(await report, kassa.Pending)
            outcome = asyncio.create_task(watch.outcome())
            fake.start_clock()
            assert isinstance(await outcome, kassa.Rejected)
        assert fake.now == timedelta(seconds=20)

    asyncio.run(flow())


def test_thread_waits_for_a_stopped_clock(fake: FakeGateway) -> None:
    payment = fake.gateway.create_card_payment(card_payment()).payment
    fake.stop_clock()
    reports: list[kassa.WatchReport] = []
    watch = fake.gateway.watch(payment, kassa.PollPolicy(interval=10))
    assert isinstance(next(watch), kassa.Pending)
    waiting = threading.Thread(target=lambda: reports.append(next(watch)))
    waiting.start()
    fake.charge(payment.order_number or "")
    fake.advance(10)
    waiting.join()
    assert isinstance(reports[0], kassa.Charged)


def test_two_fakes_know_nothing_of_each_other(fake: FakeGateway) -> None:
    other = FakeGateway()
    other.fail_next(FakeFault.NO_CONNECTION)
    other.advance(5)
    payment = fake.gateway.create_card_payment(card_payment()).payment
    assert (other.payments, fake.now) == ((), timedelta())
    with pytest.raises(kassa.Unavailable):
        other.gateway.check(payment)
    with pytest.raises(kassa.Refused):
        other.gateway.check(payment)


def test_its_gateways_are_those_that_everybody_has(fake: FakeGateway) -> None:
    assert (type(fake.gateway), type(fake.async_gateway)) == (kassa.Gateway, kassa.AsyncGateway)
    assert fake.gateway is fake.gateway
    with pytest.raises(kassa.Invalid, match="phone"):
        fake.gateway.create_mbank_payment(mbank_payment(phone="?"))
    assert fake.gateway.with_deadline(5).create_pay_form(pay_form()).pay_form_url == fake.payments[0].page_url
    fake.gateway.close()
    with pytest.raises(kassa.Misconfigured, match="closed"):
        asyncio.run(fake.async_gateway.qr_status("t-1"))


def test_faults_and_plans_are_values(fake: FakeGateway) -> None:
    fake.gateway.create_pay_form(pay_form())
    for value in (
        FAULTS[0][0],
        FAULTS[4][0],
        FAULTS[7][0],
        FakePlan.STAY_PENDING,
        FakePlan.charge(2.5),
        fake.payments[0],
    ):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301
        assert type(value).__module__ == "kassa.testing"
    assert repr(FakeFault.refused("51", "NO")) == "FakeFault.refused(code='51', reason='NO')"
    assert repr(FakePlan.charge(2)) == "FakePlan.charge(after=datetime.timedelta(seconds=2))"
    assert FakePlan.reject().after == timedelta()
    seconds: Any = 2
    assert FakePlan("charge", seconds) == FakePlan.charge(2)
    assert FakeFault("too_many_requests", retry_after=seconds) == FakeFault.too_many_requests(2)
    with pytest.raises(TypeError, match="make another one"):
        copy.copy(fake)


def test_what_is_wrong_is_named(fake: FakeGateway) -> None:
    anything: Any = "response_lost"
    wrong = (
        (lambda: fake.fail_next(anything), TypeError, r"fault must be a kassa\.testing\.FakeFault, not str"),
        (lambda: fake.plan(anything), TypeError, r"plan must be a kassa\.testing\.FakePlan"),
        (lambda: fake.charge(fake.gateway.create_pay_form(pay_form())), TypeError, "payment must be a str"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (lambda: fake.advance(-1), ValueError, "by must not be negative"),
        (lambda: FakePlan("charge"), ValueError, "with a time"),
        (lambda: FakePlan.charge(-1), ValueError, "after must not be negative"),
        (lambda: FakeFault("refused"), ValueError, "with a code and a reason"),
        (lambda: FakeFault("no_response", code="51"), ValueError, "a fault is one of its constants"),
    )
    for call, kind, text in wrong:
        with pytest.raises(kind, match=text):
            call()


def test_test_takes_it_as_a_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        import kassa

        @pytest.mark.parametrize("round", range(2))
        def test_each_test_has_its_own(kassa_fake_gateway, round):
            form = kassa.PayForm(
                amount=390, service_name="Honey", callback_url="https://s.kg/c", return_url="https://s.kg/r"
            )
            kassa_fake_gateway.gateway.create_pay_form(form)
            assert len(kassa_fake_gateway.payments) == 1
    """)
    pytester.runpytest_subprocess("-W", "error", "-p", "no:xdist").assert_outcomes(passed=2)


def test_plugin_loads_no_native_library() -> None:
    """pytest loads the plugin wherever it is installed."""
    script = "import sys, kassa.pytest_plugin; sys.exit(any(name.startswith('kassa._native') for name in sys.modules))"
    subprocess.run([sys.executable, "-c", script], check=True)
