"""Serves scripted bytes from a loopback socket, and records each request as it came."""

from __future__ import annotations

import base64
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

from .patience import PATIENCE


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: str


class Server:
    """The first request gets the first response, and so on; the last response is repeated."""

    def __init__(self, responses: list[Any]) -> None:
        self._responses = responses
        self._changed = threading.Condition()
        self._received: list[Received] = []
        self._answered = 0
        self._released = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def received(self) -> list[Received]:
        with self._changed:
            return list(self._received)

    @property
    def answered(self) -> int:
        with self._changed:
            return self._answered

    def wait_for_requests(self, count: int) -> bool:
        """False where they do not come."""
        return self._wait_until(lambda: len(self._received) >= count)

    def release(self) -> None:
        """Lets the responses go that were held back, and those to come."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    def stop(self) -> None:
        self.release()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _wait_until(self, there: Callable[[], bool]) -> bool:
        with self._changed:
            return self._changed.wait_for(there, PATIENCE)

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError), connection, connection.makefile("rb") as reader:
            while request := _read_request(reader):
                with self._changed:
                    self._received.append(request)
                    number = len(self._received)
                    self._changed.notify_all()
                if not self._responses:
                    return
                response = self._responses[min(number, len(self._responses)) - 1]
                if response.get("hold"):
                    self._wait_until(lambda: self._released)
                with self._changed:
                    self._answered += 1
                    self._changed.notify_all()
                connection.sendall(_response_bytes(response))
                if not _goes_on(connection, reader, response.get("then", "keep")):
                    return


def _goes_on(connection: socket.socket, reader: BufferedReader, then: str) -> bool:
    match then:
        case "keep":
            return True
        case "close":
            connection.shutdown(socket.SHUT_WR)
            # Read on, so that bytes still under way do not turn the close into a reset.
            reader.read()
        case "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        case "silence":
            reader.read()
        case _:
            raise ValueError(f"a response cannot {then}")
    return False


def content(value: Any) -> bytes:
    """A text stands for its UTF-8, ``{"$bytes": ...}`` for any bytes, and nothing for none."""
    match value:
        case {"$bytes": str(encoded)}:
            return base64.b64decode(encoded, validate=True)
        case str():
            return value.encode()
        case _:
            return b""


def _response_bytes(response: Any) -> bytes:
    if response.get("status") is None:
        return content(response.get("raw"))
    body = content(response.get("body"))
    lines = [f"HTTP/1.1 {response['status']} X"]
    lines += [f"{name}: {value}" for name, value in response.get("headers", {}).items()]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def _read_request(reader: BufferedReader) -> Received | None:
    method, _, rest = reader.readline().decode().partition(" ")
    headers: dict[str, str] = {}
    while line := reader.readline().decode().rstrip("\r\n"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if not rest:
        return None
    length = int(headers.get("content-length", "0"))
    body = reader.read(length)
    return Received(method, rest.split(" ")[0], headers, body.decode()) if len(body) == length else None
