"""The pytest plugin, as a user's tests meet it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_readmes_tests_pass(pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) > 1
    for number, block in enumerate(blocks):
        pytester.makepyfile(**{f"test_block_{number}": block})
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=len(blocks))


def test_one_server_serves_the_whole_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("round", range(3))
        def test_it(kassa_server, round):
            with open("pids", "a") as pids:
                print(kassa_server.pid, file=pids)
    """)
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=3)
    assert len(set((pytester.path / "pids").read_text().split())) == 1


def test_shop_finds_it_by_its_environment(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import os
        from kassa.server import Client
        from kassa.server.testing import sign_event
        from kassa.server import verify_event

        def test_it_is_set(kassa_server, kassa_server_environment):
            with Client.from_environment() as client:
                back = "http://127.0.0.1:9/paid"
                checkout = client.open_checkout("order-environment", 390, "Honey", return_url=back)
            kassa_server.pay_on_page(checkout.page_url)
            kassa_server.wait_for("checkout.paid", reference="order-environment")
            signed = sign_event(kassa_server.events_secret)
            assert verify_event(signed.body, signed.headers, os.environ["KASSA_EVENTS_SECRET"]).is_paid

        def test_only_during_the_test():
            assert "KASSA_API_KEY" not in os.environ
    """)
    pytester.runpytest_subprocess("-W", "error").assert_outcomes(passed=2)


def test_runs_that_never_ask_need_no_sandbox() -> None:
    """pytest loads the plugin wherever it is installed, also where the sandbox is not."""
    script = """
import sys
sys.modules["kassa_sandbox"] = None
import kassa_server.pytest_plugin
sys.exit("http.client" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
