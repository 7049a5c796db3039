"""A shop on FastAPI: opens checkouts at kassa-server, and takes its signed events. ``uvicorn fastapi_shop.app:app``."""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from kassa.server import AsyncClient, EventError, verify_event

from orders import Orders

logger = logging.getLogger(__name__)


# docs: begin settings
@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    # A missing setting ends the start, and names itself.
    app.state.events_secret = os.environ["KASSA_EVENTS_SECRET"]
    app.state.shop_url = os.environ["SHOP_URL"]
    app.state.orders = Orders(os.environ["SHOP_DATABASE"])
    async with AsyncClient.from_environment(timeout=10) as client:  # KASSA_SERVER_URL, KASSA_API_KEY
        app.state.kassa = client
        yield


app = FastAPI(lifespan=lifespan)
# docs: end settings


@app.get("/", response_class=HTMLResponse)
async def product() -> str:
    return '<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>'


# docs: begin buy
@app.post("/buy")
async def buy(request: Request) -> RedirectResponse:
    state = request.app.state
    reference = f"order-{secrets.token_hex(5)}"
    await asyncio.to_thread(state.orders.add, reference)
    back = f"{state.shop_url}/orders/{reference}"
    checkout = await state.kassa.open_checkout(reference, 390, "A jar of honey", return_url=back)
    return RedirectResponse(checkout.page_url, 303)


@app.get("/orders/{reference}", response_class=HTMLResponse)
async def order(reference: str, request: Request) -> str:
    state = await asyncio.to_thread(request.app.state.orders.state, reference)
    if state is None:
        raise HTTPException(404)
    return f'<meta http-equiv="refresh" content="3"><h1>Your order is {state}</h1>'
    # docs: end buy


# docs: begin event
@app.post("/events", status_code=204)
async def events(request: Request) -> None:
    state = request.app.state
    try:
        event = verify_event(await request.body(), request.headers, state.events_secret)
    except EventError as error:
        logger.warning("an event was refused: %s", error)  # for the log alone: the answer does not say why
        raise HTTPException(401) from None
    # What is not answered with 2xx comes again.
    if event.is_paid and not await asyncio.to_thread(state.orders.mark_paid, event.reference):
        raise HTTPException(404)
    # docs: end event
