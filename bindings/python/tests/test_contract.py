"""The gateways as interfaces: a user's own stub stands where a gateway would."""

from __future__ import annotations

import asyncio
import inspect
from datetime import timedelta
from typing import Any

import pytest
from raw_gateway import mbank_payment, megapay_payment

import kassa
from kassa.testing import FakeGateway


def pay(gateway: kassa.PaymentGateway, payment: kassa.MbankPayment, otp: str) -> str:
    """Somebody's code that wants any gateway."""
    try:
        created = gateway.create_mbank_payment(payment)
        gateway.confirm_mbank_payment(created.payment, otp=otp)
    except kassa.Refused as error:
        return f"declined: {error.reason}"
    outcome = gateway.watch(created.payment).outcome()
    return "cancelled" if outcome is None else outcome.kind


async def pay_in_loop(gateway: kassa.AsyncPaymentGateway, payment: kassa.MbankPayment, otp: str) -> str:
    """The same for asyncio."""
    try:
        created = await gateway.create_mbank_payment(payment)
        await gateway.confirm_mbank_payment(created.payment, otp=otp)
    except kassa.Refused as error:
        return f"declined: {error.reason}"
    outcome = await gateway.watch(created.payment).outcome()
    return "cancelled" if outcome is None else outcome.kind


class OverTheLimit:
    """A stub: nobody can pay. It inherits from nothing of Kassa's, and leaves to a fake what it has no view on."""

    def __init__(self, gateway: kassa.PaymentGateway) -> None:
        self._gateway = gateway

    def confirm_mbank_payment(self, payment: kassa.PaymentRef, otp: str) -> kassa.MbankConfirmed:  # noqa: ARG002
        raise kassa.Refused(400, "51", reason=f"{payment.amount} is over the limit")

    def create_card_payment(self, payment: kassa.CardPayment) -> kassa.CardPaymentCreated:
        return self._gateway.create_card_payment(payment)

    def payment_status(self, gateway_number: str, language: str | None = None) -> kassa.StatusReport:
        return self._gateway.payment_status(gateway_number, language)

    def create_mbank_payment(self, payment: kassa.MbankPayment) -> kassa.MbankPaymentCreated:
        return self._gateway.create_mbank_payment(payment)

    def check_megapay(self, payment: kassa.MegapayPayment) -> kassa.MegapayChecked:
        return self._gateway.check_megapay(payment)

    def pay_by_megapay(self, payment: kassa.MegapayPayment, pin: str) -> kassa.MegapayAccepted:
        return self._gateway.pay_by_megapay(payment, pin)

    def create_pay_form(self, form: kassa.PayForm) -> kassa.PayFormCreated:
        return self._gateway.create_pay_form(form)

    def provider_status(self, order_number: str, provider: kassa.Provider) -> kassa.StatusReport:
        return self._gateway.provider_status(order_number, provider)

    def create_qr_image(self, payment: kassa.QrPayment) -> kassa.QrImage:
        return self._gateway.create_qr_image(payment)

    def create_qr_data(self, payment: kassa.QrPayment) -> kassa.QrData:
        return self._gateway.create_qr_data(payment)

    def qr_status(self, transaction_id: str) -> kassa.StatusReport:
        return self._gateway.qr_status(transaction_id)

    def check(self, payment: kassa.PaymentRef) -> kassa.Verdict:
        return self._gateway.check(payment)

    def verify_callback(self, callback: kassa.Callback, payment: kassa.PaymentRef) -> kassa.Verdict:
        return self._gateway.verify_callback(callback, payment)

    def verify_return(self, redirect: kassa.ReturnRedirect, payment: kassa.PaymentRef) -> kassa.Verdict:
        return self._gateway.verify_return(redirect, payment)

    def watch(
        self,
        payment: kassa.PaymentRef,
        policy: kassa.PollPolicy = kassa.PollPolicy(),  # noqa: B008 (frozen)
    ) -> kassa.StatusWatch:
        return self._gateway.watch(payment, policy)

    def close(self, timeout: timedelta | float | None = None) -> bool:
        return self._gateway.close(timeout)


def test_stub_of_ones_own_stands_where_a_gateway_would() -> None:
    fake = FakeGateway()
    assert pay(OverTheLimit(fake.gateway), mbank_payment(), fake.otp) == "declined: 250 is over the limit"
    assert pay(fake.gateway, mbank_payment(), "000000") == "declined: WRONG_OTP"
    assert pay(fake.gateway, mbank_payment(), fake.otp) == "charged"


def test_same_code_for_asyncio() -> None:
    fake = FakeGateway()
    assert asyncio.run(pay_in_loop(fake.async_gateway, mbank_payment(), fake.otp)) == "charged"
    assert asyncio.run(pay_in_loop(fake.async_gateway, mbank_payment(), "000000")) == "declined: WRONG_OTP"


def test_stub_that_forgot_a_method_is_refused() -> None:
    class Half(kassa.PaymentGateway):
        def close(self, timeout: timedelta | float | None = None) -> bool:
            return timeout is None

    half: Any = Half
    with pytest.raises(TypeError, match="check"):
        half()


@pytest.mark.parametrize("contract", [kassa.PaymentGateway, kassa.AsyncPaymentGateway])
def test_stub_without_megapay_refuses_it(contract: type) -> None:
    others: frozenset[str] = vars(contract)["__abstractmethods__"]
    stub: Any = type("Stub", (contract,), dict.fromkeys(others))()

    def call(name: str, *given: object) -> None:
        called = getattr(stub, name)(megapay_payment(), *given)
        asyncio.run(called)  # that of the asynchronous one raises only here

    for name, given in (("check_megapay", ()), ("pay_by_megapay", ("123456",))):
        with pytest.raises(kassa.Misconfigured, match="does not implement check_megapay and pay_by_megapay"):
            call(name, *given)


@pytest.mark.parametrize(
    ("contract", "kind"), [(kassa.PaymentGateway, kassa.Gateway), (kassa.AsyncPaymentGateway, kassa.AsyncGateway)]
)
def test_contract_says_what_the_gateways_do(contract: type, kind: type) -> None:
    def methods(of: type) -> dict[str, inspect.Signature]:
        return {
            name: inspect.signature(method, eval_str=True)
            for name, method in inspect.getmembers(of, inspect.isfunction)
        }

    public = {name: signature for name, signature in methods(kind).items() if not name.startswith("_")}
    # Another deadline, and a journal, are matters of the gateway that is handed in.
    for name in (
        "with_deadline",
        "with_journal",
        "with_note",
        "unfinished",
        "recover",
        "finish",
        "deliver_forever",
        "deliver_unfinished",
    ):
        del public[name]
    assert {name: text for name, text in methods(contract).items() if not name.startswith("_")} == public
