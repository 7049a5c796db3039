"""Every flow from its request to its final status, against the sandbox."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from datetime import timedelta
from decimal import Decimal

import pytest
from conformance.patience import PATIENCE
from conftest import Sandbox
from raw_gateway import card, card_payment, mbank_payment, megapay_payment

import kassa

QUICK = kassa.PollPolicy(interval=timedelta(milliseconds=50), deadline=timedelta(seconds=PATIENCE))


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: object, fp: object, code: object, msg: object, headers: object, newurl: object
    ) -> None:
        return None


def submit(page: str, **form: str) -> str:
    """Plays the payer on a page of the gateway; where it sends the payer to, if anywhere."""
    opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
    try:
        with opener.open(page, urllib.parse.urlencode(form).encode()) as answer:
            assert answer.status == 200
            return ""
    except urllib.error.HTTPError as answer:
        with answer:
            assert answer.code == 303, answer.read()
            return urllib.parse.urljoin(page, str(answer.headers["location"]))


def callback_of(order_number: str, amount: str, provider: str = "Cards", status: str = "CHARGE") -> kassa.Callback:
    body = {"orderNumber": order_number, "currency": "KGS", "status": status, "provider": provider}
    text = json.dumps(body | {"dateCreated": "2026-11-20T09:05:07"})
    return kassa.Callback.parse(text[:-1] + f', "amount": {amount}}}')


def test_card_with_3ds_is_charged(gateway: kassa.Gateway) -> None:
    payment = card_payment()
    created = gateway.create_card_payment(payment)
    assert created.code == "110"
    assert created.amount == Decimal("100.10")
    match created.next_step:
        case kassa.OpenConfirmation(url):
            back = submit(url, otp="123456")
        case kassa.CheckStatus():
            pytest.fail("the card takes part in 3DS")
    redirect = kassa.ReturnRedirect.parse(back)
    assert redirect.status_code == "200"

    outcome = gateway.watch(created.payment, QUICK).outcome()
    match outcome:
        case kassa.Charged(payment=found, report=kassa.StatusReport(amount=amount), compared=compared):
            assert found == created.payment
            assert amount == Decimal("100.10")
            assert compared == ("orderNumber", "amount", "currency")
        case other:
            pytest.fail(repr(other))
    assert created.payment.gateway_number is not None
    assert gateway.payment_status(created.payment.gateway_number, language="ru").status.is_final
    by_order = gateway.provider_status(payment.order_number, kassa.Provider.CARDS)
    assert by_order.order_number == payment.order_number

    # Another process knows nothing but the text that was stored.
    again = kassa.PaymentRef.parse(str(payment.payment_ref()))
    assert [verdict.report for verdict in gateway.watch(again, QUICK)] == [by_order]  # type: ignore[union-attr]
    assert gateway.verify_return(redirect, again).is_charged


def test_declined_card_is_rejected(gateway: kassa.Gateway) -> None:
    created = gateway.create_card_payment(card_payment(card=card("4000000000002024")))
    assert isinstance(created.next_step, kassa.CheckStatus)
    assert isinstance(gateway.watch(created.payment, QUICK).outcome(), kassa.Rejected)


def test_mobile_bank_is_confirmed_by_a_password(gateway: kassa.Gateway) -> None:
    payment = mbank_payment()
    created = gateway.create_mbank_payment(payment)
    assert created.payment.confirm_identifier
    stored = kassa.PaymentRef.parse(str(created.payment))
    with pytest.raises(kassa.Refused) as refused:
        gateway.confirm_mbank_payment(stored, "000000")
    assert refused.value.http_status == 400
    confirmed = gateway.confirm_mbank_payment(stored, "101101")
    assert confirmed.payment.order_number == payment.order_number
    assert isinstance(gateway.watch(payment.payment_ref(), QUICK).outcome(), kassa.Charged)


def test_megapay_wallet_pays_with_its_pin(gateway: kassa.Gateway) -> None:
    payment = megapay_payment()
    checked = gateway.check_megapay(payment)
    assert (checked.commission, checked.total) == (Decimal("5.01"), Decimal("255.51"))
    assert not gateway.check(checked.payment).is_charged
    with pytest.raises(kassa.Refused) as refused:
        gateway.pay_by_megapay(payment, "000000")
    assert refused.value.http_status == 400
    accepted = gateway.pay_by_megapay(payment, "201201")
    assert accepted.transaction_id
    stored = kassa.PaymentRef.parse(str(payment.payment_ref()))
    assert isinstance(gateway.watch(stored, QUICK).outcome(), kassa.Charged)


def test_pay_form_is_opened(gateway: kassa.Gateway) -> None:
    form = kassa.PayForm(
        amount=300,
        service_name="Tea",
        callback_url="http://127.0.0.1:9/callback?ref=cart-17",
        return_url="https://shop.example.kg/back?ref=cart-17",
    )
    created = gateway.create_pay_form(form)
    assert created.payment == form.payment_ref() == kassa.PaymentRef.pay_form(300)
    with urllib.request.urlopen(created.pay_form_url) as page:
        assert page.status == 200


def test_qr_code_is_drawn_paid_and_watched(gateway: kassa.Gateway) -> None:
    data = gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=kassa.som_to_tyiyn(Decimal("99.90"))))
    assert data.payload is not None
    assert data.transaction_id is not None
    assert kassa.QrCode(data.payload).png(400).startswith(b"\x89PNG")
    assert not gateway.qr_status(data.transaction_id).status.is_final
    submit(data.payload, action="approve")
    assert isinstance(gateway.watch(data.payment, QUICK).outcome(), kassa.Charged)


def test_gateways_own_picture_is_a_png(gateway: kassa.Gateway) -> None:
    payment = kassa.QrPayment(sum_tyiyn=9990, requisite="Tea house")
    image = gateway.create_qr_image(payment)
    assert image.payment == payment.payment_ref() == kassa.PaymentRef.qr(9990)
    assert image.png.startswith(b"\x89PNG")


def test_callback_is_believed_only_where_the_gateway_agrees(gateway: kassa.Gateway) -> None:
    request = card_payment(card=card("4000000000002016"))
    gateway.create_card_payment(request)
    payment = request.payment_ref()
    callback = callback_of(request.order_number, "100.10")
    assert gateway.verify_callback(callback, payment).is_charged
    match gateway.verify_callback(callback_of(request.order_number, "1"), payment):
        case kassa.Mismatch(_, fields, None):
            assert fields == ("amount",)
        case other:
            pytest.fail(repr(other))
    with pytest.raises(kassa.Refused):
        gateway.verify_callback(callback_of("nobody-knows-it", "300"), kassa.PaymentRef.pay_form(300))
    # What a callback says of itself is no reason to ship.
    claimed = callback.payment_ref()
    assert claimed is not None
    assert isinstance(gateway.verify_callback(callback, claimed), kassa.Unverifiable)


def test_open_payment_is_to_be_watched(gateway: kassa.Gateway) -> None:
    payment = card_payment()
    created = gateway.create_card_payment(payment)
    verdict = gateway.check(created.payment)
    assert isinstance(verdict, kassa.Pending)
    assert verdict.payment == created.payment
    assert not verdict.is_charged


def test_asyncio_has_the_same_methods(sandbox: Sandbox) -> None:
    async def flow() -> None:
        async with kassa.AsyncGateway(sandbox.url, sandbox.credentials, dialect=sandbox.dialect) as gateway:
            payment = mbank_payment()
            created = await gateway.create_mbank_payment(payment)
            response = await gateway.confirm_mbank_payment(created.payment, "101101")
            reports = [report async for report in gateway.watch(response.payment, QUICK)]
            assert isinstance(reports[-1], kassa.Charged)
            assert await gateway.check(response.payment) == reports[-1]
            outcome = await gateway.watch(response.payment, QUICK).outcome()
            assert isinstance(outcome, kassa.Charged)

            many = (gateway.create_card_payment(card_payment(card=card("4000000000002016"))) for _ in range(5))
            for card_created in await asyncio.gather(*many):
                assert card_created.payment.gateway_number is None or card_created.code == "110"
                order_number = card_created.payment.order_number or ""
                assert (await gateway.provider_status(order_number, kassa.Provider.CARDS)).status.is_final
                for verdict in (
                    await gateway.verify_callback(callback_of(order_number, "100.10"), card_created.payment),
                    await gateway.verify_return(kassa.ReturnRedirect(order_number), card_created.payment),
                ):
                    assert verdict.is_charged
            qr = await gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=100))
            assert not (await gateway.qr_status(qr.transaction_id or "")).status.is_final
            assert (await gateway.create_qr_image(kassa.QrPayment(sum_tyiyn=100))).png
            form = kassa.PayForm(
                amount=5, service_name="Tea", callback_url="http://127.0.0.1:9/c", return_url="https://s.example/r"
            )
            assert (await gateway.create_pay_form(form)).pay_form_url.startswith(sandbox.url)
            with pytest.raises(kassa.Refused):
                await gateway.payment_status("nobody-knows-it")
        with pytest.raises(kassa.Misconfigured):
            await gateway.qr_status("1")

    asyncio.run(flow())


def test_both_gateways_have_the_same_methods() -> None:
    def methods(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert methods(kassa.Gateway) == methods(kassa.AsyncGateway)
    assert methods(kassa.StatusWatch) == methods(kassa.AsyncStatusWatch)
