"""The command line as a program."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from conftest import PASSWORD, REPOSITORY, Sandbox
from raw_gateway import CHARGED, RawGateway, card, card_payment, envelope, mbank_payment

import kassa


def run(*arguments: str | bytes, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return start("-m", "kassa", *arguments, stdin=stdin, **environment)


def start(*arguments: str | bytes, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KASSA_")}
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=stdin,
        env={**inherited, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def environment(sandbox: Sandbox) -> dict[str, str]:
    return {
        "KASSA_URL": sandbox.url,
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


def test_status_of_one_payment(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    by_order = run("status", charged.order_number or "", "--provider", "cards", **environment)
    assert by_order.returncode == 0, by_order.stderr
    assert by_order.stdout.startswith("charged  100.10 KGS")
    for_machines = run("status", charged.order_number or "", "--provider", "Cards", "--json", **environment)
    answer = json.loads(for_machines.stdout)
    assert (answer["status"], answer["amount"]) == ({"kind": "charged", "word": None}, "100.10")
    unknown = run("status", "--gateway-number", "nobody-knows-it", **environment)
    assert unknown.returncode == 3
    assert unknown.stderr.startswith("kassa: The gateway refused")


def test_payment_is_checked(
    environment: dict[str, str], charged: kassa.PaymentRef, still_open: kassa.PaymentRef
) -> None:
    by_reference = run("check", str(charged), **environment)
    assert by_reference.returncode == 0, by_reference.stderr
    assert by_reference.stdout.startswith("charged  100.10 KGS")
    by_order = ("check", charged.order_number or "", "--provider", "cards")
    good = run(*by_order, "--amount", "100.1", "--json", **environment)
    assert (good.returncode, json.loads(good.stdout)["kind"]) == (0, "charged")
    # The money was taken, and the report contradicts the request.
    for wrong, field in ((("--amount", "200"), "amount"), (("--amount", "100.10", "--currency", "USD"), "currency")):
        other = run(*by_order, *wrong, **environment)
        assert other.returncode == 1
        assert other.stdout.startswith(f"mismatch in {field}, do not act on it")
    waiting = run("check", str(still_open), **environment)
    assert waiting.returncode == 1
    assert waiting.stdout.startswith("still pending")


def test_list_is_checked(
    environment: dict[str, str], charged: kassa.PaymentRef, still_open: kassa.PaymentRef, tmp_path: Path
) -> None:
    unknown = kassa.PaymentRef.card("nobody-knows-it", 5, "KGS")
    stored = tmp_path / "stored.txt"
    # With a byte order mark, as Notepad writes it.
    stored.write_text(f"{charged}\n\n{still_open}\n{unknown}\n", encoding="utf-8-sig")
    people = run("check", "--payments", str(stored), **environment)
    assert people.returncode == 3
    lines = people.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == [str(charged), str(still_open), str(unknown)]
    assert "no answer" in lines[2]
    assert people.stderr == "", "no bar where there is no terminal"
    machines = run("check", "--payments", "-", "--json", stdin=stored.read_text(encoding="utf-8"), **environment)
    answers = [json.loads(line) for line in machines.stdout.splitlines()]
    assert [answer.get("error") for answer in answers] == [None, None, "Refused"]
    assert [answer["kind"] for answer in answers[:2]] == ["charged", "pending"]
    orders = f"{charged.order_number}\nnobody-knows-it\n"
    reports = run("status", "--orders", "-", "--provider", "Cards", "--json", stdin=orders, **environment)
    assert reports.returncode == 3
    answers = [json.loads(line) for line in reports.stdout.splitlines()]
    assert [answer["queried"] for answer in answers] == orders.split()
    assert answers[0]["status"]["kind"] == "charged"


@pytest.mark.parametrize("given", ["shown", "interface"])
def test_test_environment_is_probed(environment: dict[str, str], given: str, tmp_path: Path) -> None:
    environment |= {} if given == "shown" else {"KASSA_DIALECT": given}
    values = ["--phone", "996555000101", "--otp", "101101", "--card", "4000000000002016", "--wait", "0"]
    host = environment["KASSA_URL"].removeprefix("http://")
    probe = ("probe", "--test-environment", host, "--yes", *values)
    found, report = tmp_path / "found.json", tmp_path / "report.md"
    first = run(*probe, "--write-dialect", str(found), "--report", str(report), **environment)
    assert first.returncode in (0, 1), first.stderr
    # The dialect that it found makes the next run clean.
    second = run(*probe, **(environment | {"KASSA_DIALECT": str(found)}))
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stdout.count("charged: the test money was taken") == 2
    for secret in (PASSWORD, "996555000101", "4000000000002016", "101101"):
        assert secret not in first.stdout + second.stdout + report.read_text(encoding="utf-8")


def test_probe_needs_a_test_environment_and_permission(raw: RawGateway, tmp_path: Path) -> None:
    environment = {"KASSA_URL": raw.url, "KASSA_LOGIN": "shop", "KASSA_PASSWORD": PASSWORD}
    host, there, new = raw.url.removeprefix("http://"), tmp_path / "there.md", tmp_path / "new.md"
    there.write_text("what another run found", encoding="utf-8")
    named = ("--test-environment", host)
    for arguments, why in (
        (("--yes",), f"say --test-environment {host}"),
        (("--yes", "--test-environment"), "expected one argument"),
        (("--yes", "--test-environment", "pay.example"), f"names pay.example, and the host of KASSA_URL is {host}"),
        (("--yes", "--test-environment", "127.0.0.1"), "names 127.0.0.1, and"),
        (named, "permit all payments by --yes"),
        ((*named, "--yes", "--report", str(there)), f"{there} exists already"),
        ((*named, "--yes", "--write-dialect", str(there)), f"{there} exists already"),
        ((*named, "--yes", "--report", str(new), "--write-dialect", str(new)), f"{new} exists already"),
        ((*named, "--yes", "--report", str(tmp_path / "nowhere" / "new.md")), "its folder does not exist"),
        ((*named, "--yes", "--charged-word=?!"), "neither a letter nor a digit"),
        ((*named, "--yes", "--amount", "1001"), "must be between 1 and 1000"),
        ((*named, "--yes", "--wait", "3601"), "must be between 0 and 3600"),
    ):
        refused = run("probe", *arguments, **environment)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert why in refused.stderr
    assert raw.requests == []
    assert there.read_text(encoding="utf-8") == "what another run found"
    unreachable = environment | {"KASSA_URL": "http://127.0.0.1:1"}
    elsewhere = run("probe", "--test-environment", "127.0.0.1:1", "--yes", **unreachable)
    assert elsewhere.stdout.startswith("The gateway's host is 127.0.0.1:1.\n")
    assert elsewhere.returncode == 2
    assert "nothing was created" in elsewhere.stderr


def read_to_the_end(terminal: int) -> str:
    """What was drawn there; it comes in pieces."""
    drawn = b""
    with suppress(OSError):  # its end, on Linux
        while piece := os.read(terminal, 65536):
            drawn += piece
    os.close(terminal)
    return drawn.decode()


def test_bar_is_drawn_on_a_terminal(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    terminal, its_end = pty.openpty()
    child = subprocess.run(
        [sys.executable, "-m", "kassa", "check", "--payments", "-"],
        input=f"{charged}\n{charged}\n".encode(),
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=its_end,
        check=False,
    )
    os.close(its_end)
    drawn = read_to_the_end(terminal)
    assert child.returncode == 0
    assert "1/2" in drawn
    assert "█" in drawn
    assert len(child.stdout.splitlines()) == 2


def test_payment_is_followed(environment: dict[str, str], charged: kassa.PaymentRef, raw: RawGateway) -> None:
    assert run("watch", str(charged), **environment).returncode == 0
    # A word of the gateway's own is never taken for a verdict.
    raw.answers(envelope(200, "200", "WAIT", {"status": "charged"}))
    quick = ("--interval", "0.05", "--deadline", str(PATIENCE / 20))
    asked_for = ("o-1", "--provider", "MBank", "--amount", "250")
    expired = run("watch", *asked_for, *quick, **(environment | {"KASSA_URL": raw.url}))
    assert expired.returncode == 3
    assert expired.stdout.startswith('still pending: "charged"')
    assert "still pending at the deadline" in expired.stderr


def test_code_is_drawn(tmp_path: Path) -> None:
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


def test_cli_escapes_control_characters_in_foreign_text() -> None:
    read = run("callback", stdin=callback("o-1\nstatus CHARGE\x1b[2J\u202e"))
    assert r"o-1\nstatus CHARGE\x1b[2J\u202e" in read.stdout
    assert not [line for line in read.stdout.splitlines() if line.startswith("status CHARGE")]
    wrong = run("status", "o-1\x1b[2J")
    assert (wrong.returncode, "\x1b" in wrong.stderr) == (2, False)


def test_callback_is_read_and_verified(environment: dict[str, str], charged: kassa.PaymentRef) -> None:
    body = callback(charged.order_number or "")
    read = run("callback", stdin=body)
    assert read.returncode == 0
    assert "charged" in read.stdout
    assert "hint" in read.stdout
    assert json.loads(run("callback", "--json", stdin=body).stdout)["amount"] == "100.10"
    assert run("callback", stdin="{}").returncode == 2
    form = "OrderNumber=order-1&amount=100,10"
    hint = run("callback", stdin=form)
    assert (hint.returncode, hint.stderr) == (0, "")
    assert "status, dateCreated, provider" in hint.stdout
    assert "dedup_key" not in hint.stdout
    assert json.loads(run("callback", "--json", stdin=form).stdout)["missing"] == ["status", "dateCreated", "provider"]

    good = run("verify", str(charged), stdin=body, **environment)
    assert good.returncode == 0, good.stderr
    assert good.stdout.startswith("charged  100.10 KGS")
    forged = run("verify", str(charged), "--json", stdin=callback(charged.order_number or "", "1"), **environment)
    assert forged.returncode == 1
    answer: dict[str, Any] = json.loads(forged.stdout)
    assert (answer["kind"], answer["fields"], answer["report"]) == ("mismatch", ["amount"], None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "17"),
        ("status", "--orders", "/no/such/file", "--provider", "Cards"),
        ("status", "kassa1:kind=card&order=1&provider=Cards", "--provider", "Cards"),
        ("status", "--gateway-number", "1", "--provider", "Cards"),
        ("status", "--transaction", "1", "--provider", "Cards"),
        ("check", "17"),
        ("check", "17", "--provider", "Cards"),
        ("check", "kassa1:kind=qr"),
        ("check", "kassa2:kind=card&order=1&provider=Cards"),
        ("check", "kassa1:kind=card&order=1&provider=Cards", "--amount", "5"),
        ("check", "--payments", "/no/such/file"),
        ("watch", "17", "--amount", "5"),
        ("watch", "kassa1:kind=card&order=1&provider=Cards", "--provider", "Cards"),
        ("verify", "17", "--currency", "USD"),
        ("qr", "tea", "--side", "500"),
        ("qr", "tea", "--side", "1", "--png", "never-written.png"),
    ],
)
def test_wrong_use_is_named(arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    wrong = run(*arguments, stdin=callback("1"), **environment)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("kassa: ")
    assert len(wrong.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("watch", "1", "--interval", "-1"), "--interval: must be longer"),
        (("watch", "1", "--interval", "nan"), "--interval: must be a number"),
        (("watch", "1", "--deadline", "1e300"), "--deadline: must be a number"),
        (("qr", "x", "--side", "-5"), "--side: must be between"),
        (("qr", "x", "--side", "wide"), "--side: must be a whole number"),
        (("qr", b"\xff"), "TEXT: must be UTF-8"),
        (("check", b"\xff", "--provider", "Cards"), "PAYMENT: must be UTF-8"),
        (("status", "1", "--provider", b"\xff"), "--provider: must be UTF-8"),
        (("verify", "1", "--amount", "nan"), "--amount: must be more"),
        (("check", "1", "--amount", "1e999999"), "--amount: must be more"),
    ],
)
def test_wrong_argument_is_named(arguments: tuple[str | bytes, ...], about: str) -> None:
    wrong = run(*arguments)
    assert wrong.returncode == 2
    assert wrong.stderr.splitlines()[-1].startswith(
        f"python -m kassa {os.fsdecode(arguments[0])}: error: argument {about}"
    )
    assert "Traceback" not in wrong.stderr


def test_wrong_environment_is_named(environment: dict[str, str]) -> None:
    for changes, complaint in (
        ({"KASSA_LOGIN": ""}, "KASSA_LOGIN must be set"),
        ({"KASSA_URL": "", "KASSA_LOGIN": ""}, "KASSA_URL must be set; KASSA_LOGIN must be set"),
        ({"KASSA_PASSWORD": "secret\udcff"}, "KASSA_PASSWORD must be UTF-8"),
        (
            {"KASSA_DIALECT": "/no/such/file"},
            "KASSA_DIALECT names a file that cannot be read: No such file or directory (os error 2), "
            "and is not one of the known dialects: interface, finipay",
        ),
    ):
        wrong = run("status", "1", "--provider", "Cards", **(environment | changes))
        said = [f"kassa: Wrong configuration, nothing happened: {complaint}."]
        assert (wrong.returncode, wrong.stderr.splitlines()) == (2, said)
    ascii_only = run("qr", "tea", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 2
    assert ascii_only.stderr.startswith("kassa: standard output is ascii")


def test_order_number_may_begin_like_a_reference(environment: dict[str, str], raw: RawGateway) -> None:
    raw.answers(CHARGED)
    at_raw = environment | {"KASSA_URL": raw.url, "KASSA_DIALECT": ""}
    asked_for = ("--provider", "Cards", "--amount", "100.50")
    for number in ("kassa-17", "kassa1", "kassa:17"):
        run("status", number, "--provider", "Cards", **at_raw)
        run("check", number, *asked_for, **at_raw)
        assert all(json.dumps(number).encode() in request for request in raw.requests[-2:])


DEFECTIVE = """
import sys
import kassa
from kassa.cli.main import main

