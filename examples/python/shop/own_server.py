"""The server that the shop brings along where none is named, with a sandbox as its gateway: to try the shop out."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer

from .settings import ServerSettings

ICON = Path(__file__).parent / "static" / "icon.svg"


@dataclass(frozen=True)
class OwnServer:
    """A server and a sandbox that run."""

    settings: ServerSettings
    staff_key: str
    sandbox: Sandbox


@contextmanager
def own_server(data: Path, port: int, events_url: str) -> Generator[OwnServer]:
    """Both on this machine, on this port and the next one; on any, if it is 0. They keep their payments and their ports, so
    that links from before a restart still lead to them."""
    data.mkdir(parents=True, exist_ok=True)
    shop = {
        "database": str(data / "kassa-server.db"),
        "merchant.name": "Honey from Ala-Too",
        "merchant.logo": str(ICON),
        "merchant.colour": "#8A4B00",
    }
    with (
        Sandbox(database=data / "sandbox.db", port=port and port + 1, log=data / "sandbox.log") as sandbox,
        KassaServer(sandbox=sandbox, events_url=events_url, port=port, settings=shop) as server,
    ):
        settings = ServerSettings(server.url, server.api_key, server.events_secret)
        yield OwnServer(settings, server.new_staff_key("You"), sandbox)
