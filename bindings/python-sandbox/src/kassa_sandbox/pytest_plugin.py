"""The pytest plugin: installed with the package, and found by pytest itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .sandbox import Sandbox


@pytest.fixture(scope="session")
def kassa_sandbox_session() -> Iterator[Sandbox]:
    """The sandbox of the whole run; under pytest-xdist, of each worker. Define a fixture of this name for other settings."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def kassa_sandbox(kassa_sandbox_session: Sandbox) -> Sandbox:
    """A running sandbox in its initial state: the effects of earlier tests are undone, even a kill."""
    kassa_sandbox_session.start().reset()
    return kassa_sandbox_session


@pytest.fixture
def kassa_sandbox_environment(kassa_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Sets the environment variables that ``kassa.Gateway.from_environment`` reads, during the test; returns them."""
    variables = kassa_sandbox.environment()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables
