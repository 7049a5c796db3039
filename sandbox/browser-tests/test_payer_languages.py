"""In which language the payer's pages speak, and how a payer changes that."""

from __future__ import annotations

import pytest
from kassa_sandbox import Language, Sandbox, phones
from playwright.sync_api import expect

from shop import Shop
from visitor import Visit
from words import WORDS

NAMES: dict[Language, str] = {"en": "English", "ru": "Русский", "ky": "Кыргызча"}


@pytest.mark.parametrize("language", list(NAMES))
def test_page_speaks_the_browser_s_language(visit: Visit, shop: Shop, language: Language) -> None:
    payer = visit(language)
    for address, title in [(shop.pay_form(), WORDS[language].pay_title), (shop.qr(), WORDS[language].qr_title)]:
        payer.open(address)
        expect(payer.heading).to_have_text(title)
        expect(payer.page.locator("html")).to_have_attribute("lang", language)
        expect(payer.page).to_have_title(title)


def test_card_s_page_speaks_the_request_s_language(visit: Visit, shop: Shop) -> None:
    payer = visit("en")
    payer.open(shop.card_payment(language="ky"))
    expect(payer.heading).to_have_text(WORDS["ky"].confirm_title)


def test_browser_of_another_language_gets_the_merchant_s(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    kassa_sandbox.switches.change(language="ru")
    payer = visit("de")
    payer.open(shop.qr())
    expect(payer.heading).to_have_text(WORDS["ru"].qr_title)


@pytest.mark.parametrize("language", list(NAMES))
def test_switched_language_goes_with_the_payer_to_the_end(
    visit: Visit, shop: Shop, kassa_sandbox: Sandbox, language: Language
) -> None:
    words = WORDS[language]
    payer = visit("ru" if language == "en" else "en")
    payer.open(shop.pay_form())
    payer.page.get_by_role("link", name=NAMES[language]).click()
    expect(payer.heading).to_have_text(words.pay_title)
    expect(payer.page.get_by_role("link", name=NAMES[language])).to_have_attribute("aria-current", "true")
    payer.page.get_by_role("radio", name="MegaPay").check()
    payer.page.get_by_label(words.phone).fill(phones.MEGAPAY_DECLINED.phone)
    payer.press(words.pay)
    expect(payer.heading).to_have_text(words.confirm_title)
    payer.page.get_by_label(words.otp).fill(phones.MEGAPAY_DECLINED.otp)
    payer.press(words.confirm)
    expect(payer.heading).to_have_text(words.not_paid)
    payer.page.get_by_role("link", name=words.back).click()
    assert payer.page.url == shop.return_url
    assert [payment.status for payment in kassa_sandbox.ledger()] == ["Reject"]
