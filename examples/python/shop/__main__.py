"""Starts the shop: ``python -m shop``."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from contextlib import ExitStack
from types import FrameType

import uvicorn

from .app import make_app
from .checkouts import PATIENCE
from .orders import Orders
from .settings import HOST, ServerSettings, Settings, WrongSettings

LONGEST_GOODBYE = int(PATIENCE) + 5


def main() -> int:
    """Serves until it is stopped."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        return serve(Settings.read(), stop)
    except (WrongSettings, OSError) as error:
        print(f"The shop cannot start: {error}", file=sys.stderr)  # noqa: T201
        return 2


class Stop:
    """Ends the shop in order, also what it has brought along, when a signal comes.

    What a signal's handler raises can be lost, for instance inside a finalizer, and the shop would run on. So the signal is
    also remembered, and a server that exists is stopped by its own flag.
    """

    def __init__(self) -> None:
        self.status = 0
        """The exit status after a signal."""
        self._server: uvicorn.Server | None = None

    def __call__(self, number: int, _: FrameType | None) -> None:
        self.status = 128 + number
        if self._server is None:
            raise SystemExit(self.status)
        self._server.should_exit = True

    def run(self, server: uvicorn.Server, listener: socket.socket) -> int:
        """Serves until a signal comes; the exit status."""
        self._server = server
        if not self.status:
            server.run(sockets=[listener])
        return self.status


def serve(settings: Settings, stop: Stop) -> int:
    """Serves with these settings."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((HOST, settings.port)))
        address = f"http://{HOST}:{listener.getsockname()[1]}"
        public_url = settings.public_url or address
        if settings.server is None:
            server, told = bring_along(stack, settings, address)
        else:
            server = settings.server
            told = f"It is paid by {server.url}, which has to send its events to {public_url}/events"
        # What was only tried out is kept apart from what is sold.
        name = "shop.db" if settings.server else "shop-tried-out.db"
        app = make_app(server, Orders(settings.data / name), public_url, is_test=settings.server is None)
        print(f"The shop is at {address}\n{told}\n\nStop it with Ctrl-C.", flush=True)  # noqa: T201
        config = uvicorn.Config(
            app,
            # The addresses of orders are secrets of a kind.
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=LONGEST_GOODBYE,
        )
        return stop.run(uvicorn.Server(config), listener)


def bring_along(stack: ExitStack, settings: Settings, address: str) -> tuple[ServerSettings, str]:
    """A server and a sandbox of the shop's own, and what to say of them."""
    # A shop that uses a server elsewhere needs neither package.
    from kassa_sandbox import SandboxError
    from kassa_server import ServerError

    from .own_server import own_server

    port = settings.port and settings.port + 1
    try:
        own = stack.enter_context(own_server(settings.data, port, f"{address}/events"))
    except (ServerError, SandboxError) as error:
        raise OSError(f"its own server or sandbox does not run: {error}") from error
    login, password = own.sandbox.credentials
    return own.settings, (
        f"Its staff's pages are at {own.settings.url}/staff: log in with {own.staff_key}\n"
        f"The gateway's side is at {own.sandbox.base_url}: a sandbox, with test cards and phones. Its dashboard opens\n"
        f"  with the login {login} and the password {password}, its control with the token {own.sandbox.admin_token}\n"
        f"No real money moves. Orders and payments are kept in {settings.data.resolve()}"
    )


if __name__ == "__main__":
    sys.exit(main())
