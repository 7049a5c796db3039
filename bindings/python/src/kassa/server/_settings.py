"""The settings of a client: the server's address, and secrets that no local variable shows."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import urlsplit

T_co = TypeVar("T_co", covariant=True)

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Hidden(Generic[T_co]):
    """A value that is not printed: error trackers print the local variables of every frame."""

    value: T_co = field(repr=False)


def address_of(url: str, plain_http_hosts: Iterable[str] = ()) -> tuple[str, str, int, str]:
    """The scheme of an address, its host, its port, and its path without a slash at the end."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        host = parts.hostname or ""
        host.encode("idna")
    except ValueError as error:
        reason = "its host is not a name" if isinstance(error, UnicodeError) else str(error)
        raise ValueError(f"url must be the server's address, such as https://pay.shop.example.kg: {reason}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("url must begin with https:// or http:// and a host, such as https://pay.shop.example.kg")
    # It may hold a password, so it is not part of the message.
    if parts.username is not None or parts.query or parts.fragment or not re.fullmatch("[!-~]*", parts.path):
        raise ValueError("url must have no user name, no query, no # and no spaces")
    path = parts.path.rstrip("/")
    if path.endswith("/v1"):
        raise ValueError("url must be the server's public_url, without /v1 at its end: the client adds it")
    if isinstance(plain_http_hosts, str):
        raise TypeError("plain_http_hosts must be several names, such as ('kassa-server',), not one str")
    named = {each.lower() for each in plain_http_hosts}
    if parts.scheme == "http" and not is_loopback(host) and host not in named:
        raise ValueError(
            "url must begin with https://, because plain http shows the API key to the network: http is for this machine "
            "(127.0.0.1, localhost), and for hosts of a private network that plain_http_hosts names"
        )
    return parts.scheme, host, port, path


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