def breaks(*_):
    raise {defect}

kassa.Gateway.provider_status = breaks
sys.exit(main())
"""


@pytest.mark.parametrize("defect", ["kassa.InternalError('it broke')", "KeyError('it broke')"])
def test_defect_never_looks_like_an_answer_of_the_gateway(defect: str, environment: dict[str, str]) -> None:
    script = DEFECTIVE.format(defect=defect)
    query = ("status", "1", "--provider", "Cards")
    broken = start("-c", script, *query, **environment)
    assert broken.returncode == 4
    assert broken.stdout == ""
    last = broken.stderr.splitlines()[-1]
    assert last.startswith("kassa: A defect in Kassa: ")
    assert "it broke" in last
    assert last.endswith("It says nothing about the money: watch the payment, never send it again.")
    for_machines = json.loads(start("-c", script, *query, "--json", **environment).stdout)
    assert for_machines["error"] == "InternalError"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("qr", "tea"), ("--help",), ("callback", "no-such-file")])
def test_it_ends_quietly_when_nobody_reads(arguments: tuple[str, ...], unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    is_complaint = arguments[0] == "callback"
    child = subprocess.run(
        [sys.executable, "-W", "error", "-m", "kassa", *arguments],
        stdout=subprocess.PIPE if is_complaint else writer,
        stderr=writer if is_complaint else subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        check=False,
    )
    os.close(writer)
    # argparse itself may have let the help go.
    assert child.returncode in ((0, 141) if arguments == ("--help",) else (141,))
    assert (child.stdout or b"") + (child.stderr or b"") == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only where there is a device that is always full")
def test_output_that_cannot_be_written_is_no_answer() -> None:
    with Path("/dev/full").open("w") as full:
        child = subprocess.run(
            [sys.executable, "-m", "kassa", "qr", "tea"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert child.returncode == 2
    assert child.stderr.decode().splitlines() == ["kassa: the output cannot be written: No space left on device"]


def test_password_is_in_no_output(environment: dict[str, str]) -> None:
    for changes in ({"KASSA_PASSWORD": "wrong-password"}, {"KASSA_URL": "http://pay.example.kg"}):
        outcome = run("status", "1", "--provider", "Cards", **(environment | changes))
        assert outcome.returncode in (2, 3)
        assert (environment | changes)["KASSA_PASSWORD"] not in outcome.stdout + outcome.stderr
    assert "--password" not in run("--help").stdout


def test_command_is_there_and_calls_itself_by_its_name() -> None:
    command = shutil.which("kassa", path=sysconfig.get_path("scripts"))
    assert command is not None
    by_name = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    as_module = run("--help").stdout
    assert by_name.startswith("usage: kassa [-h]")
    assert as_module.startswith("usage: python -m kassa [-h]")
    for name in ("status", "check", "watch", "qr", "callback", "verify", "probe"):
        assert f"\n    {name} " in by_name, "each command is listed with what it does"
    # A terminal is 80 columns wide.
    assert max(map(len, by_name.splitlines())) <= 80
