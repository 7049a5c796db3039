"""One server and one sandbox for all shops, which run one after the other on one port."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer

from shop_process import Program, Shop, free_port

StartShop = Callable[[Program], Shop]
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def port() -> int:
    """The port of every shop."""
    return free_port()


@pytest.fixture(scope="session")
def kassa_server(port: int) -> Iterator[KassaServer]:
    """The server of the whole run. It sends its events to the shop that runs."""
    with KassaServer(events_url=f"http://127.0.0.1:{port}/events") as server:
        yield server


@pytest.fixture
def sandbox(kassa_sandbox_session: Sandbox) -> Sandbox:
    """The gateway of the shops that talk to it themselves."""
    return kassa_sandbox_session


def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of a shop."""
    return tmp_path_factory.mktemp(f"shop-{next(NUMBERS)}")
