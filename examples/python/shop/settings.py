"""What the shop is told by its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST = "127.0.0.1"
PORT = 8300


class WrongSettings(Exception):
    """The environment is wrong. The text names the variable and the rule."""


@dataclass(frozen=True)
class GatewaySettings:
    """The gateway that takes the payments."""

    base_url: str
    login: str
    password: str = field(repr=False)
    dialect: str | None
    """A dialect's JSON, where the gateway words its replies in a way of its own."""


@dataclass(frozen=True)
class Settings:
    """Where the shop is, and what it works with."""

    gateway: GatewaySettings | None
    """None where the shop brings a sandbox of its own."""
    port: int
    public_url: str | None
    """What the gateway and payers reach the shop by; None where that is its own address."""
    data: Path
    """The folder of its databases."""
    poll_interval: timedelta

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Reads the environment; an empty variable is one that is not set."""
        given = {name: text for name, text in environment.items() if text}
        gateway = _gateway(given)
        public_url = given.get("SHOP_PUBLIC_URL")
        if public_url is not None:
            public_url = _url("SHOP_PUBLIC_URL", public_url)
        elif gateway is not None and urlsplit(gateway.base_url).hostname not in LOOPBACK:
            raise WrongSettings(
                f"SHOP_PUBLIC_URL is needed: {gateway.base_url} cannot send its callbacks to this machine's {HOST}. "
                "Give the address of a tunnel or proxy that leads to this shop."
            )
        return cls(
            gateway=gateway,
            port=int(_number("SHOP_PORT", given.get("SHOP_PORT", str(PORT)), 0, 65_535)),
            public_url=public_url,
            data=Path(given.get("SHOP_DATA", "data")),
            poll_interval=timedelta(
                seconds=_number(
                    "SHOP_POLL_SECONDS", given.get("SHOP_POLL_SECONDS", "10" if gateway else "1"), 0.05, 600
                )
            ),
        )


def _gateway(given: Mapping[str, str]) -> GatewaySettings | None:
    if "KASSA_URL" not in given:
        return None
    for name in ("KASSA_LOGIN", "KASSA_PASSWORD"):
        if name not in given:
            raise WrongSettings(f"{name} is needed where KASSA_URL names a gateway")
    dialect = given.get("KASSA_DIALECT")
    return GatewaySettings(
        base_url=_url("KASSA_URL", given["KASSA_URL"]),
        login=given["KASSA_LOGIN"],
        password=given["KASSA_PASSWORD"],
        dialect=None if dialect is None else _file("KASSA_DIALECT", dialect),
    )


def _url(name: str, text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise WrongSettings(f"{name} must be an absolute http or https URL without a query")
    return text.rstrip("/")


def _file(name: str, path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{name} names a file that cannot be read: {error}") from None


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise WrongSettings(f"{name} must be a number from {least} to {most}")
    return number
