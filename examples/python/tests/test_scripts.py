"""The scripts, as somebody runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kassa
import pytest
from kassa_sandbox import Sandbox, cards, phones

from client import callback
from patience import PATIENCE

SCRIPTS = Path(__file__).parents[1] / "scripts"
EXAMPLES = SCRIPTS.parents[1]

WRONG_CODES = [
    ("mbank", phones.MBANK_APPROVED.phone, "code: "),
    ("megapay", phones.MEGAPAY_APPROVED.phone, "PIN: "),
]


class Script:
    """A script that runs. What it prints is read line by line."""

    def __init__(self, name: str, *arguments: str, sandbox: Sandbox, folder: Path, pan: str, dialect: str) -> None:
        environment = {
            "KASSA_DIALECT": str(EXAMPLES / dialect),
            "KASSA_URL": sandbox.base_url,
            "KASSA_LOGIN": sandbox.login,
            "KASSA_PASSWORD": sandbox.password,
            "KASSA_CALLBACK_URL": "http://127.0.0.1:9/callback",
            "KASSA_RETURN_URL": "http://127.0.0.1:9/return",
            "KASSA_CARD_PAN": pan,
            "KASSA_CARD_EXPIRY_MONTH": "12",
            "KASSA_CARD_EXPIRY_YEAR": "2039",
            "KASSA_CARD_CVC": "123",
            "KASSA_CARD_NAME": "Aibek Asanov",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def rest_of_line(self, beginning: str) -> str:
        """The rest of the next line that begins so."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(beginning):
                return line.removeprefix(beginning).strip()
        raise AssertionError(f"no line begins with {beginning!r}")

    def end(self, typed: str = "", code: int = 0) -> str:
        """Types something, and waits for the end with this exit code; what was printed until then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._process.stdin as keyboard:
            keyboard.write(typed)
        # By the same reader as the lines before: it may hold some of these already.
        printed = self._process.stdout.read()
        assert self._process.wait(PATIENCE) == code
        return printed.strip()

    def stop(self) -> None:
        self._process.kill()
        with self._process:
            pass


class Terminal:
    """Runs scripts against the sandbox."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.scripts: list[Script] = []

    def run(
        self,
        name: str,
        *arguments: str,
        pan: str = cards.WITHOUT_3DS_APPROVED.pan,
        dialect: str = "sandbox-dialect.json",
    ) -> Script:
        script = Script(name, *arguments, sandbox=self.sandbox, folder=self.folder, pan=pan, dialect=dialect)
        self.scripts.append(script)
        return script


@pytest.fixture
def terminal(kassa_sandbox: Sandbox, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(kassa_sandbox, tmp_path)
    yield terminal
    for script in terminal.scripts:
        script.stop()


def test_card(terminal: Terminal) -> None:
    script = terminal.run("card", "100.10")
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    assert script.end() == "paid"
    assert terminal.sandbox.payment(ref.order_number or "").times_charged == 1
    assert terminal.run("check", str(ref)).end() == "charged 100.10 KGS"


def test_card_with_3ds_names_the_page_to_open(terminal: Terminal) -> None:
    script = terminal.run("card", "100.10", pan=cards.APPROVED.pan)
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    assert "/3ds?token=" in script.rest_of_line("open:")
    terminal.sandbox.decline(ref.order_number or "")
    assert script.end() == "not paid"


def test_mbank(terminal: Terminal) -> None:
    script = terminal.run("mbank", phones.MBANK_APPROVED.phone, "250")
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    printed = script.end(f"000000\n{phones.MBANK_APPROVED.otp}\n")
    assert printed.startswith("code: Wrong one-time password"), "a mistyped code can be typed again"
    assert printed.endswith("\ncode: paid")
    assert terminal.sandbox.payment(ref.order_number or "").times_charged == 1
    assert terminal.run("watch", str(ref)).end() == "charged PAYMENT_SUCCESS"


def test_megapay(terminal: Terminal) -> None:
    script = terminal.run("megapay", phones.MEGAPAY_APPROVED.phone, "250.50", "7")
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    assert script.rest_of_line("total:") == "255.51 som"
    assert script.end(f"{phones.MEGAPAY_APPROVED.otp}\n") == "PIN: paid"
    assert terminal.sandbox.payment(ref.order_number or "").times_charged == 1


def test_megapay_asks_for_a_mistyped_pin_again(terminal: Terminal) -> None:
    script = terminal.run("megapay", phones.MEGAPAY_APPROVED.phone, "250.50", "7")
    script.rest_of_line("total:")
    printed = script.end(f"000000\n{phones.MEGAPAY_APPROVED.otp}\n")
    assert printed.count("PIN: ") == 2
    assert printed.endswith("\nPIN: paid")


@pytest.mark.parametrize(("name", "phone", "prompt"), WRONG_CODES)
def test_code_that_is_never_right_ends_it(terminal: Terminal, name: str, phone: str, prompt: str) -> None:
    """At once: nobody waits 20 minutes for a payment that its payer cannot confirm."""
    script = terminal.run(name, phone, "250", *(["7"] if name == "megapay" else []))
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    started = time.monotonic()
    printed = script.end("000000\n" * 3, code=1)
    assert printed.count(prompt) == 3
    assert time.monotonic() - started < PATIENCE
    assert terminal.sandbox.payment(ref.order_number or "").times_charged == 0


def test_pay_form(terminal: Terminal) -> None:
    script = terminal.run("pay_form", "100.10", "cart-17")
    ref = script.rest_of_line("reference:")
    assert "/pay-form?token=" in script.rest_of_line("open:")
    script.end()
    (payment,) = terminal.sandbox.ledger()
    assert payment.kind == "pay_form"
    terminal.sandbox.approve(payment.order_number)
    number = payment.order_number
    back = f"http://127.0.0.1:9/return?cart=cart-17&OrderNumber={number}&statusCode=200"
    assert terminal.run("returned", ref, back).end() == f"paid by {number}"
    body = callback(number, terminal.sandbox.payment(number).provider or "", "100.10").decode()
    assert terminal.run("callback", ref).end(body) == f"paid by {number}"


def test_qr(terminal: Terminal) -> None:
    script = terminal.run("qr", "100.10")
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    terminal.sandbox.approve(ref.transaction_id or "")
    assert script.end() == "paid"
    assert (terminal.folder / "qr.png").read_bytes().startswith(b"\x89PNG")


def test_gateway_may_speak_another_dialect(terminal: Terminal) -> None:
    terminal.sandbox.switches.change(acts_as="other")
    script = terminal.run("qr", "100.10", dialect="sandbox-other-dialect.json")
    ref = kassa.PaymentRef.parse(script.rest_of_line("reference:"))
    terminal.sandbox.approve(ref.transaction_id or "")
    assert script.end() == "paid"
    check = terminal.run("check", str(ref), dialect="sandbox-other-dialect.json")
    assert check.end().startswith("charged")


def test_callback(terminal: Terminal) -> None:
    card = terminal.run("card", "100.10")
    ref = card.rest_of_line("reference:")
    card.end()
    number = kassa.PaymentRef.parse(ref).order_number or ""
    body = callback(number, "Cards", "100.10").decode()
    assert terminal.run("callback", ref).end(body) == f"paid by {number}"
    forged = callback(number, "Cards", "200").decode()
    assert terminal.run("callback", ref).end(forged) == "not true, it differs in amount"
