"""Each way to pay, by the keyboard alone. What the keyboard is on can always be seen."""

from __future__ import annotations

from kassa_sandbox import Sandbox, cards, phones
from playwright.sync_api import expect

from shop import Shop
from visitor import Visit, Visitor

OUTLINED = (
    "element => [element, element.closest('label')].some(it => it && getComputedStyle(it).outlineStyle !== 'none')"
)


class Keyboard:
    """Somebody without a mouse."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._keys = visitor.page.keyboard

    def reach(self, role: str, name: str) -> None:
        """Presses Tab until the keyboard is on it."""
        self._visitor.page.wait_for_load_state()
        for _ in range(40):
            if self._is_on(role, name):
                return
            self._keys.press("Tab")
            assert self._visitor.focused.evaluate(OUTLINED), "nobody sees where the keyboard is"
        raise AssertionError(f"the keyboard never reaches the {role} {name}")

    def _is_on(self, role: str, name: str) -> bool:
        named = self._visitor.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        return self._visitor.focused.and_(named).count() == 1

    def press(self, *keys: str) -> None:
        for key in keys:
            self._keys.press(key)

    def type(self, text: str) -> None:
        """Into the field that has the focus; a new page gives it one only when it is first drawn."""
        expect(self._visitor.page.locator("input:focus, textarea:focus")).to_have_count(1)
        self._keys.type(text)


def assert_paid_in_the_shop(payer: Visitor, sandbox: Sandbox) -> None:
    expect(payer.heading).to_have_text("The shop")
    assert [payment.times_charged for payment in sandbox.ledger()] == [1]


def test_one_time_password(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    payer.open(shop.card_payment())
    keyboard.type("123456")
    keyboard.press("Enter")
    assert_paid_in_the_shop(payer, kassa_sandbox)


def test_payment_is_cancelled(visit: Visit, shop: Shop) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    for address in (shop.card_payment(), shop.pay_form()):
        payer.open(address)
        keyboard.reach("button", "Cancel the payment")
        keyboard.press("Enter")
        expect(payer.heading).to_have_text("Not paid")
        keyboard.reach("link", "Back to the merchant")
        keyboard.press("Enter")
        expect(payer.heading).to_have_text("The shop")


def test_card_on_the_pay_form(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    payer.open(shop.pay_form())
    keyboard.reach("radio", "Bank card")
    for text in [cards.APPROVED.pan, "12", "39", "123", "Aibek Asanov"]:
        keyboard.press("Tab")
        keyboard.type(text)
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("Confirm the payment")
    keyboard.type("123456")
    keyboard.press("Enter")
    assert_paid_in_the_shop(payer, kassa_sandbox)


def test_wallet_on_the_pay_form(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    payer.open(shop.pay_form())
    keyboard.reach("radio", "Bank card")
    keyboard.press("ArrowDown", "ArrowDown", "Tab")
    keyboard.type(phones.MBANK_APPROVED.phone)
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("Confirm the payment")
    keyboard.type(phones.MBANK_APPROVED.otp)
    keyboard.press("Enter")
    assert_paid_in_the_shop(payer, kassa_sandbox)
    assert kassa_sandbox.ledger()[0].provider == "MBank"


def test_test_data_are_chosen(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    payer.open(shop.pay_form())
    keyboard.reach("button", "4111 1111 1111 1111 approved")
    keyboard.press("Enter")
    expect(payer.page.get_by_role("region", name="Test data").get_by_role("status")).to_have_text(
        "The form is filled in"
    )
    expect(payer.page.get_by_role("button", name="Pay KGS")).to_be_focused()
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("Confirm the payment")
    keyboard.reach("button", "123456")
    keyboard.press("Enter", "Enter")
    assert_paid_in_the_shop(payer, kassa_sandbox)


def test_qr_code(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit(size="phone")
    keyboard = Keyboard(payer)
    payer.open(shop.qr(None))
    keyboard.type("99.50")
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("Paid")
    assert [str(payment.amount) for payment in kassa_sandbox.ledger()] == ["9950"]

    payer.open(shop.qr())
    keyboard.reach("button", "Decline")
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("Not paid")


def test_language_is_switched(visit: Visit, shop: Shop) -> None:
    payer = visit()
    keyboard = Keyboard(payer)
    payer.open(shop.qr())
    keyboard.reach("link", "Кыргызча")
    keyboard.press("Enter")
    expect(payer.heading).to_have_text("QR-код менен төлөө")
