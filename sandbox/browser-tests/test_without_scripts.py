"""Each way to pay in a browser that runs no scripts."""

from __future__ import annotations

import pytest
from kassa_sandbox import Sandbox, TestPhone, phones
from playwright.sync_api import expect

from shop import Shop
from visitor import Visit, Visitor


@pytest.fixture
def payer(visit: Visit) -> Visitor:
    return visit(scripts=False)


def test_card_on_the_pay_form(payer: Visitor, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.pay_form())
    payer.page.get_by_label("Card number").fill("4111")
    payer.page.get_by_label("Cardholder name").fill("Aibek Asanov")
    with payer.refused(400):
        payer.page.get_by_role("button", name="Pay KGS").click()
        expect(payer.page.get_by_role("alert").get_by_role("listitem")).to_have_text(
            [
                "A card number has 13 to 20 digits",
                "Enter the month: 01 to 12",
                "Enter the year, such as 2030",
                "Enter the 3 digits on the back",
            ]
        )
    payer.look("pay-form-mistakes")
    expect(payer.page.get_by_label("Card number")).to_be_focused()
    expect(payer.page.get_by_label("Card number")).to_have_value("")
    expect(payer.page.get_by_label("Card number")).to_have_accessible_description("A card number has 13 to 20 digits")
    expect(payer.page.get_by_label("Cardholder name")).to_have_value("Aibek Asanov")

    payer.page.get_by_role("button", name="4111 1111 1111 1111").click()
    expect(payer.page.get_by_label("Card number")).to_have_value("4111 1111 1111 1111")
    payer.page.get_by_role("button", name="Pay KGS").click()
    expect(payer.heading).to_have_text("Confirm the payment")
    payer.page.get_by_role("button", name="123456").click()
    payer.press("Confirm")
    expect(payer.heading).to_have_text("The shop")
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [1]


@pytest.mark.parametrize("phone", [phones.MBANK_APPROVED, phones.MEGAPAY_APPROVED], ids=["MBank", "MegaPay"])
def test_wallet_on_the_pay_form(payer: Visitor, shop: Shop, kassa_sandbox: Sandbox, phone: TestPhone) -> None:
    payer.open(shop.pay_form())
    payer.page.get_by_role("radio", name=phone.provider).check()
    expect(payer.page.get_by_label("Card number")).to_be_hidden()
    payer.page.get_by_label("Phone number").fill("1")
    with payer.refused(400):
        payer.page.get_by_role("button", name="Pay KGS").click()
        expect(payer.page.get_by_role("alert")).to_contain_text("Enter a phone number")
    expect(payer.page.get_by_role("radio", name=phone.provider)).to_be_checked()
    payer.page.get_by_label("Phone number").fill(phone.phone)
    payer.page.get_by_role("button", name="Pay KGS").click()
    payer.page.get_by_label("One-time password").fill(phone.otp)
    payer.press("Confirm")
    expect(payer.heading).to_have_text("The shop")
    assert [payment.provider for payment in kassa_sandbox.ledger()] == [phone.provider]


def test_empty_password_costs_no_attempt(payer: Visitor, shop: Shop) -> None:
    payer.open(shop.card_payment())
    payer.press("Confirm")
    expect(payer.page.get_by_label("One-time password")).to_be_focused()
    payer.page.reload()
    expect(payer.page.get_by_text("Attempts left: 3")).to_be_visible()
    payer.press("Cancel the payment")
    expect(payer.heading).to_have_text("Not paid")


def test_qr_code(payer: Visitor, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.qr(None))
    payer.page.get_by_label("Amount in som").fill("x")
    with payer.refused(400):
        payer.press("Approve")
        expect(payer.page.get_by_role("alert")).to_have_text("Enter an amount, such as 150 or 99.50")
    payer.page.get_by_label("Amount in som").fill("99.50")
    payer.press("Approve")
    expect(payer.heading).to_have_text("Paid")
    payer.open(shop.qr(None))
    payer.press("Decline")
    expect(payer.heading).to_have_text("Not paid")
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["CHARGE", "Reject"]
