"""The documentation: every public name has it, its examples run, and it speaks of Python only."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
import types

import pytest

import kassa

PUBLIC = [name for name in kassa.__all__ if not name.startswith("_")]


def test_help_reads_well() -> None:
    text = pydoc.plain(pydoc.render_doc(kassa))
    assert "always know what happened to the money" in text
    assert "uniffi" not in text.lower()
    assert "::" not in text
    for name in PUBLIC:
        assert name in text


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    public = getattr(kassa, name)
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
    public = getattr(kassa, name)
    if isinstance(public, int | types.UnionType):
        return
    names = vars(kassa) | {"Decimal": __import__("decimal").Decimal, "kassa": kassa}
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=True).find(public, name, module=False, globs=dict(names)):
        assert runner.run(example).failed == 0
