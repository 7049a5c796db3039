"""Calls over HTTP: kept-alive connections, deadlines, retries, and refusals as errors."""

from __future__ import annotations

import io
import json
import os
import random
import re
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from http.client import HTTPConnection, HTTPException, IncompleteRead
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlencode, urlsplit

from .errors import (
    BadResponse,
    Conflict,
    FieldViolation,
    HistoryGone,
    NotFound,
    Problem,
    ServerError,
    ServerUnavailable,
    WrongKey,
)
from .values import read

T = TypeVar("T")

ATTEMPTS = 4
"""How often a request is sent at most."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds of the backoff: the pause doubles from the first one, and up to half of it is left out at random (jitter)."""
CONNECTING = 5.0
"""Seconds after which the next address of a host is tried."""
LONGEST_TIMEOUT = 24 * 60 * 60.0
"""Seconds; a socket takes no unlimited time."""
LARGEST = 32 * 1024 * 1024
"""Bytes of a response. A page of 1,000 events has about one million."""
DEFAULT_PORTS = {"http": 80, "https": 443}
KEPT = 16
"""Idle connections."""
PASSING = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same request can succeed."""
PROBLEMS: dict[int, type[Problem]] = {401: WrongKey, 404: NotFound, 409: Conflict, 410: HistoryGone, 422: Conflict}
PROBLEM = "urn:kassa:problem:"
SECRETS = re.compile(r"\b(ak_|sk_|ct_|whsec_|pay/)[\w+/=-]+")


class Cancellation:
    """Ends a call from another thread, at once: its pause, or what it waits for on its connection."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.connection: Connection | None = None

    def cancel(self) -> None:
        """The call ends with an error that nobody gets."""
        self.event.set()
        if self.connection is not None:
            self.connection.interrupt()


cancellation: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


class Connection(HTTPConnection):
    """A connection whose deadline is that of its call: a socket's own timeout begins anew with each byte."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(host, port)
        self.default_port = 443 if tls else 80
        self.deadline = 0.0
        self.cancellation = Cancellation()
        self._tls = tls
        self._raw: socket.socket | None = None

    def left(self) -> float:
        """The rest of the time, in seconds."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.cancellation.event.is_set():
            raise TimeoutError("it did not answer in time")
        return left

    def interrupt(self) -> None:
        """Wakes the thread that waits for it."""
        if self._raw is not None:
            with suppress(OSError):
                # That of a TLS socket does more, which only its own thread may do.
                socket.socket.shutdown(self._raw, socket.SHUT_RDWR)

    def connect(self) -> None:
        """Connects, and begins TLS, within the deadline."""
        failure: OSError = OSError("its name has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            self._raw = socket.socket(family, kind, protocol)
            try:
                self._raw.settimeout(min(self.left(), CONNECTING))
                self._raw.connect(address)
                self._raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._raw.settimeout(self.left())
                if self._tls is not None:
                    self._raw = self._tls.wrap_socket(self._raw, server_hostname=self.host)
            except OSError as error:
                self._raw.close()
                failure = error
            else:
                self.sock = cast("Any", _Socket(self, self._raw))
                return
        raise failure


class _Socket:
    """What `HTTPConnection` uses of a socket, within the deadline of the connection."""

    def __init__(self, connection: Connection, raw: socket.socket) -> None:
        self._connection = connection
        self._raw = raw

    def sendall(self, data: bytes) -> None:
        self._raw.settimeout(self._connection.left())
        self._raw.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._connection, self._raw))

    def close(self) -> None:
        self._raw.close()


