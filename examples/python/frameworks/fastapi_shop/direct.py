"""A shop on FastAPI that talks to the gateway itself. ``uvicorn fastapi_shop.direct:app``, and ``python direct_worker.py``."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import kassa
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from orders import Orders


# docs: begin settings
@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    app.state.shop_url = os.environ["SHOP_URL"]
    app.state.orders = Orders(os.environ["SHOP_DATABASE"])
    app.state.key = kassa.CallbackKey(os.environ["SHOP_CALLBACK_SECRET"])
    # KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD, KASSA_DIALECT
    async with kassa.AsyncGateway.from_environment(journal=os.environ["SHOP_JOURNAL"]) as gateway:
        app.state.gateway = gateway
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
    form = kassa.PayForm(
        amount=390,
        service_name="A jar of honey",
        callback_url=f"{state.shop_url}/callbacks",
        return_url=f"{state.shop_url}/orders/{reference}",
        entry_id=reference,  # the journal makes one pay-form for each order
    )
    signed = state.key.callback_url(form.callback_url, form.payment_ref())
    created = await state.gateway.with_note(reference).create_pay_form(replace(form, callback_url=signed))
    return RedirectResponse(created.pay_form_url, 303)
    # docs: end buy


@app.get("/orders/{reference}", response_class=HTMLResponse)
async def order(reference: str, request: Request) -> str:
    state = await asyncio.to_thread(request.app.state.orders.state, reference)
    if state is None:
        raise HTTPException(404)
    return f'<meta http-equiv="refresh" content="3"><h1>Your order is {state}</h1>'


# docs: begin callback
@app.post("/callbacks", status_code=204)
async def callback(request: Request) -> None:
    try:
        payment = request.app.state.key.read_callback_url(str(request.url))
        claimed = kassa.Callback.parse(await request.body())
    except kassa.Invalid:
        raise HTTPException(400) from None
    try:
        # A callback is only a hint. The journal records what the gateway reports, and the worker delivers.
        await request.app.state.gateway.verify_callback(claimed, payment)
    except kassa.PaymentError:
        raise HTTPException(503) from None  # the gateway sends it again
    # docs: end callback
