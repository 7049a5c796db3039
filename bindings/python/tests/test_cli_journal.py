"""The commands about a journal, as programs, on a journal of a shop and with the sandbox."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import kassa_sandbox
import pytest
from conformance.patience import PATIENCE
from conftest import REPOSITORY
from kassa_sandbox import Sandbox
from raw_gateway import mbank_payment
from test_cli import run

import kassa


class Shop:
    """A shop's journal: the cake is charged, the tea waits for its code, nobody knows of the milk, the honey is declined."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.environment = {
            "KASSA_URL": sandbox.base_url,
            "KASSA_LOGIN": sandbox.login,
            "KASSA_PASSWORD": sandbox.password,
            "KASSA_DIALECT": str(REPOSITORY / "examples/sandbox-dialect.json"),
            "KASSA_JOURNAL": str(folder),
        }
        dialect = kassa.Dialect.from_json(kassa_sandbox.dialect_json())
        credentials = kassa.Credentials(sandbox.login, sandbox.password)
        with kassa.Gateway(sandbox.base_url, credentials, dialect=dialect, journal=folder) as gateway:
            for note in ("cake", "tea"):
                gateway.with_note(note).create_mbank_payment(mbank_payment(order_number=note))
            sandbox.approve("cake")
            assert gateway.check(kassa.PaymentRef.mbank("cake", 250)).is_charged
            with sandbox.faults.add("response-lost", endpoint="mbank/pay", times=1), suppress(kassa.OutcomeUnknown):
                gateway.with_note("milk").create_mbank_payment(mbank_payment(order_number="milk"))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(*arguments, **self.environment)

    def states(self) -> dict[str, str]:
        lines = self.run("journal", "list", "--json").stdout.splitlines()
        return {entry["note"]: entry["state"] for entry in map(json.loads, lines)}

    def finished_by_hand(self) -> list[dict[str, Any]]:
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in (self.folder / "finished-by-hand.log").read_text().splitlines()]
        return []


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with Sandbox() as sandbox:
        yield Shop(sandbox, tmp_path)


def test_what_is_unfinished_is_listed_and_shown(shop: Shop) -> None:
    assert shop.states() == {"cake": "charged", "tea": "pending", "milk": "unknown"}
    listed = shop.run("journal", "list")
    assert listed.returncode == 1, "something is left"
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["charged", "pending", "unknown"]
    assert "250 KGS  cake  (cake)" in listed.stdout
    shown = shop.run("journal", "show", "milk")
    assert shown.returncode == 0, shown.stderr
    assert "it is unknown whether money moved. Never send it again." in shown.stdout
    entry = json.loads(shop.run("journal", "show", "cake", "--json").stdout)
    assert (entry["state"], entry["payment"].startswith("kassa1:")) == ("charged", True)
    # By its reference and by its id, too.
    for name in (entry["payment"], entry["id"]):
        assert json.loads(shop.run("journal", "show", name, "--json").stdout) == entry
    nobody = shop.run("journal", "show", "bread")
    assert (nobody.returncode, nobody.stderr.count("\n")) == (2, 1)
    assert "has no payment 'bread'" in nobody.stderr


def test_finishing_by_hand_needs_a_reason_and_a_yes(shop: Shop) -> None:
    finish = ("journal", "finish", "cake")
    for options, problem in (
        ((), "say why: --reason TEXT"),
        (("--reason", " "), "say why: --reason TEXT"),
        (("--reason", "shipped"), "finish it only if the payer has the goods, or the money back. There is no terminal"),
    ):
        refused = shop.run(*finish, *options)
        assert refused.returncode == 2
        assert problem in refused.stderr
    assert (shop.states()["cake"], shop.finished_by_hand()) == ("charged", [])
    done = shop.run(*finish, "--reason", "shipped", "--yes")
    assert (done.returncode, done.stdout.startswith("finished cake-")) == (0, True), done.stderr
    assert "cake" not in shop.states()
    [written] = shop.finished_by_hand()
    assert (written["state"], written["reason"]) == ("charged", "shipped")
    assert (shop.folder / "finished-by-hand.log").stat().st_mode & 0o777 == 0o600
    again = shop.run(*finish, "--reason", "shipped", "--yes")
    assert (again.returncode, "was finished before" in again.stdout) == (0, True)
    assert "It is finished." in shop.run("journal", "show", "cake").stdout


@pytest.mark.parametrize("order", ["tea", "milk"])
def test_what_is_undecided_is_not_finished_by_mistake(shop: Shop, order: str) -> None:
    finish = ("journal", "finish", order, "--reason", "the payer called", "--yes")
    refused = shop.run(*finish)
    assert refused.returncode == 2
    assert "is undecided: its money may have moved" in refused.stderr
    assert order in shop.states()
    assert shop.run(*finish, "--although-undecided").returncode == 0
    assert order not in shop.states()


def test_unreadable_file_is_finished_like_an_undecided_payment(shop: Shop) -> None:
    [day] = (shop.folder / "open").iterdir()
    (day / "honey").write_text("torn")
    assert "unreadable  honey: " in shop.run("journal", "list").stdout
    finish = ("journal", "finish", "honey", "--reason", "looked at", "--yes")
    assert "is undecided" in shop.run(*finish).stderr
    assert shop.run(*finish, "--although-undecided").returncode == 0
    assert "honey" not in shop.run("journal", "list").stdout


