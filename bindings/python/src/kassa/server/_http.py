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
from collections.abc import Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection, HTTPException, IncompleteRead, RemoteDisconnected
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlencode

from ._settings import DEFAULT_PORTS, Hidden, address_of
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

ATTEMPTS = 8
"""How often a request is sent at most."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
"""Seconds of the backoff: the pause doubles from the first one, and up to half of it is left out at random (jitter)."""
CONNECT_TIMEOUT = 5.0
"""Seconds after which the next address of a host is tried."""
LONGEST_TIMEOUT = 24 * 60 * 60.0
"""Seconds; a socket takes no unlimited time."""
MAX_RESPONSE_BYTES = 32 * 1024 * 1024
"""Bytes of a response. A page of 1,000 events has about one million."""
MAX_IDLE = 16
"""Idle connections."""
RETRYABLE_STATUSES = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same request can succeed."""
PROBLEMS: dict[int, type[Problem]] = {401: WrongKey, 404: NotFound, 409: Conflict, 410: HistoryGone, 422: Conflict}
PROBLEM = "urn:kassa:problem:"
SECRETS = re.compile(r"\b(ak_|sk_|ct_|whsec_|pay/)[\w+/=-]+")


class Cancellation:
    """Ends a call from another thread, at once: its pause, or what it waits for on its connection."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.connection: Connection | None = None
        self.called_at = time.monotonic()
        """When the call was made: it can wait for a thread."""

    def cancel(self) -> None:
        """Ends the call. Its error is discarded."""
        self.event.set()
        # Its own thread sets it to None when the call ends.
        connection = self.connection
        if connection is not None:
            connection.interrupt()


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
                # `shutdown` of a TLS socket does more, which only its own thread may do.
                socket.socket.shutdown(self._raw, socket.SHUT_RDWR)

    def connect(self) -> None:
        """Connects, and begins TLS, within the deadline."""
        failure: OSError = OSError("its name has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            try:
                self._raw = socket.socket(family, kind, protocol)
            except OSError as error:
                failure = error
                continue
            try:
                self._raw.settimeout(min(self.left(), CONNECT_TIMEOUT))
                self._raw.connect(address)
                self._raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._raw.settimeout(self.left())
                if self._tls is not None:
                    # The handshake comes after the assignment, so that it can be interrupted.
                    self._raw = self._tls.wrap_socket(
                        self._raw, server_hostname=self.host, do_handshake_on_connect=False
                    )
                    self._raw.settimeout(self.left())
                    self._raw.do_handshake()
            except BaseException as error:
                self._raw.close()
                # Another address of the same host would have the same certificate.
                if not isinstance(error, OSError) or isinstance(error, ssl.SSLCertVerificationError):
                    raise
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
        # The socket stays open until this stream is closed, too.
        self._stream = raw.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._raw.settimeout(self._connection.left())
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


@dataclass(frozen=True, slots=True)
class Response:
    """A response. It can repeat the request's secrets, so its text is not printed."""

    status: int
    location: str = field(repr=False)
    retry_after: float | None
    text: str = field(repr=False)


