"""A sandbox starts, says why where it cannot, comes back after a crash, and never outlives who started it."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE, Shop

from kassa_sandbox import NotRunning, Sandbox, StartError, SwitchValues, cards

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
linux = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of the end of a stranger's process")


def test_it_runs_as_long_as_the_block() -> None:
    with Sandbox(login="shop", password="planted") as sandbox:
        assert sandbox.is_running
        assert sandbox.credentials == ("shop", "planted")
        assert sandbox.ledger() == ()
        pid = sandbox.pid
        assert pid is not None
        address = sandbox.base_url
    assert not sandbox.is_running
    assert sandbox.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert sandbox.base_url == address
    with pytest.raises(NotRunning):
        sandbox.ledger()
    sandbox.stop()


def test_one_that_was_not_started_says_so() -> None:
    sandbox = Sandbox()
    with pytest.raises(NotRunning, match="not started"):
        _ = sandbox.base_url
    with pytest.raises(NotRunning, match="not started"):
        sandbox.faults.clear()
    sandbox.stop()


def test_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StartError, match=f"cannot listen on 127.0.0.1:{port}") as failed:
            Sandbox(port=port).start()
    assert failed.value.exit_code == 1


def test_settings_reach_the_sandbox() -> None:
    with Sandbox(
        language="ky",
        reused_order_number="replay",
        status_numbers="any",
        three_ds_1_page=True,
        redirect_declines=True,
        acts_as="other",
        mbank_quid="not-sent",
        callback_pauses=[timedelta(seconds=1), timedelta(minutes=1)],
        callback_timeout=timedelta(seconds=3),
    ) as sandbox:
        expected = SwitchValues("replay", "any", True, True, "ky", "other", "not-sent")  # noqa: FBT003
        assert sandbox.switches.read() == expected


def test_invented_history_is_there_once(tmp_path: Path) -> None:
    with Sandbox(database=tmp_path / "sandbox.db", demo_payments=30) as sandbox:
        assert len(sandbox.ledger()) == 30
        sandbox.restart()
        assert len(sandbox.ledger()) == 30


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"language": "de"}, "'de' for '--language"),
        ({"reused_order_number": "charge"}, "charge-twice"),
        ({"login": "a:b"}, "login: must not"),
        ({"database": "/no/such/folder/sandbox.db"}, "/no/such/folder/sandbox.db"),
        ({"port": 70000}, "70000"),
        ({"demo_payments": 1_000_001}, "1000001"),
        ({"log": "/no/such/folder/sandbox.log"}, "/no/such/folder/sandbox.log"),
    ],
)
def test_wrong_setting_is_named_by_the_start(settings: dict[str, Any], why: str) -> None:
    sandbox = Sandbox(**settings)
    with pytest.raises(StartError, match=why):
        sandbox.start()
    assert not sandbox.is_running


@pytest.mark.parametrize("pauses", [[], [timedelta(seconds=1, milliseconds=500)]])
def test_pauses_are_whole_seconds(pauses: list[timedelta]) -> None:
    with pytest.raises(ValueError, match="callback_pauses"):
        Sandbox(callback_pauses=pauses)


@pytest.mark.parametrize(
    ("program", "why"), [("/no/such/program", "/no/such/program"), ("/bin/echo", "not a sandbox of")]
)
def test_another_program_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, why: str) -> None:
    monkeypatch.setenv("KASSA_SANDBOX_BINARY", program)
    with pytest.raises(StartError, match=why):
        Sandbox(log=tmp_path / "sandbox.log").start()


def test_crash_keeps_what_is_in_the_database(tmp_path: Path) -> None:
    with Sandbox(database=tmp_path / "sandbox.db") as sandbox:
        address = sandbox.base_url
        shop = Shop(sandbox)
        shop.pay_by_card("order-1", cards.APPROVED.pan)
        before = sandbox.payment("order-1")
        sandbox.kill()
        assert not sandbox.is_running
        with pytest.raises(NotRunning):
            sandbox.ledger()
        sandbox.restart()
        assert sandbox.base_url == address
        assert sandbox.ledger() == (before,)
        assert sandbox.approve("order-1").is_charged
        shop.gateway.close()


def test_restart_in_memory_comes_back_empty() -> None:
    with Sandbox(redirect_declines=True) as sandbox:
        shop = Shop(sandbox)
        shop.pay_by_card("order-1")
        sandbox.switches.change(redirect_declines=False)
        sandbox.faults.add("delay", delay=timedelta(seconds=1))
        first, token = sandbox.pid, sandbox.admin_token
        sandbox.restart()
        assert sandbox.pid != first
        assert sandbox.admin_token == token
        assert sandbox.ledger() == ()
        assert sandbox.faults.list() == ()
        assert sandbox.switches.read().redirect_declines
        shop.gateway.close()


@linux
def test_end_by_itself_is_seen(kassa_sandbox: Sandbox) -> None:
    assert kassa_sandbox.pid is not None
    with ended(kassa_sandbox.pid):
        os.kill(kassa_sandbox.pid, signal.SIGTERM)
    assert not kassa_sandbox.is_running
    assert kassa_sandbox.start().ledger() == ()


def test_no_secret_is_in_what_others_can_read(kassa_sandbox: Sandbox) -> None:
    assert kassa_sandbox.admin_token not in repr(kassa_sandbox)
    arguments = Path(f"/proc/{kassa_sandbox.pid}/cmdline")
    if arguments.exists():
        assert b"--announce" in arguments.read_bytes()
        assert kassa_sandbox.admin_token.encode() not in arguments.read_bytes()


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch, kassa_sandbox: Sandbox) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert kassa_sandbox.ledger() == ()


@contextmanager
def ended(pid: int) -> Generator[None]:
    """What is done here makes a process end, which is not a child of this one."""
    handle = os.pidfd_open(pid)
    try:
        yield
        assert select.select([handle], [], [], PATIENCE)[0], "it lives on"
    finally:
        os.close(handle)


@contextmanager
def program(body: str) -> Generator[tuple[subprocess.Popen[str], int]]:
    """A program that starts a sandbox and goes on; and the sandbox's process."""
    script = """
import multiprocessing, os, sys, threading, time
from kassa_sandbox import Sandbox
sandbox = Sandbox()
def say(): print(sandbox.pid, flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script + textwrap.dedent(body)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            # With whatever it started.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@linux
def test_killed_program_leaves_nothing_behind() -> None:
    with program("sandbox.start(); say(); input()") as (process, pid), ended(pid):
        process.kill()


@linux
def test_program_that_forgets_to_stop_it_leaves_nothing_behind() -> None:
    with program("sandbox.start(); say(); input()") as (process, pid), ended(pid):
        process.communicate("\n", timeout=PATIENCE)
    assert process.returncode == 0


@linux
def test_process_forked_from_a_killed_program_does_not_keep_it_alive() -> None:
    body = """
    sandbox.start()
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    forked.start()
    print(sandbox.pid, forked.pid, flush=True)
    input()
    """
    with program(body.replace("print(sandbox.pid, ", "say(); print(")) as (process, pid):
        assert process.stdout is not None
        forked = int(process.stdout.readline())
        with ended(pid):
            process.kill()
        os.kill(forked, 0)


@linux
def test_program_started_from_the_tests_does_not_keep_it_alive() -> None:
    body = """
    import subprocess
    sandbox.start()
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
    say(); print(other.pid, flush=True)
    input()
    """
    with program(body) as (process, pid):
        assert process.stdout is not None
        other = int(process.stdout.readline())
        with ended(pid):
            process.kill()
        os.kill(other, 0)


@linux
def test_ctrl_c_is_for_the_program() -> None:
    body = """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sandbox.start()
    try:
        say()
        time.sleep(600)
    except KeyboardInterrupt:
        assert sandbox.ledger() == ()
        sandbox.stop()
        print("in order", flush=True)
    """
    with program(body) as (process, pid), ended(pid):
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.readline() == "in order\n"


def test_it_outlives_the_thread_that_started_it() -> None:
    sandbox = Sandbox()
    starter = threading.Thread(target=sandbox.start)
    starter.start()
    starter.join()
    with sandbox:
        assert sandbox.ledger() == ()


@unix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_process_may_ask_and_leaves_it_alone(kassa_sandbox: Sandbox) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        signal.alarm(int(PATIENCE))
        try:
            assert kassa_sandbox.ledger() == ()
            assert not kassa_sandbox.is_running
            kassa_sandbox.stop()
            for refused in (kassa_sandbox.start, kassa_sandbox.restart, kassa_sandbox.kill):
                with pytest.raises(NotRunning, match="forked"):
                    refused()
            with Sandbox() as own:
                assert own.ledger() == ()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert kassa_sandbox.is_running
    assert kassa_sandbox.ledger() == ()


def test_program_can_be_run_by_hand() -> None:
    command = [sys.executable, "-m", "kassa_sandbox"]
    version = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True).stdout
    assert version.startswith("kassa-sandbox ")
    wrong = subprocess.run([*command, "--no-such-option"], check=False, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "--no-such-option" in wrong.stderr
    missing = {**os.environ, "KASSA_SANDBOX_BINARY": "/no/such/program"}
    lost = subprocess.run(command, check=False, capture_output=True, text=True, env=missing)
    assert lost.returncode == 1
    assert "kassa_sandbox: " in lost.stderr
    assert "Traceback" not in lost.stderr
