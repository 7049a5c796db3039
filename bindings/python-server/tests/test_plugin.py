"""The pytest plugin, as a user's tests meet it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_readmes_tests_pass(pytester: pytest.Pytester) -> None:
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


def test_runs_that_never_ask_need_no_sandbox() -> None:
    """pytest loads the plugin wherever it is installed, also where the sandbox is not."""
    script = """
import sys
sys.modules["kassa_sandbox"] = None
import kassa_server.pytest_plugin
sys.exit("http.client" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
