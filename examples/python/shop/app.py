"""Puts the shop together."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from .checkouts import Checkouts
from .events import Receiver
from .guards import Guards
from .orders import Orders
from .pages import Pages, show_problem
from .settings import ServerSettings

STATIC = Path(__file__).parent / "static"


def make_app(server: ServerSettings, orders: Orders, public_url: str, *, is_test: bool) -> Starlette:
    """The shop as an ASGI application. ``public_url`` is what payers and the server reach it by."""
    checkouts = Checkouts(server)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        await checkouts.close()
        orders.close()

    routes = [
        *Pages(orders, checkouts, public_url, is_test=is_test).routes(),
        *Receiver(orders, checkouts, server.events_secret).routes(),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guards)],
        exception_handlers={HTTPException: show_problem, 500: show_problem},
    )
