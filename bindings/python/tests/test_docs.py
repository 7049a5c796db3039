"""The documentation: every public name has it, its examples run, and it speaks of Python only."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kassa_sandbox
import pytest
import trio
from conformance.patience import PATIENCE
from kassa_sandbox import TestPhone, phones
from raw_gateway import CHARGED, CREATED, OPEN, RawGateway, mbank_payment, response

import kassa
import kassa.checkout
import kassa.server
import kassa.server.testing
import kassa.testing
from kassa.cli.arguments import parser

PUBLIC = {
    name if module is not kassa.server else f"server.{name}": getattr(module, name)
    for module in (kassa, kassa.checkout, kassa.testing, kassa.server, kassa.server.testing)
    for name in module.__all__
    if not name.startswith("_")
}
README = (Path(__file__).parents[1] / "README.md").read_text()
DOCS = Path(__file__).parents[3] / "docs"
PROGRAMS: list[str] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(
    ("module", "says"),
    [
        (kassa, "always know what happened to the money"),
        (kassa.checkout, "no secret of the merchant"),
        (kassa.testing, "on a virtual clock"),
        (kassa.server, "the standard library alone"),
        (kassa.server.testing, "signed ones"),
    ],
)
def test_help_reads_well(module: types.ModuleType, says: str) -> None:
    text = pydoc.plain(pydoc.render_doc(module))
    assert says in text
    assert "uniffi" not in text.lower()
    assert "::" not in text
    for name in module.__all__:
        assert name in text


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    public = PUBLIC[name]
    if isinstance(public, int | types.UnionType):
        return
    documented = inspect.getdoc(public) or ""
    assert len(documented) > 10
    # What dataclasses and exceptions write by themselves is none.
    assert not documented.startswith(f"{name.removeprefix('server.')}(")
    if inspect.isclass(public):
        for method, function in inspect.getmembers(public, inspect.isfunction):
            if not method.startswith("_"):
                assert function.__doc__, f"{name}.{method}"
                assert not re.search(r"\[`|Self::|```", function.__doc__)


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str) -> None:
    public = PUBLIC[name]
    if isinstance(public, int | types.UnionType):
        return
    names = vars(kassa) | PUBLIC | {"Decimal": __import__("decimal").Decimal, "kassa": kassa}
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=True).find(public, name, module=False, globs=dict(names)):
        assert runner.run(example).failed == 0


def test_readmes_commands_are_known() -> None:
    [block] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    commands = [line for line in block.splitlines() if line.startswith("kassa ")]
    assert len(commands) > 6
    for line in commands:
        words = shlex.split(line, comments=True)[1:]
        parser("kassa").parse_args(words)  # what it does not know ends the test


@pytest.mark.parametrize("page", ["dialect.md", "elqr.md"])
def test_program_on_a_page_runs(page: str) -> None:
    [program] = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    exec(program, {})  # noqa: S102


def test_readmes_tests_run(pytester: pytest.Pytester) -> None:
    [tests] = (block for block in PROGRAMS if "def test_" in block)
    pytester.makepyfile(tests)
    pytester.runpytest_subprocess("-W", "error", "-p", "no:xdist").assert_outcomes(passed=2)


CODE_QUESTION = "The code from the SMS? "


@contextmanager
def first_program(
    sandbox: kassa_sandbox.Sandbox, folder: Path, payer: TestPhone
) -> Generator[subprocess.Popen[str], None, None]:
    """The README's first program as it stands there, for one of the sandbox's payers."""
    [program] = (block for block in PROGRAMS if "from_environment" in block)
    shown = "996555000101"
    assert shown in program
    (folder / "dialect.json").write_text(kassa_sandbox.dialect_json())
    login, password = sandbox.credentials
    environment = {"KASSA_URL": sandbox.base_url, "KASSA_LOGIN": login, "KASSA_PASSWORD": password}
    with subprocess.Popen(
        [sys.executable, "-c", program.replace(shown, payer.phone)],
        cwd=folder,
        env={**environment, "KASSA_DIALECT": "dialect.json"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_readme_first_program_reports_and_delivers_once(tmp_path: Path) -> None:
    question, paid = CODE_QUESTION, "paid: deliver cart 17"
    with kassa_sandbox.Sandbox() as sandbox:

        def printed(payer: TestPhone) -> list[str]:
            with first_program(sandbox, tmp_path, payer) as program:
                text, _ = program.communicate(payer.otp, timeout=PATIENCE)
                assert program.returncode == 0
            assert text.startswith(question)
            return text.removeprefix(question).splitlines()

        assert printed(phones.MBANK_APPROVED) == [paid, "1 delivered; left open: nothing"]
        declined, none_left = printed(phones.MBANK_INSUFFICIENT_FUNDS)
        assert declined.startswith("not paid")
        assert "reason='Insufficient funds'" in declined
        assert none_left == "0 delivered; left open: nothing"

        sandbox.faults.add("response-lost", endpoint="mbank/confirm", times=1)
        lost, found, _ = printed(phones.MBANK_APPROVED)
        assert "never send it again" in lost
        assert found == paid

        # It is killed while it waits for the code, and the payer pays in the bank's app.
        with first_program(sandbox, tmp_path, phones.MBANK_APPROVED) as program:
            assert program.stdout is not None
            assert program.stdout.read(len(question)) == question
            program.kill()
        sandbox.approve(sandbox.ledger()[-1].order_number or "")
        assert printed(phones.MBANK_APPROVED) == [paid, paid, "2 delivered; left open: nothing"]
        assert [payment.times_charged for payment in sandbox.ledger()] == [1, 0, 1, 1, 1]
    assert list(kassa.Journal(tmp_path / "payments").unfinished()) == []


def test_readme_first_program_asks_for_a_mistyped_code_again(tmp_path: Path) -> None:
    payer, paid = phones.MBANK_APPROVED, "paid: deliver cart 17"
    with kassa_sandbox.Sandbox() as sandbox:

        def printed(typed: str) -> list[str]:
            with first_program(sandbox, tmp_path, payer) as program:
                text, _ = program.communicate(typed, timeout=PATIENCE)
            return text.replace(CODE_QUESTION, "").splitlines()

        refused, delivered, _ = printed(f"000000\n{payer.otp}\n")
        assert "nothing happened" in refused
        assert delivered == paid
        assert sandbox.ledger()[-1].times_charged == 1
        # It ends, although nobody ever types the right code: at once where the gateway gives up, or within its 15 seconds.
        *refusals, rejected, _ = printed("000000\n" * 3)
        assert len(refusals) == 3
        assert rejected.startswith("not paid, or for a person")
        with first_program(sandbox, tmp_path, payer) as program:
            assert program.stdout is not None
            assert program.stdout.read(len(CODE_QUESTION)) == CODE_QUESTION
            program.kill()
        delivered, left = printed(payer.otp)
        assert delivered == paid
        assert left == "1 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person"


def test_readmes_journal_delivers_what_a_crash_left(raw: RawGateway, tmp_path: Path) -> None:
    [program] = (block for block in PROGRAMS if "def recover" in block)
    soon = "recover(kassa.RecoveryPolicy(interval=0.01))"
    for shown, used in (
        ("https://pay.example.kg", raw.url),
        ("/var/lib/shop/payments", str(tmp_path)),
        ("recover()", soon),
    ):
        assert shown in program
        program = program.replace(shown, used)
    program = program.replace(f"def {soon}", "def recover()")

    delivered: list[str] = []
    # It is started for the first time, again after it died, and once more.
    for answers, expected in (
        ([CREATED], []),
        ([response(500, ""), OPEN, CHARGED], ["cart 17"]),
        ([CHARGED], ["cart 17"]),
    ):
        shop: dict[str, Any] = {"password": "secret", "deliver": delivered.append}
        exec(program, shop)  # noqa: S102
        raw.answers(*answers)
        if answers == [CREATED]:
            shop["sell"]("cart 17", mbank_payment(order_number="o-1"))
        else:
            shop["recover"]()
        assert delivered == expected
    assert len(raw.requests) == 4, "what was delivered is queried no more"


def test_readmes_sales_under_trio(raw: RawGateway) -> None:
    [program] = (block for block in PROGRAMS if "import trio" in block)
    shop: dict[str, Any] = {}
    exec(program, shop)  # noqa: S102
    raw.answers(CREATED)
    payments = mbank_payment(), mbank_payment()
    assert trio.run(shop["sell"], raw.async_gateway(), payments[0]) == payments[0].payment_ref()
    assert trio.run(shop["sell_in_a_thread"], raw.gateway(), payments[1]) == payments[1].payment_ref()
