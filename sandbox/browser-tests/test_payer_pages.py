"""Every page a payer can meet, in three languages, on phone and desktop, in the light and in the dark."""

from __future__ import annotations

import pytest
from kassa_sandbox import Language, Sandbox, TestPhone, cards, phones
from playwright.sync_api import expect

from shop import Shop
from visitor import Size, Visit, Visitor
from words import WORDS, Words

WINDOWS: list[tuple[Language, Size, bool]] = [
    ("en", "phone", False),
    ("en", "desktop", True),
    ("ru", "phone", True),
    ("ru", "desktop", False),
    ("ky", "phone", False),
    ("ky", "desktop", True),
]


@pytest.fixture(params=WINDOWS, ids=lambda window: f"{window[0]}-{window[1]}-{'dark' if window[2] else 'light'}")
def window(request: pytest.FixtureRequest) -> tuple[Language, Size, bool]:
    chosen: tuple[Language, Size, bool] = request.param
    return chosen


@pytest.fixture
def payer(visit: Visit, window: tuple[Language, Size, bool]) -> Visitor:
    language, size, dark = window
    return visit(language, size=size, dark=dark)


@pytest.fixture
def words(window: tuple[Language, Size, bool]) -> Words:
    return WORDS[window[0]]


def choose_wallet(payer: Visitor, words: Words, phone: TestPhone) -> None:
    payer.page.get_by_role("radio", name=phone.provider).check()
    payer.page.get_by_label(words.phone).fill(phone.phone)
    payer.press(words.pay)
    expect(payer.heading).to_have_text(words.confirm_title)


def test_card_is_confirmed(payer: Visitor, words: Words, shop: Shop, window: tuple[Language, Size, bool]) -> None:
    payer.open(shop.card_payment(language=window[0]))
    expect(payer.heading).to_have_text(words.confirm_title)
    for text in [words.price, words.test_mode, words.attempts_left, "4111 11•• •••• 1111", "Two jars of white honey"]:
        expect(payer.page.get_by_text(text)).to_be_visible()
    payer.look("three-ds")

    otp = payer.page.get_by_label(words.otp)
    otp.fill("000000")
    with payer.refused(400):
        payer.press(words.confirm)
        expect(payer.page.get_by_role("alert")).to_have_text(words.wrong_otp)
    expect(otp).to_be_focused()
    expect(otp).to_have_value("")
    payer.look("three-ds-wrong")

    otp.fill(cards.APPROVED.otp or "")
    payer.press(words.confirm)
    expect(payer.heading).to_have_text("The shop")
    assert payer.page.url == f"{shop.return_url}&OrderNumber=order-17&statusCode=200"


def test_decline_ends_on_a_page_with_a_way_back(
    payer: Visitor, words: Words, shop: Shop, window: tuple[Language, Size, bool]
) -> None:
    payer.open(shop.card_payment(cards.DECLINED, language=window[0]))
    payer.page.get_by_label(words.otp).fill(cards.DECLINED.otp or "")
    payer.press(words.confirm)
    expect(payer.heading).to_have_text(words.not_paid)
    payer.look("declined")
    payer.page.get_by_role("link", name=words.back).click()
    expect(payer.heading).to_have_text("The shop")
    assert payer.page.url == shop.return_url


def test_payer_cancels(payer: Visitor, words: Words, shop: Shop, window: tuple[Language, Size, bool]) -> None:
    payer.open(shop.card_payment(language=window[0]))
    payer.press(words.cancel)
    expect(payer.heading).to_have_text(words.not_paid)
    expect(payer.page.get_by_text(words.cancelled)).to_be_visible()


def test_stuck_payment_says_so(payer: Visitor, words: Words, shop: Shop, window: tuple[Language, Size, bool]) -> None:
    payer.open(shop.card_payment(cards.STUCK_PENDING, language=window[0]))
    payer.page.get_by_label(words.otp).fill(cards.STUCK_PENDING.otp or "")
    payer.press(words.confirm)
    expect(payer.heading).to_have_text(words.in_progress)
    payer.look("pending")
    payer.page.goto(payer.page.url)
    expect(payer.heading).to_have_text(words.in_progress)
    expect(payer.page.get_by_text(words.finished)).to_have_count(0)


