"""Uses every public name as a program would. It is for the type checkers, and is never run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from typing_extensions import assert_never, assert_type

import kassa
from kassa import checkout
from kassa.testing import FakeFault, FakeGateway, FakeNotification, FakePayment, FakePlan


def settings() -> tuple[kassa.Gateway, kassa.AsyncGateway]:
    credentials = kassa.Credentials("shop", "secret")
    gateway = kassa.Gateway(
        "https://pay.example.kg",
        credentials,
        connect_timeout=timedelta(seconds=5),
        query_deadline=timedelta(seconds=20),
        query_retries=1,
        status_query=kassa.StatusQueryForm.QUERY_STRING,
        dialect=kassa.Dialect.named("finipay"),
        extra_root_certificates=["-----BEGIN CERTIFICATE-----"],
        proxy=kassa.Proxy.environment(),
        user_agent_suffix=f"my-shop/{kassa.__version__}",
        check_luhn=True,
        plain_http_hosts=["sandbox"],
    )
    proxies = [kassa.Proxy.direct(), kassa.Proxy.url("http://proxy.example:3128")]
    assert_type(kassa.Unavailable("HTTP 429", 7.5).retry_after, timedelta | None)
    in_seconds = kassa.Gateway("https://pay.example.kg", credentials, connect_timeout=5, payment_deadline=2.5)
    assert_type(in_seconds, kassa.Gateway)
    return gateway, kassa.AsyncGateway("https://pay.example.kg", credentials, proxy=proxies[0])


def write_a_dialect(response: str) -> kassa.Dialect:
    assert_type(kassa.Dialect.names(), tuple[str, ...])
    dialect = kassa.Dialect.from_json(kassa.Dialect.named("finipay").to_json())
    assert_type(dialect.advice(), tuple[kassa.Advice, ...])
    reading = assert_type(dialect.explain("qr_status", response), kassa.DialectReading)
    assert_type((reading.code_means, reading.status_means, reading.problem), tuple[str | None, str | None, str | None])
    assert_type((reading.fields, reading.unread), tuple[tuple[kassa.DialectField, ...], tuple[str, ...]])
    assert_type([(field.name, field.pointer, field.value) for field in reading.fields], list[tuple[str, str, str]])
    return dialect


def typed(text: str) -> kassa.Card | str:
    form = kassa.CardInput().with_number(text).with_expiry(text).with_cvc(text).with_holder_name(text).as_of(2026, 11)
    assert_type(form.number + form.expiry + form.cvc + form.holder_name, str)
    assert_type(form.number_lengths, tuple[int, ...])
    assert_type(form.brand, kassa.CardBrand)
    for state in (form.number_state, form.expiry_state, form.cvc_state, form.holder_name_state):
        match state:
            case kassa.Wrong(violation):
                return assert_type(violation.text_in(kassa.Language.from_tag("ru-KG")), str)
            case kassa.Complete() | kassa.Incomplete():
                pass
            case _:
                assert_never(state)
    return form.card()


def pay_by_card(gateway: kassa.Gateway) -> str | None:
    card = kassa.Card("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov")
    assert_type(card.masked_number, str)
    payment = kassa.CardPayment(
        order_number=kassa.new_order_number(),
        description="Two tickets",
        amount=Decimal("100.10"),
        currency="KGS",
        card=card,
        language="ky",
        callback_url="https://shop.example.kg/callback",
        ip="203.0.113.7",
    )
    for advice in payment.advice():
        assert_type(advice, kassa.Advice)
        assert_type(advice.topic, kassa.AdviceTopic)
        assert_type(advice.text_in(kassa.Language.KYRGYZ), str)
    try:
        created = gateway.create_card_payment(payment)
    except kassa.PaymentError as error:
        return on_error(error)
    assert_type(created, kassa.CardPaymentCreated)
    entry = kassa.PaymentEntry.parse(str(created.entry()))
    assert_type((entry.payment, entry.page_url, entry.qr_text), tuple[kassa.PaymentRef, str | None, str | None])
    step: kassa.NextStep = created.next_step
    match step:
        case kassa.OpenConfirmation(url):
            return assert_type(url, str)
        case kassa.CheckStatus(status):
            return assert_type(status, str | None)
        case _:
            assert_never(step)


def on_error(error: kassa.PaymentError) -> str:
    assert_type(error.payment_may_exist, bool)
    assert_type(error.kind, str)
    assert_type(error.is_retryable, bool)
    assert_type((error.http_status, error.code, error.body), tuple[int | None, str | None, str | None])
    match error:
        case kassa.Invalid(violations):
            assert_type(violations, tuple[kassa.Violation, ...])
            return ", ".join(str(violation.rule is kassa.Rule.REQUIRED) for violation in violations)
        case kassa.Misconfigured(detail) | kassa.Unauthorized(detail) | kassa.Unexpected(detail):
            return assert_type(detail, str)
        case kassa.Unavailable(retry_after=retry_after):
            assert_type(retry_after, timedelta | None)
        case kassa.Refused(code, http_status=http_status, reason=reason, body=body):
            assert_type(code, str | None)
            assert_type(http_status, int | None)
            return f"{reason}{body}"
        case kassa.OutcomeUnknown(payment):
            return str(assert_type(payment, kassa.PaymentRef))
        case kassa.DeadlineExpired(last):
            assert_type(last, kassa.StatusReport | None)
        case _:
            pass
    return error.describe()


def pay_by_mobile_bank(gateway: kassa.Gateway) -> kassa.Verdict | None:
    payment = kassa.MbankPayment(order_number="o-1", phone="996700000001", amount_som=Decimal(250), comment="Tea")
    assert_type(payment.amount_som, int)
    created = assert_type(gateway.create_mbank_payment(payment), kassa.MbankPaymentCreated)
    response = gateway.confirm_mbank_payment(created.payment, "123456")
    assert_type(response, kassa.MbankConfirmed)
    policy = kassa.PollPolicy(interval=timedelta(seconds=5))
    assert_type(kassa.PollPolicy(2.5, deadline=60).interval, timedelta)
    with gateway.watch(response.payment, policy) as watch:
        assert_type(watch, kassa.StatusWatch)
        for report in watch:
            on_report(report)
    return gateway.watch(payment.payment_ref()).outcome()


def pay_by_megapay(gateway: kassa.Gateway, pin: str) -> kassa.PaymentRef:
    payment = kassa.MegapayPayment(order_number="o-1", amount=Decimal("250.50"), phone="996700000001", account="7")
    checked = assert_type(gateway.check_megapay(payment), kassa.MegapayChecked)
    assert_type((checked.commission, checked.total), tuple[Decimal | None, Decimal | None])
    assert_type((checked.pin_lifetime, checked.entry()), tuple[timedelta | None, kassa.PaymentEntry])
    accepted = assert_type(gateway.pay_by_megapay(payment, pin), kassa.MegapayAccepted)
    assert_type((accepted.transaction_id, accepted.status), tuple[str | None, str | None])
    return kassa.PaymentRef.megapay("o-1", 250)


def on_report(report: kassa.WatchReport) -> None:
    match report:
        case kassa.QueryFailed(error):
            on_error(error)
        case verdict:
            on_verdict(verdict)


def on_verdict(verdict: kassa.Verdict) -> kassa.PaymentRef | None:
    assert_type((verdict.is_charged, verdict.payment), tuple[bool, kassa.PaymentRef])
    assert_type(verdict.report, kassa.StatusReport | None)
    match verdict:
        case kassa.Charged(payment, report, compared):
            assert_type(report, kassa.StatusReport)
            assert_type(compared, tuple[str, ...])
            return payment
        case kassa.Pending(payment):
            return payment
        case kassa.Rejected(payment, report):
            assert_type(report, kassa.StatusReport)
        case kassa.Mismatch(payment, fields, report):
            assert_type((fields, report), tuple[tuple[str, ...], kassa.StatusReport | None])
        case kassa.Unverifiable(payment, why, report):
            assert_type((why, report), tuple[str, kassa.StatusReport | None])
        case _:
            assert_never(verdict)
    return None


def show_qr(gateway: kassa.Gateway) -> bytes:
    payment = kassa.QrPayment(sum_tyiyn=kassa.som_to_tyiyn(kassa.tyiyn_to_som(5)))
    assert_type(payment.payment_ref(), kassa.PaymentRef)
    assert_type(gateway.create_qr_image(payment).payment, kassa.PaymentRef)
    data = assert_type(gateway.create_qr_data(payment), kassa.QrData)
    assert_type(data.advice(), tuple[kassa.Advice, ...])
    assert_type(gateway.qr_status(data.transaction_id or ""), kassa.StatusReport)
    read = assert_type(kassa.Elqr.parse(data.payload or ""), kassa.Elqr)
    read.check(payment.sum_tyiyn or 0)
    assert_type((read.kind, read.amount_tyiyn), tuple[kassa.ElqrKind, int | None])
    assert_type(read.fields, tuple[kassa.ElqrField, ...])
    assert_type(read.bank_links(), tuple[kassa.BankLink, ...])
    made = kassa.Elqr(kind=kassa.ElqrKind.STATIC, provider="qr.example.kg", service_code="02", mcc="5812", payee="SHOP")
    assert_type(made.text(), str)
    code = kassa.QrCode.encode(data.payload or "", kassa.QrLevel.HIGH)
    assert_type(code.modules(), tuple[tuple[bool, ...], ...])
    return code.png(kassa.QR_PNG_SIDE) + code.svg().encode() + code.text().encode()


def take_a_callback(gateway: kassa.Gateway, body: bytes) -> bool:
    callback = kassa.Callback.parse(body)
    assert_type(callback.date_created, datetime | None)
    assert_type((callback.amount, callback.status), tuple[Decimal | None, kassa.PaymentStatus | None])
    assert_type((callback.date_created_text, callback.provider), tuple[str | None, kassa.Provider | None])
    assert_type(callback.missing, tuple[str, ...])
    assert_type(callback.dedup_key(), str | None)
    assert_type(callback.payment_ref(), kassa.PaymentRef | None)
    ref = kassa.PaymentRef.card("o-1", 100, "KGS").with_gateway_number("1")
    code = kassa.PaymentRef.qr(9990).with_transaction_id("t-1")
    assert_type(gateway.check(kassa.PaymentRef.mbank("o-2", 250)), kassa.Verdict)
    gateway.verify_callback(callback)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    return any(gateway.verify_callback(callback, payment).is_charged for payment in (ref, code))


async def with_asyncio(gateway: kassa.AsyncGateway) -> None:
    async with gateway:
        form = kassa.PayForm(amount=9, service_name="Tea", callback_url="https://s.kg/c", return_url="myshop://paid")
        assert_type(await gateway.create_pay_form(form), kassa.PayFormCreated)
        redirect = kassa.ReturnRedirect.parse("myshop://paid?OrderNumber=1&statusCode=200")
        on_verdict(await gateway.verify_return(redirect, form.payment_ref()))
        ref = kassa.PaymentRef.pay_form(100).with_claimed_number(redirect.order_number, kassa.Provider.MEGA_PAY)
        async with gateway.watch(kassa.PaymentRef.parse(str(ref))) as watch:
            assert_type(watch, kassa.AsyncStatusWatch)
            async for report in watch:
                on_report(report)
                watch.check_now()
            assert_type(await watch.outcome(), kassa.Verdict | None)
        try:
            await asyncio.wait_for(gateway.provider_status("o-1", kassa.Provider("ELSOM")), 5)
        except kassa.InternalError as defect:
            raise SystemExit(defect.detail) from defect


def with_a_journal(credentials: kassa.Credentials) -> None:
    gateway = kassa.Gateway("https://pay.example.kg", credentials, journal="/var/lib/shop/payments")
    assert_type(gateway.journal, kassa.Journal | None)
    journal = assert_type(kassa.Journal.open(Path("payments")), kassa.Journal)
    assert_type(kassa.Gateway.from_environment(journal=journal), kassa.Gateway)
    assert_type(kassa.AsyncGateway("https://pay.example.kg", credentials, journal=Path("payments")), kassa.AsyncGateway)
    assert_type(gateway.with_journal(journal).with_note("cart 17"), kassa.Gateway)
    assert_type(journal.unfinished(), Iterator[kassa.Unfinished])
    for item in gateway.unfinished():
        match item:
            case kassa.JournalEntry(id, payment, begun, state, is_finished, reason, code, page_url, qr_text, note):
                assert_type((id, payment, begun), tuple[str, kassa.PaymentRef, datetime])
                assert_type((code, page_url, qr_text, note), tuple[str | None, str | None, str | None, str | None])
                assert_type(state is kassa.JournalState.CHARGED, bool)
                assert_type((is_finished, reason), tuple[bool, str | None])
                assert_type(journal.entry(payment), kassa.JournalEntry | None)
                gateway.finish(id)
            case kassa.Unreadable(id, why):
                assert_type((id, why), tuple[str, str])
            case _:
                assert_never(item)
        gateway.finish(item)
        journal.finish(item)
    assert_type(
        gateway.recover(kassa.RecoveryPolicy(2.5, timedelta(hours=1), at_once=4, follow_new=True)), kassa.Recovery
    )
    with gateway.recover() as recovery:
        for recovered in recovery:
            assert_type(recovered, kassa.Recovered)
            gateway.finish(recovered)
        recovery.cancel()
    summary = gateway.deliver_forever(delivered, otherwise=print, stop=threading.Event(), interval=2.5, at_once=4)
    assert_type(gateway.deliver_unfinished(delivered, otherwise=print, deadline=15), kassa.DeliverySummary)
    assert_type(summary.undelivered, tuple[kassa.JournalEntry, ...])
    assert_type(summary.left_open, tuple[kassa.Unfinished, ...] | None)
    journal.prune(timedelta(days=30))
    journal.prune(2.5)


async def with_a_journal_in_a_loop(gateway: kassa.AsyncGateway) -> None:
    assert_type(gateway.with_note("cart 17"), kassa.AsyncGateway)
    assert_type(gateway.unfinished(), AsyncIterator[kassa.Unfinished])
    async for item in gateway.unfinished():
        assert_type(item, kassa.Unfinished)
        await gateway.finish(item)
    async with gateway.recover() as recovery:
        async for recovered in recovery:
            assert_type(recovered, kassa.Recovered)
            await gateway.finish(recovered)
    assert_type(await gateway.deliver_forever(delivered_in_a_loop, stop=asyncio.Event()), kassa.DeliverySummary)
    assert_type(
        await gateway.deliver_unfinished(delivered_in_a_loop, deadline=timedelta(hours=1)), kassa.DeliverySummary
    )


def delivered(entry: kassa.JournalEntry) -> str | None:
    return entry.note


async def delivered_in_a_loop(entry: kassa.JournalEntry) -> str | None:
    return entry.note


def a_gateway_for_tests() -> kassa.PaymentGateway:
    fake = FakeGateway()
    fake.plan(FakePlan.charge(after=timedelta(seconds=45)))
    fake.plan(FakePlan.reject(after=2.5) if fake.otp else FakePlan.STAY_PENDING)
    fake.fail_next(FakeFault.RESPONSE_LOST)
    fake.fail_next(FakeFault.refused("51", reason="NO_MONEY"))
    fake.fail_next(FakeFault.too_many_requests(retry_after=30))
    fake.stop_clock()
    fake.advance(10)
    fake.start_clock()
    assert_type(fake.now, timedelta)
    assert_type(fake.payments, tuple[FakePayment, ...])
    assert_type(fake.charge("order-1"), FakeNotification)
    kassa.ReturnRedirect.parse(fake.reject("order-2").return_url or "")
    assert_type(fake.gateway, kassa.Gateway)
    return fake.gateway


async def any_gateway(blocking: kassa.PaymentGateway, waiting: kassa.AsyncPaymentGateway) -> bool:
    ref = kassa.PaymentRef.mbank("o-1", 250)
    assert_type(blocking.watch(ref), kassa.StatusWatch)
    assert_type(waiting.watch(ref, kassa.PollPolicy(5)), kassa.AsyncStatusWatch)
    return blocking.check(ref).is_charged and (await waiting.check(ref)).is_charged


async def both_gateways_fit() -> bool:
    gateway, async_gateway = settings()
    await any_gateway(async_gateway, gateway)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    return await any_gateway(gateway, async_gateway)


def a_screen_of_ones_own(state: checkout.CheckoutState) -> list[str | None]:
    texts = checkout.CheckoutTexts.of(state, kassa.Language.RUSSIAN, may_have_paid=False)
    labels = checkout.CheckoutLabels.of(kassa.Language.RUSSIAN)
    assert_type(texts, checkout.CheckoutTexts)
    assert_type(checkout.amount_text(390, "KGS", kassa.Language.RUSSIAN), str)
    hint = assert_type(checkout.phone_hint("0555 000 101", kassa.Language.RUSSIAN), str | None)
    return [texts.title, texts.explanation, texts.cost, labels.name_of(checkout.PaymentMethod.QR), hint]


def a_payment_screen(paying: checkout.Checkout) -> str | None:  # noqa: C901 (one case a state)
    details = paying.details
    if details is not None:
        assert_type((details.amount, details.expires_at), tuple[Decimal, datetime])
        assert_type(details.methods, tuple[checkout.PaymentMethod, ...])
        assert_type(details.pay_text(kassa.Language.KYRGYZ), str)
    for state in paying.states():
        assert_type(state, checkout.CheckoutState)
        assert_type(state.kind in ("paid", "expired"), bool)
        match state:
            case checkout.Opening(message) | checkout.Sending(message):
                assert_type(message, checkout.CheckoutMessage | None)
            case checkout.Ready(methods, message):
                assert_type(
                    (methods, message), tuple[tuple[checkout.PaymentMethod, ...], checkout.CheckoutMessage | None]
                )
                paying.pay_by_card(kassa.Card("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov"))
                paying.pay_by_form()
                paying.pay_by_megapay("0555 000 101")
                if assert_type(state.can_keep_method, bool):
                    paying.keep_method()
            case checkout.EnterOtp(method, attempts_left, phone_last2=digits, code_expires_at=expires_at):
                assert_type((method, digits), tuple[checkout.PaymentMethod, str | None])
                assert_type((state.commission, state.total), tuple[Decimal | None, Decimal | None])
                assert_type(expires_at, datetime | None)
                paying.confirm(str(assert_type(attempts_left, int)))
            case checkout.OpenPage(url, begun_here):
                assert_type((url, begun_here), tuple[str, bool])
                paying.came_back()
            case checkout.ShowQr(text, can_change_method=can_change_method):
                assert_type((text, can_change_method), tuple[str, bool])
                paying.change_method()
            case checkout.Waiting(page_url=page_url):
                assert_type(page_url, str | None)
                paying.check_now()
            case checkout.Paid(amount, currency):
                return f"{assert_type(amount, Decimal)} {currency}"
            case checkout.NotPaid(reason=message) | checkout.PersonNeeded(message=message):
                return (
                    message.text_in(kassa.Language.KYRGYZ)
                    if message.topic is not checkout.MessageTopic.REFUSED
                    else message.reason_in(kassa.Language.KYRGYZ)
                )
            case checkout.Expired() | checkout.TokenExpired():
                paying.renew_token("ct_...")
            case _:
                assert_never(state)
    return None


async def a_payment_screen_in_a_loop(client_token: str) -> None:
    async def renew_token() -> str:
        return client_token

    proxy, language = kassa.Proxy.environment(), kassa.Language.RUSSIAN
    async with checkout.AsyncCheckout(
        "https://pay.shop.example.kg",
        client_token,
        renew_token=renew_token,
        connect_timeout=5,
        proxy=proxy,
        language=language,
    ) as paying:
        async for state in paying.states():
            assert_type(state, checkout.CheckoutState)
            paying.pay_by_qr()
    checkout.Checkout("https://pay.shop.example.kg", client_token, renew_token=lambda: client_token).close()
    checkout.Checkout("https://pay.shop.example.kg", client_token, renew_token=renew_token)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def what_a_checker_refuses(gateway: kassa.Gateway) -> None:
    kassa.PayForm(amount=9.5, service_name="Tea", callback_url="", return_url="")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=0.5))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    FakeGateway().fail_next(FakeFault("lost"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    kassa.PollPolicy(interval="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    kassa.Gateway("https://pay.example.kg", kassa.Credentials("a", "b"), journal=17)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    gateway.finish(kassa.PaymentRef.mbank("o-1", 250))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    gateway.payment_status(17)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
