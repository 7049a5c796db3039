"""Starts the shop: ``python -m shop``."""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import ExitStack

import kassa
import uvicorn
from kassa_sandbox import SandboxError

from .app import make_app, open_gateway
from .embedded import embedded_sandbox
from .orders import AnotherGateway, Orders
from .settings import HOST, Settings, WrongSettings

# A payment that is being sent has its answer, or its timeout, by then.
LONGEST_GOODBYE = 35


def main() -> int:
    """Serves until it is told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    try:
        return serve(Settings.read())
    except (WrongSettings, AnotherGateway, SandboxError, kassa.PaymentError, OSError) as error:
        print(f"The shop cannot start: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        # The server has stopped in order before it passes this on.
        return 130


def serve(settings: Settings) -> int:
    """Serves with these settings."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((HOST, settings.port)))
        address = f"http://{HOST}:{listener.getsockname()[1]}"
        own = settings.gateway is None
        gateway = settings.gateway or stack.enter_context(
            embedded_sandbox(settings.data / "sandbox.db", settings.port and settings.port + 1)
        )
        # Its own sandbox is one and the same, wherever it listens.
        orders = Orders(
            settings.data / ("shop-with-sandbox.db" if own else "shop.db"),
            "a sandbox of the shop's own" if own else gateway.base_url,
        )
        journal = settings.data / ("payments-with-sandbox" if own else "payments")
        app = make_app(
            open_gateway(gateway, journal),
            orders,
            settings.public_url or address,
            settings.poll_interval,
            is_sandbox=own,
        )
        print(f"The shop is at {address}", flush=True)  # noqa: T201
        print(f"It pays with {'a sandbox of its own' if own else gateway.base_url}", flush=True)  # noqa: T201
        config = uvicorn.Config(
            app,
            # The addresses of orders are secrets of a kind.
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=LONGEST_GOODBYE,
        )
        uvicorn.Server(config).run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