class Transport:
    """Sends requests to one server. Any number of threads can use it, also after a fork.

    No local variable of a frame that an error passes through holds the key or a response: error trackers print them.
    """

    def __init__(
        self,
        url: str,
        api_key: Hidden[str],
        timeout: float,
        tls: ssl.SSLContext | None,
        plain_http_hosts: Iterable[str] = (),
    ) -> None:
        scheme, host, port, self._path = address_of(url, plain_http_hosts)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{scheme}://{shown}{'' if port == DEFAULT_PORTS[scheme] else f':{port}'}{self._path}"
        # The message does not contain the key: it may be another secret.
        if not isinstance(api_key.value, str) or not re.fullmatch(r"[!-~]+", api_key.value):  # pyright: ignore[reportUnnecessaryIsInstance]
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

    def request(
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
        target = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        content = None if body is None else json.dumps(body).encode()
        result = self._result(kind, self._send(method, target, content, wait, can_repeat=can_repeat))
        if isinstance(result, ServerError):
            raise result
        return result

    def _send(self, method: str, target: str, body: bytes | None, wait: float, *, can_repeat: bool) -> Response:
        """Sends a request until there is an answer, the attempts are used up, or the time is over."""
        self._renew_after_fork()
        own = cancellation.get()
        stop = own or Cancellation()
        deadline = stop.called_at + self._timeout + wait
        attempt, backoff = 1, FIRST_PAUSE
        while True:
            if self.closed.is_set():
                raise ServerError("the client is closed")
            connection = Connection(*self._at) if not can_repeat else self._connection()
            was_idle = connection.sock is not None
            connection.deadline, connection.cancellation, stop.connection = deadline, stop, connection
            retry_after: float | None = None
            outcome: Response | BaseException
            try:
                outcome = self._exchange(connection, method, target, body)
            except BaseException as error:  # noqa: BLE001 - raised below
                # Also after Ctrl-C, or in a killed greenlet: a response may still arrive, so the connection cannot be reused.
                connection.close()
                # The frames in which it was raised have the request, with the key.
                outcome = error.with_traceback(None)
                outcome.__cause__ = outcome.__context__ = None
            finally:
                stop.connection = None
            if isinstance(outcome, Response):
                if outcome.status not in RETRYABLE_STATUSES:
                    return outcome
                retry_after = outcome.retry_after
                failure = self._unavailable(outcome, "")
            elif not isinstance(outcome, OSError | HTTPException):
                raise outcome
            elif was_idle and not isinstance(outcome, TimeoutError):
                # The server closed the idle connection, or was restarted: this does not count as an attempt.
                self._drop_idle()
                continue
            else:
                failure = ServerUnavailable(self._masked(f"{self.url} {self._reason(outcome, wait)}"))
                can_repeat = can_repeat and not isinstance(outcome, ssl.SSLCertVerificationError)
            # The text of an exception can be what the peer sent.
            del outcome
            pause = max(retry_after or 0.0, backoff * random.uniform(0.5, 1))  # noqa: S311 - no secret
            is_over = not can_repeat or attempt == ATTEMPTS or time.monotonic() + pause >= deadline
            if is_over or ((own.event if own else self.closed).wait(pause) and not self.closed.is_set()):
                raise failure
            attempt, backoff = attempt + 1, min(backoff * 2, LONGEST_PAUSE)

    def _exchange(self, connection: Connection, method: str, target: str, body: bytes | None) -> Response:
        headers = {
            "Authorization": f"Bearer {self._key.value}",
            "Accept": "application/json",
            "User-Agent": "kassa-python",
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        text = response.read(MAX_RESPONSE_BYTES)
        # A reader of a limited number of bytes does not learn that the connection ended before.
        if response.length and len(text) < MAX_RESPONSE_BYTES:
            raise IncompleteRead(text, response.length)
        is_usable = not response.will_close and response.isclosed() and not self.closed.is_set()
        if is_usable and len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()
        location, after = response.getheader("Location", ""), response.getheader("Retry-After", "")
        retry_after = float(after) if re.fullmatch("[0-9]{1,9}", after) else None
        return Response(response.status, location, retry_after, text.decode(errors="replace"))

    def _renew_after_fork(self) -> None:
        if self._process != os.getpid():
            # Connections belong to the process that made them; locks may be held by threads that are not here.
            self._drop_idle()
            was_closed, self.closed = self.closed.is_set(), threading.Event()
            if was_closed:
                self.closed.set()
            self._process = os.getpid()

    def _connection(self) -> Connection:
        with suppress(IndexError):
            return self._idle.pop()
        return Connection(*self._at)

    def _drop_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _reason(self, error: BaseException, wait: float) -> str:
        """Why there is no response. What the peer sent is not part of it: it may repeat the key."""
        if isinstance(error, TimeoutError):
            return f"did not answer within {self._timeout + wait:g} s"
        if isinstance(error, RemoteDisconnected):
            return "closed the connection without a response"
        if isinstance(error, IncompleteRead):
            return "closed the connection before the response ended"
        if isinstance(error, HTTPException):
            return f"did not answer with HTTP ({type(error).__name__})"
        return f"could not be reached: {str(error) or type(error).__name__}"

    def _unavailable(self, response: Response, detail: str) -> ServerUnavailable:
        seconds = response.retry_after
        hint = f"; it asks to wait {seconds:g} s" if seconds else ""
        text = f"{self.url} answered HTTP {response.status}{detail}{hint}"
        return ServerUnavailable(text, response.status, None if seconds is None else timedelta(seconds=seconds))

    def _result(self, kind: type[T], response: Response) -> T | ServerError:
        """The value, or the error to raise."""
        if 300 <= response.status < 400:
            location = f"{response.location[:200]!r}"
            return self._bad(f"{self.url} redirects to {location}; set the address of kassa-server itself", response)
        if response.status >= 400:
            return self._problem(response)
        try:
            return read(kind, json.loads(response.text))
        except (ValueError, RecursionError) as error:
            what = "it is not JSON" if isinstance(error, json.JSONDecodeError | RecursionError) else str(error)
            return self._bad(f"{self.url} did not answer as kassa-server does: {what}", response)

    def _problem(self, response: Response) -> ServerError:
        try:
            value: dict[str, Any] = json.loads(response.text)
            name = str(value["type"])
            violations = tuple(read(FieldViolation, each) for each in value.get("violations") or ())
            detail = self._masked(str(value.get("detail") or value["title"]))
            state, next_ = value.get("state"), value.get("next")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self._bad(f"{self.url} did not answer as kassa-server does", response)
        if not name.startswith(PROBLEM):
            return self._bad(f"{self.url} did not answer as kassa-server does", response)
        if response.status >= 500:
            return self._unavailable(response, f": {detail}")
        problem = PROBLEMS.get(response.status, Problem)
        if problem is HistoryGone and not isinstance(next_, str):
            return self._bad(f"{self.url} did not answer as kassa-server does: next is missing", response)
        return problem(response.status, name.removeprefix(PROBLEM), detail, violations, state, next_)

    def _bad(self, detail: str, response: Response) -> BadResponse:
        return BadResponse(self._masked(detail), response.status, self._masked(response.text)[:200])

    def _masked(self, text: str) -> str:
        return SECRETS.sub(r"\1***", text.replace(self._key.value, "***"))
