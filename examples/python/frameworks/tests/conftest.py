"""One server and one sandbox for all shops, which run one after the other on one port."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from kassa_server.testing import KassaServer

from shop_process import free_port

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


def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of a shop."""
    return tmp_path_factory.mktemp(f"shop-{next(NUMBERS)}")
