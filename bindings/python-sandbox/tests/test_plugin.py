"""The pytest plugin, as a user's tests meet it."""

from __future__ import annotations

import subprocess
import sys

import pytest

TESTS = """
import os
from pathlib import Path

import pytest
from kassa_sandbox import Sandbox, TestCard, TestPhone, cards

@pytest.mark.parametrize("round", range(4))
def test_nothing_is_left_of_the_last_one(kassa_sandbox, round):
    assert kassa_sandbox.faults.list() == ()
    assert kassa_sandbox.switches.read().language == "en"
    kassa_sandbox.faults.add("unavailable")
    kassa_sandbox.switches.change(language="ky")
    Path(f"sandbox-{kassa_sandbox.pid}-of-{os.getpid()}").touch()
    if round == 1:
        kassa_sandbox.stop()
"""


def test_each_test_finds_a_sandbox_in_which_nothing_has_happened(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-W", "error", "-p", "no:xdist")
    result.assert_outcomes(passed=4)
    # One for all tests, and another after one of them had stopped it.
    assert len(list(pytester.path.glob("sandbox-*"))) == 2


def test_every_worker_of_xdist_has_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-n", "2", "--dist", "each").assert_outcomes(passed=8)
    workers = {path.name.split("-of-")[1] for path in pytester.path.glob("sandbox-*")}
    assert len(workers) == 2


def test_settings_are_changed_by_another_fixture_of_that_name(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import pytest
        from kassa_sandbox import Sandbox

        @pytest.fixture(scope="session")
        def kassa_sandbox_session(tmp_path_factory):
            with Sandbox(password="planted", database=tmp_path_factory.mktemp("sandbox") / "sandbox.db") as sandbox:
                yield sandbox
    """)
    pytester.makepyfile("""
        def test_it(kassa_sandbox):
            assert kassa_sandbox.password == "planted"
            kassa_sandbox.restart()
    """)
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=1)


def test_program_finds_it_by_its_environment(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import os
        import kassa
        import pytest
        from kassa_sandbox import Sandbox, dialect_json

        def test_it_is_set(kassa_sandbox, kassa_sandbox_environment):
            with kassa.Gateway.from_environment() as gateway:
                form = kassa.PayForm(
                    amount=390, service_name="Honey", callback_url="http://shop/c", return_url="http://shop/r"
                )
                assert kassa_sandbox.pay_by_form(gateway.create_pay_form(form).pay_form_url)
            assert kassa_sandbox.ledger()[-1].times_charged == 1

        def test_only_during_the_test():
            assert "KASSA_URL" not in os.environ

        def test_it_is_that_of_the_responses(kassa_sandbox):
            kassa_sandbox.switches.change(acts_as="finipay")
            with open(kassa_sandbox.environment()["KASSA_DIALECT"]) as file:
                assert file.read() == dialect_json("finipay")
    """)
    pytester.runpytest_subprocess("-W", "error", "-p", "no:xdist").assert_outcomes(passed=3)


def test_runs_that_never_ask_do_not_pay_for_http() -> None:
    """pytest loads the plugin wherever it is installed."""
    script = "import sys, kassa_sandbox.pytest_plugin; sys.exit('http.client' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
