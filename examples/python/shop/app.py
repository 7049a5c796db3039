"""Puts the shop together."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import kassa
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from .arrivals import Arrivals
from .following import Follower
from .guards import Guards
from .judging import Judge
from .orders import Orders
from .pages import Pages, show_problem
from .payments import Payments
from .settings import GatewaySettings

STATIC = Path(__file__).parent / "static"


def open_gateway(settings: GatewaySettings, journal: Path) -> kassa.AsyncGateway:
    """The gateway of the settings, which writes down in a folder what it sends, before it sends it. `kassa.PaymentError` names
    what is wrong with them."""
    return kassa.AsyncGateway(
        settings.base_url,
        kassa.Credentials(settings.login, settings.password),
        dialect=None if settings.dialect is None else kassa.Dialect.from_json(settings.dialect),
        user_agent_suffix="kassa-shop/1",
        journal=journal,
    )


def make_app(
    gateway: kassa.AsyncGateway, orders: Orders, public_url: str, poll_interval: timedelta, *, is_sandbox: bool
) -> Starlette:
    """The shop as an ASGI application."""
    follower = Follower(gateway, orders, poll_interval)
    judge = Judge(gateway, orders, follower, poll_interval)
    payments = Payments(gateway, orders, follower, public_url)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        follower.resume()
        judge.resume()
        yield
        await judge.stop()
        await follower.stop()
        # Waits for payments that are on their way, and for what is then written down about them.
        await gateway.close()
        orders.close()

    routes = [
        *Pages(orders, payments, follower, judge, is_sandbox=is_sandbox).routes(),
        *Arrivals(orders, follower, judge).routes(),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guards)],
        exception_handlers={HTTPException: show_problem, 500: show_problem},
    )
