"""The shop's settings, from environment variables."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST = "127.0.0.1"
PORT = 8300
PREFIX = "whsec_"


class WrongSettings(Exception):
    """An environment variable is wrong. The text names the variable and the rule."""


@dataclass(frozen=True)
class ServerSettings:
    """The server that takes the payments."""

    url: str
    api_key: str = field(repr=False)
    events_secret: str = field(repr=False)


@dataclass(frozen=True)
class Settings:
    """The shop's address and its parts."""

    server: ServerSettings | None
    """None if the shop starts its own server and sandbox."""
    port: int
    public_url: str | None
    """The URL by which payers and the server reach the shop; None if that is its own address."""
    data: Path
    """The folder of its databases."""

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Reads the environment; an empty variable is one that is not set."""
        given = {name: text for name, text in environment.items() if text}
        server = _server(given)
        public_url = given.get("SHOP_PUBLIC_URL")
        if public_url is not None:
            public_url = _url("SHOP_PUBLIC_URL", public_url)
        elif server is not None and urlsplit(server.url).hostname not in LOOPBACK:
            raise WrongSettings(
                f"SHOP_PUBLIC_URL is needed: {server.url} cannot send its events to this machine's {HOST}. "
                "Give the address of a tunnel or proxy that leads to this shop."
            )
        port = _port("SHOP_PORT", given.get("SHOP_PORT", str(PORT)))
        return cls(server, port, public_url, Path(given.get("SHOP_DATA", "data")))


def _server(given: Mapping[str, str]) -> ServerSettings | None:
    if "KASSA_SERVER_URL" not in given:
        return None
    for name in ("KASSA_API_KEY", "KASSA_EVENTS_SECRET"):
        if name not in given:
            raise WrongSettings(f"{name} is needed where KASSA_SERVER_URL names a server")
    secret = _secret("KASSA_EVENTS_SECRET", given["KASSA_EVENTS_SECRET"])
    return ServerSettings(_url("KASSA_SERVER_URL", given["KASSA_SERVER_URL"]), given["KASSA_API_KEY"], secret)


def _url(name: str, text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise WrongSettings(f"{name} must be an absolute http or https URL without a query")
    return text.rstrip("/")


def _secret(name: str, text: str) -> str:
    try:
        is_one = text.startswith(PREFIX) and len(base64.b64decode(text.removeprefix(PREFIX), validate=True)) > 0
    except ValueError:
        is_one = False
    if not is_one:
        raise WrongSettings(f"{name} must be the secret that the server signs events with: {PREFIX}...")
    return text


def _port(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= 65_535):
        raise WrongSettings(f"{name} must be a number from 0 to 65535")
    return int(text)
