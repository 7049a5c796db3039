"""The pytest plugin: installed with the package, and found by pytest itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing import KassaServer


@pytest.fixture(scope="session")
def kassa_server() -> Iterator[KassaServer]:
    """The server of the whole run, with a sandbox behind it; under pytest-xdist, of each worker.

    Define a fixture of this name for other settings. Tests share its data: give each order its own reference.
    """
    # Loaded in every run of an environment that has it, even if the sandbox is not installed.
    from .testing import KassaServer

    with KassaServer() as server:
        yield server


@pytest.fixture
def kassa_server_environment(kassa_server: KassaServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Sets the environment variables that ``kassa.server.Client.from_environment`` reads, and ``KASSA_EVENTS_SECRET``, during
    the test; returns them."""
    variables = kassa_server.environment()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables
