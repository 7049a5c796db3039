"""The test cards and phones are those that the sandbox's README publishes."""

from __future__ import annotations

import doctest
from pathlib import Path

import kassa
import pytest
from conftest import Shop

from kassa_sandbox import Sandbox, SandboxError, TestCard, TestPhone, cards, phones

README = (Path(__file__).parents[3] / "sandbox/README.md").read_text()


def rows(columns: int) -> set[tuple[str, ...]]:
    """The rows of the README's tables whose first cell is nothing but a number."""
    lines = (line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("| `"))
    cells = ([cell.strip("` ") for cell in line] for line in lines)
    return {tuple(row) for row in cells if len(row) == columns and row[0].isdigit() and len(row[0]) > 6}


def test_they_are_the_published_ones() -> None:
    known: set[tuple[str, ...]] = {(card.pan, card.three_ds, card.outcome, card.otp or "none") for card in cards.ALL}
    known |= {(phone.phone, phone.provider, phone.outcome, phone.otp) for phone in phones.ALL}
    assert known == rows(4)
    assert len(known) == len(cards.ALL) + len(phones.ALL)


@pytest.mark.parametrize("module", [cards, phones])
def test_each_has_a_name(module: object) -> None:
    named = {id(value) for name, value in vars(module).items() if name.isupper() and name != "ALL"}
    assert named == {id(payer) for payer in vars(module)["ALL"]}


@pytest.mark.parametrize("card", [card for card in cards.ALL if card.three_ds == "without 3DS"], ids=lambda it: it.pan)
def test_card_ends_as_it_says(kassa_sandbox: Sandbox, shop: Shop, card: TestCard) -> None:
    try:
        shop.pay_by_card("order-1", card.pan)
    except kassa.OutcomeUnknown:
        assert card.outcome == "error"
    expected = {"approved": "CHARGE", "stuck pending": "PENDING"}.get(card.outcome, "Reject")
    assert kassa_sandbox.payment("order-1").status == expected


@pytest.mark.parametrize("module", [cards, phones])
def test_examples_run(module: object) -> None:
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(module):
        assert runner.run(example).failed == 0
    assert runner.summarize().attempted > 0


def pay_form(shop: Shop, amount: int = 390) -> str:
    form = kassa.PayForm(
        amount=amount,
        service_name="Honey",
        callback_url="http://127.0.0.1:9/c",
        return_url="http://127.0.0.1:9/paid?cart=7",
    )
    return shop.gateway.create_pay_form(form).pay_form_url


@pytest.mark.parametrize(
    "payer",
    [
        cards.APPROVED,
        cards.THREE_DS_1_APPROVED,
        cards.WITHOUT_3DS_APPROVED,
        phones.MBANK_APPROVED,
        phones.MEGAPAY_APPROVED,
    ],
    ids=lambda payer: payer.outcome,
)
def test_pay_by_form_pays_and_returns_the_way_back(
    kassa_sandbox: Sandbox, shop: Shop, payer: TestCard | TestPhone
) -> None:
    back = kassa_sandbox.pay_by_form(pay_form(shop), payer)
    assert back.startswith("http://127.0.0.1:9/paid?cart=7&")
    assert kassa_sandbox.ledger()[-1].times_charged == 1


@pytest.mark.parametrize("payer", [cards.DECLINED, cards.WITHOUT_3DS_DECLINED, phones.MBANK_DECLINED])
def test_declined_payer_stays_on_the_page(kassa_sandbox: Sandbox, shop: Shop, payer: TestCard | TestPhone) -> None:
    assert kassa_sandbox.pay_by_form(pay_form(shop), payer) == ""
    assert kassa_sandbox.ledger()[-1].times_charged == 0


def test_pay_form_is_paid_once(kassa_sandbox: Sandbox, shop: Shop) -> None:
    page_url = pay_form(shop)
    kassa_sandbox.pay_by_form(page_url)
    with pytest.raises(SandboxError, match="paid already"):
        kassa_sandbox.pay_by_form(page_url)
    with pytest.raises(SandboxError, match="does not take this payer"):
        kassa_sandbox.pay_by_form(pay_form(shop, amount=4), phones.MEGAPAY_APPROVED)
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [1, 0]
