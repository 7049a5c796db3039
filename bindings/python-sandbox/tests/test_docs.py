"""Every public name is documented, and the README's example runs."""

from __future__ import annotations

import inspect
import re
import typing
from pathlib import Path

import pytest

import kassa_sandbox

README = (Path(__file__).parents[1] / "README.md").read_text()
CLASSES = [name for name in kassa_sandbox.__all__ if inspect.isclass(getattr(kassa_sandbox, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_name_is_documented(name: str) -> None:
    public: type = getattr(kassa_sandbox, name)
    documented = inspect.getdoc(public) or ""
    assert documented
    # What dataclasses write by themselves is none.
    assert not documented.startswith(f"{name}(")
    for member, value in vars(public).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            assert inspect.getdoc(value), f"{name}.{member}"


def test_every_fault_is_explained() -> None:
    for name in typing.get_args(kassa_sandbox.FaultName):
        assert f"``{name}``" in (kassa_sandbox.Faults.__doc__ or "")


def test_readmes_tests_pass(pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) > 1
    for number, block in enumerate(blocks):
        pytester.makepyfile(**{f"test_block_{number}": block})
    result = pytester.runpytest_subprocess("-W", "error")
    result.assert_outcomes(passed=len(blocks))
