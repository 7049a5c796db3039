"""Each of the shops, beside a server and a sandbox of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kassa_server.testing import KassaServer
from shop_process import SHOPS, ShopProcess, free_port


@pytest.fixture(scope="session", params=SHOPS)
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShopProcess]:
    language: str = request.param
    tool = SHOPS[language][0]
    if shutil.which(tool) is None:
        assert os.environ.get("CI") != "true", f"{tool} is missing"
        pytest.skip(f"{tool} is missing")
    port = free_port()
    folder: Path = tmp_path_factory.mktemp(language)
    with (
        KassaServer(events_url=f"http://127.0.0.1:{port}/events") as server,
        ShopProcess(language, server, port, folder) as shop,
    ):
        yield shop
