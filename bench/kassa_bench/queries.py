"""A status query, as every peer does it: send the order's number with the credentials, read the report exactly."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from types import ModuleType
from urllib.parse import urlsplit

import aiohttp
import httpx
import httpx2
import kassa
import primp
import pycurl
import pyreqwest.client
import requests
import urllib3
import wreq
import wreq.blocking

from .server import PATH

LOGIN, PASSWORD = "shop", "secret"
QUESTION = {"orderNumber": "ORDER-1", "provider": "Cards"}
AUTHORIZATION = "Basic " + base64.b64encode(f"{LOGIN}:{PASSWORD}".encode()).decode()
HEADERS = {"Authorization": AUTHORIZATION, "Content-Type": "application/json"}
AT_ONCE = 100

Query = Callable[[], object]


def read(body: bytes | str) -> str:
    """Takes the report apart as far as a merchant needs it."""
    response = json.loads(body, parse_float=Decimal)
    status, amount = response["data"]["status"], response["data"]["amount"]
    if amount != Decimal("100.10"):
        raise ValueError(f"{amount} is not the amount")
    return str(status)


def with_kassa(url: str) -> Query:
    gateway = kassa.Gateway(url, kassa.Credentials(LOGIN, PASSWORD))
    return lambda: gateway.provider_status("ORDER-1", kassa.Provider.CARDS)


def with_urllib3(url: str) -> Query:
    pool = urllib3.PoolManager()
    return lambda: read(
        pool.request("POST", url + PATH, body=json.dumps(QUESTION), headers=HEADERS, retries=False).data
    )


def with_requests(url: str) -> Query:
    session = requests.Session()
    session.trust_env = False
    return lambda: read(session.post(url + PATH, json=QUESTION, auth=(LOGIN, PASSWORD), timeout=30).content)


def with_httpx(package: ModuleType, url: str) -> Query:
    client = package.Client(auth=(LOGIN, PASSWORD), trust_env=False)
    return lambda: read(client.post(url + PATH, json=QUESTION).content)


def with_pyreqwest(url: str) -> Query:
    client = pyreqwest.client.SyncClientBuilder().build()

    def ask() -> str:
        request = client.post(url + PATH).basic_auth(LOGIN, PASSWORD).body_json(QUESTION)
        return read(bytes(request.build().send().bytes()))

    return ask


def with_primp(url: str) -> Query:
    client = primp.Client(auth=(LOGIN, PASSWORD))
    return lambda: read(client.post(url + PATH, json=QUESTION).content)


def with_wreq(url: str) -> Query:
    client = wreq.blocking.Client()
    return lambda: read(bytes(client.post(url + PATH, json=QUESTION, basic_auth=(LOGIN, PASSWORD)).bytes()))


def with_pycurl(url: str) -> Query:
    client = pycurl.Curl()
    client.setopt(pycurl.URL, url + PATH)
    client.setopt(pycurl.USERPWD, f"{LOGIN}:{PASSWORD}")
    client.setopt(pycurl.HTTPHEADER, ["Content-Type: application/json"])
    client.setopt(pycurl.POST, 1)

    def ask() -> str:
        body = io.BytesIO()
        client.setopt(pycurl.POSTFIELDS, json.dumps(QUESTION))
        client.setopt(pycurl.WRITEDATA, body)
        client.perform()
        return read(body.getvalue())

    return ask


def request_to(url: str) -> bytes:
    """What a bare socket sends."""
    body = json.dumps(QUESTION)
    head = f"POST {PATH} HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\nauthorization: {AUTHORIZATION}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


def with_socket(url: str) -> Query:
    """The floor: one write and one read of bytes that were ready before, and nothing looked at."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = request_to(url)

    def ask() -> bytes:
        connection.sendall(request)
        return connection.recv(4096)

    return ask


BLOCKING = {
    "Kassa": with_kassa,
    "urllib3": with_urllib3,
    "requests": with_requests,
    "httpx": partial(with_httpx, httpx),
    "httpx2": partial(with_httpx, httpx2),
    "pyreqwest": with_pyreqwest,
    "primp": with_primp,
    "wreq": with_wreq,
    "pycurl": with_pycurl,
    "a bare socket": with_socket,
}


class AsyncKassa:
    """Kassa on an event loop."""

    def __init__(self, url: str) -> None:
        self._gateway = kassa.AsyncGateway(url, kassa.Credentials(LOGIN, PASSWORD))

    async def ask(self) -> object:
        return await self._gateway.provider_status("ORDER-1", kassa.Provider.CARDS)

    async def close(self) -> None:
        await self._gateway.close()


class AsyncHttpx:
    """httpx, or its successor httpx2, on an event loop, with as many connections as queries at once."""

    def __init__(self, package: ModuleType, url: str) -> None:
        limits = package.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
        self._client = package.AsyncClient(auth=(LOGIN, PASSWORD), limits=limits, trust_env=False)
        self._url = url + PATH

    async def ask(self) -> object:
        return read((await self._client.post(self._url, json=QUESTION)).content)

    async def close(self) -> None:
        await self._client.aclose()


class AsyncPyreqwest:
    """pyreqwest on an event loop."""

    def __init__(self, url: str) -> None:
        self._client = pyreqwest.client.ClientBuilder().build()
        self._url = url + PATH

    async def ask(self) -> object:
        request = self._client.post(self._url).basic_auth(LOGIN, PASSWORD).body_json(QUESTION)
        response = await request.build().send()
        return read(bytes(await response.bytes()))

    async def close(self) -> None:
        await self._client.close()


class AsyncPrimp:
    """primp on an event loop."""

    def __init__(self, url: str) -> None:
        self._client = primp.AsyncClient(auth=(LOGIN, PASSWORD))
        self._url = url + PATH

    async def ask(self) -> object:
        return read((await self._client.post(self._url, json=QUESTION)).content)

    async def close(self) -> None:
        """It has nothing to close."""


class AsyncWreq:
    """wreq on an event loop."""

    def __init__(self, url: str) -> None:
        self._client = wreq.Client()
        self._url = url + PATH

    async def ask(self) -> object:
        response = await self._client.post(self._url, json=QUESTION, basic_auth=(LOGIN, PASSWORD))
        return read(bytes(await response.bytes()))

    async def close(self) -> None:
        """It has nothing to close."""


class AsyncAiohttp:
    """aiohttp, with as many connections as are asked for at once."""

    def __init__(self, url: str) -> None:
        connector = aiohttp.TCPConnector(limit=AT_ONCE)
        self._session = aiohttp.ClientSession(auth=aiohttp.BasicAuth(LOGIN, PASSWORD), connector=connector)
        self._url = url + PATH

    async def ask(self) -> object:
        async with self._session.post(self._url, json=QUESTION) as response:
            return read(await response.read())

    async def close(self) -> None:
        await self._session.close()


class AsyncSocket:
    """The floor: one write and one read of bytes that were ready before, on as many connections as are asked for at once."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname, parts.port)
        self._request = request_to(url)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self) -> object:
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._address)
        writer.write(self._request)
        response = await reader.read(4096)
        self._idle.append((reader, writer))
        return response

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


ASYNC = {
    "Kassa": AsyncKassa,
    "aiohttp": AsyncAiohttp,
    "httpx": partial(AsyncHttpx, httpx),
    "httpx2": partial(AsyncHttpx, httpx2),
    "pyreqwest": AsyncPyreqwest,
    "primp": AsyncPrimp,
    "wreq": AsyncWreq,
    "a bare socket": AsyncSocket,
}
