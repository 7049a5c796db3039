"""The documentation: every public name has it, its examples run, and it speaks of Python only."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
import types
from pathlib import Path
from typing import Any

import pytest
from raw_gateway import CHARGED, CREATED, OPEN, RawGateway, mbank_payment, reply

import kassa
import kassa.testing

PUBLIC = {
    name: getattr(module, name)
    for module in (kassa, kassa.testing)
    for name in module.__all__
    if not name.startswith("_")
}
README = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.mark.parametrize(
    ("module", "says"), [(kassa, "always know what happened to the money"), (kassa.testing, "on a virtual clock")]
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
    assert not documented.startswith(f"{name}(")
    if inspect.isclass(public):
        for method, function in inspect.getmembers(public, inspect.isfunction):
            if not method.startswith("_"):
                assert function.__doc__, f"{name}.{method}"
                assert not re.search(r"\[`|Self::|```", function.__doc__)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_examples_run(name: str) -> None:
    public = PUBLIC[name]
    if isinstance(public, int | types.UnionType):
        return
    names = vars(kassa) | PUBLIC | {"Decimal": __import__("decimal").Decimal, "kassa": kassa}
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=True).find(public, name, module=False, globs=dict(names)):
        assert runner.run(example).failed == 0


def test_the_readmes_tests_run(pytester: pytest.Pytester) -> None:
    [tests] = (block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "def test_" in block)
    pytester.makepyfile(tests)
    pytester.runpytest_subprocess("-W", "error", "-p", "no:xdist").assert_outcomes(passed=2)


def test_the_readmes_journal_delivers_what_a_crash_left(raw: RawGateway, tmp_path: Path) -> None:
    [program] = (block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "journal=" in block)
    soon = "settle(kassa.SettlePolicy(interval=0.01))"
    for shown, used in (
        ("https://pay.example.kg", raw.url),
        ("/var/lib/shop/payments", str(tmp_path)),
        ("settle()", soon),
    ):
        assert shown in program
        program = program.replace(shown, used)
    program = program.replace(f"def {soon}", "def settle()")

    delivered: list[str] = []
    # It is started for the first time, again after it died, and once more.
    for answers, expected in (
        ([CREATED], []),
        ([reply(500, ""), OPEN, CHARGED], ["cart 17"]),
        ([CHARGED], ["cart 17"]),
    ):
        shop: dict[str, Any] = {"password": "secret", "deliver": delivered.append}
        exec(program, shop)  # noqa: S102
        raw.answers(*answers)
        if answers == [CREATED]:
            shop["sell"]("cart 17", mbank_payment(order_number="o-1"))
        else:
            shop["settle"]()
        assert delivered == expected
    assert len(raw.requests) == 4, "what was delivered is asked about no more"
