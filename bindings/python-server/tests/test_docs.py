"""Every public name is documented."""

from __future__ import annotations

import inspect

import pytest

import kassa_server
from kassa_server import testing

PUBLIC = [
    *(getattr(kassa_server, name) for name in kassa_server.__all__),
    *(getattr(testing, name) for name in testing.__all__),
]


@pytest.mark.parametrize("public", PUBLIC)
def test_every_public_name_is_documented(public: object) -> None:
    documented = inspect.getdoc(public) or ""
    assert documented
    # What dataclasses write by themselves is none.
    assert not documented.startswith(f"{getattr(public, '__name__', '')}(")
    members = vars(public).items() if inspect.isclass(public) else ()
    for member, value in members:
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            assert inspect.getdoc(value), member
