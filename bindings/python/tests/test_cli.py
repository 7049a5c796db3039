"""The command line as a program."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PASSWORD, REPOSITORY, Sandbox
from raw_gateway import RawGateway, card, card_payment, envelope, mbank_payment

import kassa


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KASSA_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "kassa", *arguments],
        input=stdin,
        env={**inherited, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def environment(sandbox: Sandbox) -> dict[str, str]:
    return {
        "KASSA_BASE_URL": sandbox.url,
        "KASSA_LOGIN": sandbox.login,
        "KASSA_PASSWORD": PASSWORD,
        "KASSA_DIALECT": str(REPOSITORY / "examples/sandbox-dialect.json"),
    }


def callback(order_number: str, amount: str = "100.10") -> str:
    body = {"orderNumber": order_number, "amount": amount, "currency": "KGS", "status": "CHARGE", "provider": "Cards"}
    return json.dumps(body | {"dateCreated": "2026-11-20T09:05:07"})


@pytest.fixture
def charged(gateway: kassa.Gateway) -> kassa.PaymentRef:
    return gateway.create_card_payment(card_payment(card=card("4000000000002016"))).payment


@pytest.fixture
def still_open(gateway: kassa.Gateway) -> kassa.PaymentRef:
    return gateway.create_mbank_payment(mbank_payment()).payment


def test_the_status_of_one_payment(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    by_reference = run("status", str(charged), **environment)
    assert by_reference.returncode == 0, by_reference.stderr
    assert by_reference.stdout.startswith("charged  100.10 KGS")
    by_order = run("status", charged.order_number or "", "--provider", "cards", "--json", **environment)
    answer = json.loads(by_order.stdout)
    assert (answer["status"], answer["amount"]) == ({"kind": "charged", "word": None}, "100.10")
    unknown = run("status", "--gateway-number", "nobody-knows-it", **environment)
    assert unknown.returncode == 3
    assert unknown.stderr.startswith("kassa: The gateway refused")


def test_the_status_of_a_list(
    environment: dict[str, str], charged: kassa.PaymentRef, still_open: kassa.PaymentRef, tmp_path: Path
) -> None:
    unknown = kassa.PaymentRef.card("nobody-knows-it")
    orders = tmp_path / "orders.txt"
    orders.write_text(f"{charged}\n\n{still_open}\n{unknown}\n")
    people = run("status", "--orders", str(orders), **environment)
    assert people.returncode == 3
    lines = people.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == [str(charged), str(still_open), str(unknown)]
    assert "no answer" in lines[2]
    assert people.stderr == "", "no bar where there is no terminal"
    machines = run("status", "--orders", "-", "--json", stdin=orders.read_text(), **environment)
    answers = [json.loads(line) for line in machines.stdout.splitlines()]
    assert [answer.get("error") for answer in answers] == [None, None, "Refused"]
    assert [answer["status"]["kind"] for answer in answers[:2]] == ["charged", "other"]


def test_a_bar_is_drawn_on_a_terminal(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    terminal, its_end = pty.openpty()
    child = subprocess.run(
        [sys.executable, "-m", "kassa", "status", "--orders", "-"],
        input=f"{charged}\n{charged}\n".encode(),
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=its_end,
        check=False,
    )
    os.close(its_end)
    drawn = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert child.returncode == 0
    assert "1/2" in drawn
    assert "█" in drawn
    assert len(child.stdout.splitlines()) == 2


def test_a_payment_is_followed(environment: dict[str, str], charged: kassa.PaymentRef, raw: RawGateway) -> None:
    assert run("watch", str(charged), **environment).returncode == 0
    # A word of the gateway's own is never taken for a verdict.
    raw.answers(envelope(200, "200", "WAIT", {"status": "charged"}))
    quick = ("--interval", "0.05", "--deadline", "3")
    expired = run("watch", "o-1", "--provider", "MBank", *quick, **(environment | {"KASSA_BASE_URL": raw.url}))
    assert expired.returncode == 3
    assert expired.stdout.startswith('"charged"')
    assert "still open at the deadline" in expired.stderr


def test_a_code_is_drawn(tmp_path: Path) -> None:
    shown = run("qr", "https://pay.example.kg/q/17")
    assert shown.returncode == 0
    assert shown.stdout.strip("\n") == kassa.QrCode("https://pay.example.kg/q/17").text()
    png, svg = tmp_path / "q.png", tmp_path / "q.svg"
    written = run("qr", "-", "--png", str(png), "--svg", str(svg), "--side", "300", stdin="tea\n")
    assert (written.returncode, written.stdout) == (0, "")
    assert png.read_bytes() == kassa.QrCode("tea").png(300)
    assert "<svg" in svg.read_text()
    rows = json.loads(run("qr", "tea", "--json", "--level", "high").stdout)["modules"]
    assert len(rows) == len(rows[0])
    assert run("qr", "").returncode == 2


def test_a_stranger_writes_no_line_and_moves_no_cursor() -> None:
    read = run("callback", stdin=callback("o-1\nstatus CHARGE\x1b[2J\u202e"))
    assert r"o-1\nstatus CHARGE\x1b[2J\u202e" in read.stdout
    assert not [line for line in read.stdout.splitlines() if line.startswith("status CHARGE")]
    wrong = run("status", "o-1\x1b[2J")
    assert (wrong.returncode, "\x1b" in wrong.stderr) == (2, False)


def test_a_callback_is_read_and_verified(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    body = callback(charged.order_number or "")
    read = run("callback", stdin=body)
    assert read.returncode == 0
    assert "charged" in read.stdout
    assert "hint" in read.stdout
    assert json.loads(run("callback", "--json", stdin=body).stdout)["amount"] == "100.10"
    assert run("callback", stdin="{}").returncode == 2

    known = ("--expect", str(charged), "--amount", "100.10")
    good = run("verify", *known, stdin=body, **environment)
    assert good.returncode == 0, good.stderr
    assert good.stdout.startswith("confirmed: charged")
    forged = run("verify", *known, "--json", stdin=callback(charged.order_number or "", "1"), **environment)
    assert forged.returncode == 1
    answer: dict[str, Any] = json.loads(forged.stdout)
    assert (answer["verdict"], answer["fields"], answer["is_charged"]) == ("Contradicted", ["amount"], False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "kassa1:kind=card&order=1&provider=Cards"),
        ("status", "17"),
        ("status", "kassa1:kind=qr"),
        ("status", "--orders", "/no/such/file"),
        ("watch", "17", "--provider", "ELSOM"),
    ],
)
def test_wrong_use_is_named(arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    settings = {} if arguments[1].endswith("Cards") else environment
    wrong = run(*arguments, **settings)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("kassa: ")
    assert "Traceback" not in wrong.stderr


def test_the_password_is_in_no_output(environment: dict[str, str]) -> None:
    for changes in ({"KASSA_PASSWORD": "wrong-password"}, {"KASSA_BASE_URL": "http://pay.example.kg"}):
        outcome = run("status", "1", "--provider", "Cards", **(environment | changes))
        assert outcome.returncode in (2, 3)
        assert (environment | changes)["KASSA_PASSWORD"] not in outcome.stdout + outcome.stderr
    assert "--password" not in run("--help").stdout