def test_pay_form_takes_a_card(payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.pay_form())
    expect(payer.heading).to_have_text(words.pay_title)
    expect(payer.page.get_by_text(words.price).first).to_be_visible()
    expect(payer.page.get_by_role("radio", name=words.bank_card)).to_be_checked()
    expect(payer.page.get_by_label(words.phone)).to_be_hidden()
    payer.look("pay-form-card")

    payer.press(words.pay)
    expect(payer.page.get_by_label(words.card_number)).to_be_focused()
    payer.page.get_by_label(words.card_number).fill("4111")
    payer.press(words.pay)
    expect(payer.page.get_by_text(words.wrong_pan)).to_be_visible()
    payer.look("pay-form-live-mistakes")

    payer.page.get_by_role("button", name="4111 1111 1111 1111").click()
    expect(payer.page.get_by_text(words.wrong_pan)).to_be_hidden()
    payer.look("pay-form-filled")
    payer.page.get_by_label(words.card_number).fill("4111 1111 1111 1129")
    with payer.refused(400):
        payer.press(words.pay)
        expect(payer.page.get_by_role("alert")).to_have_text(words.no_test_card)
    payer.look("pay-form-mistakes")

    payer.page.get_by_role("button", name="4111 1111 1111 1111").click()
    payer.press(words.pay)
    expect(payer.heading).to_have_text(words.confirm_title)
    payer.page.get_by_role("button", name="123456").click()
    payer.press(words.confirm)
    expect(payer.heading).to_have_text("The shop")
    (payment,) = kassa_sandbox.ledger()
    assert (payment.provider, payment.times_charged) == ("Cards", 1)
    assert payer.page.url == f"{shop.return_url}&OrderNumber={payment.order_number}&statusCode=200"


@pytest.mark.parametrize("phone", [phones.MBANK_APPROVED, phones.MEGAPAY_APPROVED], ids=["MBank", "MegaPay"])
def test_pay_form_takes_a_wallet(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox, phone: TestPhone
) -> None:
    payer.open(shop.pay_form())
    payer.page.get_by_role("radio", name=phone.provider).check()
    expect(payer.page.get_by_label(words.card_number)).to_be_hidden()
    payer.look(f"pay-form-{phone.provider}")
    choose_wallet(payer, words, phone)
    payer.look(f"wallet-{phone.provider}")
    payer.page.get_by_label(words.otp).fill(phone.otp)
    payer.press(words.confirm)
    expect(payer.heading).to_have_text("The shop")
    (payment,) = kassa_sandbox.ledger()
    assert (payment.provider, payment.times_charged) == (phone.provider, 1)


def test_megapay_is_not_to_be_had_under_five_som(payer: Visitor, words: Words, shop: Shop) -> None:
    payer.open(shop.pay_form("4.99"))
    megapay = payer.page.get_by_role("radio", name="MegaPay")
    expect(megapay).to_be_disabled()
    expect(megapay).to_have_accessible_description(words.megapay_minimum)
    expect(payer.page.get_by_text(words.megapay_minimum)).to_be_visible()
    payer.look("pay-form-small")


def test_qr_code_is_approved(payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox) -> None:
    address = shop.qr()
    payer.open(address)
    expect(payer.heading).to_have_text(words.qr_title)
    expect(payer.page.get_by_text(words.price)).to_be_visible()
    for shown in (kassa_sandbox.ledger()[0].transaction_id or "", "996700123456", "qr.sandbox.example"):
        expect(payer.page.get_by_text(shown, exact=True)).to_be_visible()
    payer.look("qr")
    payer.press(words.approve)
    expect(payer.heading).to_have_text(words.paid)
    payer.look("qr-paid")
    # With its fragment, the address of this very page would only scroll it.
    payer.open(address.split("#")[0])
    expect(payer.heading).to_have_text(words.paid)
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [1]


def test_qr_code_is_declined(payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.qr(None))
    payer.press(words.decline)
    expect(payer.heading).to_have_text(words.not_paid)
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["Reject"]


def test_payer_names_the_sum_of_a_qr_code(payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.qr(None))
    amount = payer.page.get_by_label(words.amount)
    expect(amount).to_be_focused()
    payer.look("qr-open")
    amount.fill("12,345")
    payer.press(words.approve)
    expect(payer.page.get_by_text(words.wrong_amount)).to_be_visible()
    expect(amount).to_be_focused()
    payer.look("qr-open-wrong")
    amount.fill("1 234,50")
    payer.press(words.approve)
    expect(payer.heading).to_have_text(words.paid)
    expect(payer.page.get_by_text(words.price)).to_be_visible()
    assert [str(payment.amount) for payment in kassa_sandbox.ledger()] == ["123450"]


def test_link_to_no_payment_says_so(payer: Visitor, words: Words, kassa_sandbox: Sandbox) -> None:
    for address in ("pay-form?token=none", "3ds?token=%FF%00", "wallet", "qr?token=1&token=2"):
        with payer.refused(404):
            payer.open(f"{kassa_sandbox.base_url}/{address}")
            expect(payer.heading).to_have_text(words.no_page)
    payer.look("not-found")