def typed(shop: Shop, answer: str) -> str:
    """What a person sees who answers the question."""
    controller, terminal = pty.openpty()
    words = ("journal", "finish", "cake", "--reason", "shipped")
    process = subprocess.Popen(
        [sys.executable, "-m", "kassa", *words],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **shop.environment},
        text=True,
    )
    os.close(terminal)
    os.write(controller, answer.encode())
    output, _ = process.communicate(timeout=PATIENCE)
    os.close(controller)
    return output


def test_person_is_asked_before_a_payment_is_finished(shop: Shop) -> None:
    output = typed(shop, "\n")
    assert "Finish it? [y/N]" in output
    assert "nothing was changed" in output
    assert "cake" in shop.states()
    assert "finished cake-" in typed(shop, "y\n")
    assert "cake" not in shop.states()


def test_recovery_asks_and_finishes_nothing(shop: Shop) -> None:
    shop.sandbox.decline("tea")
    shop.sandbox.approve("milk")
    recovered = shop.run("recover", "--json", "--jobs", "2")
    ends = {entry["note"]: entry["state"] for entry in map(json.loads, recovered.stdout.splitlines())}
    assert ends == {"cake": "charged", "tea": "rejected", "milk": "charged"}, recovered.stderr
    assert recovered.returncode == 1, "two are to be delivered"
    assert shop.states() == {"cake": "charged", "milk": "charged"}
    people = shop.run("recover")
    assert people.stdout.splitlines()[-1] == "2 unfinished, 0 of them undecided"


def test_journal_that_is_in_use_is_named(shop: Shop) -> None:
    credentials = kassa.Credentials(shop.sandbox.login, shop.sandbox.password)
    with (
        kassa.Gateway(shop.sandbox.base_url, credentials, journal=shop.folder) as gateway,
        gateway.recover() as recovery,
    ):
        next(recovery)
        refused = shop.run("recover")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"is recovering {shop.folder}" in refused.stderr
        assert shop.run("journal", "list").returncode == 1, "looking is always possible"


def test_folder_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        for command in (("journal", "list"), ("journal", "prune", "--yes"), ("recover",)):
            refused = run(*command, "--journal", str(folder))
            assert (refused.returncode, f"{folder} is not a journal" in refused.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
    assert "which journal?" in run("journal", "list").stderr


def test_old_payments_are_shown_before_they_are_pruned(shop: Shop) -> None:
    shop.run("journal", "finish", "cake", "--reason", "shipped", "--yes")
    old = shop.folder / "done" / "2020-01"
    old.mkdir()
    for name in ("a", "b"):
        (old / name).write_text("")
    refused = shop.run("journal", "prune")
    assert (refused.returncode, refused.stdout) == (2, "2020-01  2 finished payments\n")
    assert "could be sent again. There is no terminal to confirm on: add --yes" in refused.stderr
    assert old.exists()
    pruned = shop.run("journal", "prune", "--older-than", "400", "--yes")
    assert pruned.stdout.splitlines()[-1] == "removed 2 finished payments"
    assert not old.exists()
    assert "It is finished." in shop.run("journal", "show", "cake").stdout


def test_ping_says_whether_the_gateway_takes_the_credentials(shop: Shop) -> None:
    answered = shop.run("ping", "--json")
    assert (answered.returncode, json.loads(answered.stdout)["answered"]) == (0, True)
    assert shop.sandbox.base_url in shop.run("ping").stdout
    wrong = run("ping", **{**shop.environment, "KASSA_PASSWORD": "wrong"})
    assert wrong.returncode == 3
    assert "credentials" in wrong.stderr


def test_log_goes_to_standard_error(shop: Shop) -> None:
    logged = shop.run("ping", "-vv", "--json")
    assert "DEBUG kassa: responded" in logged.stderr
    assert json.loads(logged.stdout)["answered"]
    assert shop.run("ping").stderr == ""


def test_several_are_queried_at_once_and_printed_in_order(shop: Shop, tmp_path: Path) -> None:
    orders = tmp_path / "orders.txt"
    orders.write_text("cake\ntea\nnobody\nmilk\n")
    with shop.sandbox.faults.add("delay", order_number="cake", times=1, delay=timedelta(seconds=1)):
        listed = shop.run("status", "--orders", str(orders), "--provider", "MBank", "--jobs", "4")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["cake", "tea", "nobody", "milk"]
    assert listed.returncode == 3
    assert "must be between 1 and 64" in shop.run("status", "--orders", "x", "--jobs", "0").stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_shell_completes_commands_and_options() -> None:
    script = run("completion", "bash").stdout

    def completed(*words: str) -> list[str]:
        program = (
            f"{script}\nCOMP_WORDS=(kassa {' '.join(words)}); COMP_CWORD={len(words)}; _kassa; echo ${{COMPREPLY[@]}}"
        )
        bash = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE)
        assert bash.stderr == ""
        return bash.stdout.split()

    assert completed("jo") == ["journal"]
    assert {"list", "show", "finish", "prune"} <= set(completed("journal", "''"))
    assert completed("journal", "finish", "--alth") == ["--although-undecided"]
    assert "--although-undecided" not in completed("journal", "list", "--")
    assert completed("completion", "z") == ["zsh"]
    assert run("completion", "zsh").stdout.startswith("autoload -U +X bashcompinit")
    assert (
        '__fish_seen_subcommand_from journal && __fish_seen_subcommand_from list" -a "'
        in run("completion", "fish").stdout
    )


def test_missing_library_is_no_traceback(tmp_path: Path) -> None:
    package = Path(kassa.__file__).parent
    shutil.copytree(package, tmp_path / "kassa", ignore=shutil.ignore_patterns("__pycache__", "*kassa_native*"))
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "kassa", "ping"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert ran.stderr.startswith("kassa: Kassa's native library cannot be loaded")
