"""A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events."""

import json
import os
import secrets
import threading
from typing import Any
from urllib.request import Request, urlopen

from flask import Flask, abort, redirect, request
from standardwebhooks import Webhook, WebhookVerificationError
from werkzeug import Response

SERVER, KEY, PORT = os.environ["KASSA_SERVER_URL"], os.environ["KASSA_API_KEY"], int(os.environ["PORT"])
PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>'
webhook = Webhook(os.environ["KASSA_EVENTS_SECRET"])
app = Flask(__name__)
orders: dict[str, str] = {}  # In a real shop these are two tables of its database.
seen: set[str] = set()
lock = threading.Lock()


# docs: begin open
def open_checkout(wanted: dict[str, str]) -> Any:
    """Sends a request to the server. A refusal is raised, and becomes an error page (500)."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    with urlopen(Request(f"{SERVER}/v1/checkouts", json.dumps(wanted).encode(), headers), timeout=60) as answer:
        return json.load(answer)
    # docs: end open


@app.get("/")
def product() -> str:
    return f'{PAGE}<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>'


# docs: begin buy
@app.post("/buy")
def buy() -> Response:
    reference = f"order-{secrets.token_hex(5)}"
    orders[reference] = "not paid yet"
    back = f"http://127.0.0.1:{PORT}/orders/{reference}"
    wanted = {"reference": reference, "amount": "390", "description": "A jar of honey", "return_url": back}
    return redirect(open_checkout(wanted)["page_url"], 303)
    # docs: end buy


@app.get("/orders/<reference>")
def show(reference: str) -> str:
    state = orders.get(reference) or abort(404)
    return f'{PAGE}<meta http-equiv="refresh" content="3"><h1>Order {reference} is {state}</h1>'


# docs: begin event
@app.post("/events")
def events() -> tuple[str, int]:
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError):
        abort(401)
    reference = event["data"]["reference"]
    if reference not in orders:
        abort(404)  # What is not taken comes again.
    with lock:  # In a database: one transaction, with a unique index over the identifiers of events.
        if request.headers["webhook-id"] not in seen and event["type"] == "checkout.paid":
            orders[reference] = "delivered"
            print("deliver", reference, flush=True)
        seen.add(request.headers["webhook-id"])
    return "", 204
    # docs: end event


app.run(port=PORT)
