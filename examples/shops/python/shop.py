"""A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events."""

import os
import secrets
import threading

from flask import Flask, abort, redirect, request
from kassa.server import Client, EventError, verify_event
from werkzeug import Response

PORT = int(os.environ["PORT"])
PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>'
app = Flask(__name__)
orders: dict[str, str] = {}  # In a real shop this is a table of its database.
lock = threading.Lock()


@app.get("/")
def product() -> str:
    return f'{PAGE}<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>'


# docs: begin buy
kassa = Client.from_environment()  # of kassa.server, by KASSA_SERVER_URL and KASSA_API_KEY


@app.post("/buy")
def buy() -> Response:
    reference = f"order-{secrets.token_hex(5)}"
    orders[reference] = "not paid yet"
    back = f"http://127.0.0.1:{PORT}/orders/{reference}"
    checkout = kassa.open_checkout(reference, 390, "A jar of honey", return_url=back)
    return redirect(checkout.page_url or abort(500), 303)
    # docs: end buy


@app.get("/orders/<reference>")
def show(reference: str) -> str:
    state = orders.get(reference) or abort(404)
    return f'{PAGE}<meta http-equiv="refresh" content="3"><h1>Order {reference} is {state}</h1>'


# docs: begin event
@app.post("/events")
def events() -> tuple[str, int]:
    try:
        event = verify_event(request.get_data(), request.headers, os.environ["KASSA_EVENTS_SECRET"])
    except EventError as error:
        app.logger.warning("an event was refused: %s", error)  # For the log alone: the answer does not say why.
        abort(401)
    if event.reference not in orders:
        abort(404)  # What is not taken comes again.
    with lock:  # In a database: one transaction that locks the order's row.
        # Once for each order: an event can come twice, and after a restore of the server under another identifier.
        # And for its price: another shop of the same server could have used the same reference.
        is_whole = event.amount == 390 and event.currency == "KGS"
        if event.is_paid and is_whole and orders[event.reference] != "delivered":
            orders[event.reference] = "delivered"
            print("deliver", event.reference, flush=True)
    return "", 204
    # docs: end event


app.run(port=PORT)