class _Reader(io.RawIOBase):
    def __init__(self, connection: Connection, raw: socket.socket) -> None:
        self._connection = connection
        self._raw = raw
        # The socket stays open until what is read from it is closed, too.
        self._stream = raw.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._raw.settimeout(self._connection.left())
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class Transport:
    """Sends requests to one server. Any number of threads can use it, also after a fork."""

    def __init__(self, url: str, api_key: str, timeout: float, tls: ssl.SSLContext | None) -> None:
        scheme, host, port, self._path = address_of(url)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{scheme}://{shown}{'' if port == DEFAULT_PORTS[scheme] else f':{port}'}{self._path}"
        # The text of the key is not told: it may be another secret.
        if not api_key or not re.fullmatch(r"[!-~]+", api_key):
            raise ValueError("api_key must not be empty, and has no spaces, line breaks or letters beyond ASCII")
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise ValueError("timeout must be more than 0 s, and at most a day")
        self._at = host, port, (tls or ssl.create_default_context()) if scheme == "https" else None
        self._key = api_key
        self._timeout = timeout
        self._idle: deque[Connection] = deque()
        self._process = os.getpid()
        self.closed = threading.Event()

    def __reduce__(self) -> Any:
        raise TypeError("a client holds the API key, so it cannot be pickled")

    def close(self) -> None:
        """Closes the idle connections; the others are closed when their calls have ended."""
        self.closed.set()
        self._drop_idle()

    def ask(
        self,
        kind: type[T],
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        wait: float = 0.0,
        can_repeat: bool = True,
    ) -> T:
        """The value that the server answers with. ``wait``: seconds that the server waits before it answers."""
        asked = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        sent = None if body is None else json.dumps(body).encode()
        status, location, text = self._send(method, asked, sent, wait, can_repeat=can_repeat)
        if 300 <= status < 400:
            detail = f"{self.url} redirects to {location[:200]!r}; set the address at which kassa-server itself answers"
            raise self._bad(detail, status, text)
        if status >= 400:
            raise self._refusal(status, text)
        try:
            return read(kind, json.loads(text))
        except (ValueError, RecursionError) as error:
            what = "it is not JSON" if isinstance(error, json.JSONDecodeError | RecursionError) else str(error)
            raise self._bad(f"{self.url} did not answer as kassa-server does: {what}", status, text) from error

    def _send(
        self, method: str, asked: str, body: bytes | None, wait: float, *, can_repeat: bool
    ) -> tuple[int, str, str]:
        """Sends a request until there is an answer, the attempts are used up, or the time is over."""
        deadline = time.monotonic() + self._timeout + wait
        stop = cancellation.get() or Cancellation()
        attempt, pause = 1, FIRST_PAUSE
        while True:
            if self.closed.is_set():
                raise ServerError("the client is closed")
            retry_after: float | None = None
            connection = self._connection(is_new=not can_repeat)
            was_kept = connection.sock is not None
            connection.deadline, connection.cancellation, stop.connection = deadline, stop, connection
            try:
                status, location, after, text = self._exchange(connection, method, asked, body)
            except (OSError, HTTPException) as error:
                connection.close()
                if was_kept and not isinstance(error, TimeoutError):
                    # The server has closed what was idle, or was restarted: that is no attempt.
                    self._drop_idle()
                    continue
                failure = ServerUnavailable(f"{self.url} could not be reached: {str(error) or type(error).__name__}")
                failure.__cause__ = error
                can_repeat = can_repeat and not isinstance(error, ssl.SSLCertVerificationError)
            except BaseException:
                # Ctrl-C, or a greenlet that is killed: an answer may be on its way, for nobody.
                connection.close()
                raise
            else:
                if status not in PASSING:
                    return status, location, text
                retry_after = float(after) if re.fullmatch("[0-9]{1,9}", after) else None
                told = None if retry_after is None else timedelta(seconds=retry_after)
                says = f"; it asks to wait {retry_after:g} s" if retry_after else ""
                failure = ServerUnavailable(f"{self.url} answered HTTP {status}{says}", status, told)
            finally:
                stop.connection = None
            jitter = random.uniform(0.5, 1)  # noqa: S311 - no secret
            next_ = retry_after if retry_after is not None else pause * jitter
            if not can_repeat or attempt == ATTEMPTS or time.monotonic() + next_ >= deadline or stop.event.wait(next_):
                raise failure
            attempt, pause = attempt + 1, min(pause * 2, LONGEST_PAUSE)

    def _exchange(
        self, connection: Connection, method: str, asked: str, body: bytes | None
    ) -> tuple[int, str, str, str]:
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json", "User-Agent": "kassa-python"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, asked, body, headers)
        response = connection.getresponse()
        text = response.read(LARGEST)
        # A reader of a limited number of bytes is not told that the connection ended before.
        if response.length and len(text) < LARGEST:
            raise IncompleteRead(text, response.length)
        is_usable = not response.will_close and response.isclosed() and not self.closed.is_set()
        if is_usable and len(self._idle) < KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        location, after = response.getheader("Location", ""), response.getheader("Retry-After", "")
        return response.status, location, after, text.decode(errors="replace")

    def _connection(self, *, is_new: bool) -> Connection:
        if self._process != os.getpid():
            # Connections belong to the process that made them.
            self._drop_idle()
            self._process = os.getpid()
        with suppress(IndexError):
            if not is_new:
                return self._idle.pop()
        return Connection(*self._at)

    def _drop_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _refusal(self, status: int, text: str) -> ServerError:
        try:
            told: dict[str, Any] = json.loads(text)
            kind = str(told["type"])
            violations = tuple(read(FieldViolation, each) for each in told.get("violations") or ())
            detail = self._masked(str(told.get("detail") or told["title"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self._bad(f"{self.url} did not answer as kassa-server does", status, text)
        if not kind.startswith(PROBLEM):
            return self._bad(f"{self.url} did not answer as kassa-server does", status, text)
        problem = PROBLEMS.get(status, Problem)
        return problem(status, kind.removeprefix(PROBLEM), detail, violations, told.get("state"), told.get("next"))

    def _bad(self, detail: str, status: int, text: str) -> BadResponse:
        return BadResponse(self._masked(detail), status, self._masked(text)[:200])

    def _masked(self, text: str) -> str:
        return SECRETS.sub(r"\1***", text.replace(self._key, "***"))


def address_of(url: str) -> tuple[str, str, int, str]:
    """The scheme of an address, its host, its port, and its path without a slash at the end."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ValueError(f"url must be the server's address, such as https://pay.shop.example.kg: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must begin with https:// or http:// and a host, such as https://pay.shop.example.kg")
    # It may hold a password, so it is not told.
    if parts.username is not None or parts.query or parts.fragment or not re.fullmatch("[!-~]*", parts.path):
        raise ValueError("url must have no user name, no query, no # and no spaces")
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")
