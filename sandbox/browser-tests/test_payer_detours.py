"""The less travelled ways over the payer's pages, in three languages: other cards, what goes wrong, what stays open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Language, Sandbox, TestCard, cards, phones
from playwright.sync_api import Browser, expect

from patience import PATIENCE
from shop import Shop
from visitor import Size, Visit, Visitor
from words import WORDS, Words

WINDOWS: dict[Language, tuple[Size, bool]] = {"en": ("phone", True), "ru": ("desktop", False), "ky": ("desktop", True)}


@pytest.fixture(params=list(WINDOWS))
def language(request: pytest.FixtureRequest) -> Language:
    chosen: Language = request.param
    return chosen


@pytest.fixture
def payer(visit: Visit, language: Language) -> Visitor:
    size, dark = WINDOWS[language]
    return visit(language, size=size, dark=dark)


@pytest.fixture
def words(language: Language) -> Words:
    return WORDS[language]


def choose_card(payer: Visitor, words: Words, card: TestCard) -> None:
    """Fills the pay-form with a test card, and sends it."""
    offer = payer.page.locator("button[data-fill]").filter(has_text=spaced(card.pan))
    payer.page.locator("details").filter(has=offer).locator("summary").click()
    offer.click()
    expect(payer.page.get_by_label(words.card_number)).to_have_value(spaced(card.pan))
    payer.press(words.pay)


def spaced(pan: str) -> str:
    return " ".join(pan[start : start + 4] for start in range(0, len(pan), 4))


def enter_otp(payer: Visitor, words: Words, otp: str | None) -> None:
    payer.page.get_by_label(words.otp).fill(otp or "")
    payer.press(words.confirm)


def test_3ds_1_card_is_confirmed_where_its_page_is_switched_on(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox, language: Language
) -> None:
    kassa_sandbox.switches.change(three_ds_1_page=True)
    payer.open(shop.card_payment(cards.THREE_DS_1_APPROVED, language=language))
    expect(payer.heading).to_have_text(words.confirm_title)
    payer.look("three-ds-1")
    enter_otp(payer, words, cards.THREE_DS_1_APPROVED.otp)
    expect(payer.heading).to_have_text("The shop")
    assert kassa_sandbox.payment("order-17").times_charged == 1


def test_decline_is_redirected_where_that_is_switched_on(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox, language: Language
) -> None:
    kassa_sandbox.switches.change(redirect_declines=True)
    address = shop.card_payment(cards.INSUFFICIENT_FUNDS, language=language)
    payer.open(address)
    enter_otp(payer, words, cards.INSUFFICIENT_FUNDS.otp)
    expect(payer.heading).to_have_text("The shop")
    assert payer.page.url == f"{shop.return_url}&OrderNumber=order-17&statusCode=211"
    payer.open(address)
    expect(payer.heading).to_have_text(words.not_paid)
    for text in (words.insufficient_funds, words.finished):
        expect(payer.page.get_by_text(text)).to_be_visible()
    payer.look("declined-again")


def test_card_without_3ds_on_the_pay_form_is_asked_for_no_password(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox
) -> None:
    payer.open(shop.pay_form())
    choose_card(payer, words, cards.WITHOUT_3DS_APPROVED)
    expect(payer.heading).to_have_text("The shop")
    payer.open(shop.pay_form())
    choose_card(payer, words, cards.WITHOUT_3DS_DECLINED)
    expect(payer.heading).to_have_text(words.not_paid)
    expect(payer.page.get_by_text(words.declined)).to_be_visible()
    payer.look("pay-form-declined")
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["CHARGE", "Reject"]


def test_payment_on_the_pay_form_is_left_pending(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox
) -> None:
    phone = phones.MEGAPAY_STUCK_PENDING
    payer.open(shop.pay_form())
    payer.page.get_by_role("radio", name=phone.provider).check()
    payer.page.get_by_label(words.phone).fill(phone.phone)
    payer.press(words.pay)
    enter_otp(payer, words, phone.otp)
    expect(payer.heading).to_have_text(words.in_progress)
    payer.look("pay-form-pending")
    payer.page.get_by_role("link", name=words.back).click()
    expect(payer.heading).to_have_text("The shop")
    assert payer.page.url == shop.return_url
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["PENDING"]


def test_three_wrong_passwords_end_the_payment(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox, language: Language
) -> None:
    payer.open(shop.card_payment(language=language))
    for _ in range(2):
        with payer.refused(400):
            enter_otp(payer, words, "000000")
            expect(payer.page.get_by_role("alert")).to_have_text(words.wrong_otp)
    enter_otp(payer, words, "000000")
    expect(payer.heading).to_have_text(words.not_paid)
    expect(payer.page.get_by_text(words.too_many_otps)).to_be_visible()
    payer.look("otp-exhausted")
    assert kassa_sandbox.payment("order-17").times_charged == 0


def test_pay_form_is_cancelled(payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer.open(shop.pay_form())
    payer.press(words.cancel)
    expect(payer.heading).to_have_text(words.not_paid)
    expect(payer.page.get_by_text(words.cancelled)).to_be_visible()
    payer.look("pay-form-cancelled")
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["Reject"]


def test_form_that_is_far_too_long_is_not_read(
    payer: Visitor, words: Words, shop: Shop, kassa_sandbox: Sandbox, language: Language
) -> None:
    payer.open(shop.card_payment(language=language))
    payer.page.get_by_label(words.otp).evaluate("field => { field.value = '1'.repeat(1200000) }")
    with payer.refused(400):
        payer.press(words.confirm)
        expect(payer.heading).to_have_text(words.unreadable)
    payer.look("unreadable")
    assert kassa_sandbox.payment("order-17").status == "CREATED"


def test_failure_of_the_sandbox_is_called_one(browser: Browser, language: Language, tmp_path: Path) -> None:
    size, dark = WINDOWS[language]
    database = tmp_path / "payments.db"
    with Sandbox(database=database) as sandbox, Shop(sandbox) as shop:
        payer = Visitor(browser, {urlsplit(sandbox.base_url).netloc}, language, size=size, dark=dark, scripts=True)
        address = shop.card_payment(language=language)
        with closing(sqlite3.connect(database, timeout=PATIENCE)) as connection:
            connection.execute("ALTER TABLE payments RENAME TO mislaid")
            connection.commit()
        with payer.refused(500):
            payer.open(address)
            expect(payer.heading).to_have_text(WORDS[language].failed)
        payer.look("failed")
        payer.close()
