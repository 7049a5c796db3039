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
orders: dict[str, dict[str, str]] = {}  # In a real shop these are two tables of its database.
seen: set[str] = set()
lock = threading.Lock()


def ask(method: str, path: str, key: str, body: object = None, **more: str) -> Any:
    """Asks the server. What it refuses is raised, and becomes a page that says 500."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **more}
    data = json.dumps(body).encode() if body else None
    with urlopen(Request(SERVER + path, data, headers, method=method), timeout=60) as answer:
        return json.load(answer)


@app.get("/")
def product() -> str:
    return f'{PAGE}<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>'


@app.post("/buy")
def buy() -> Response:
    reference = f"order-{secrets.token_hex(5)}"
    order = orders[reference] = {"state": "not paid yet"}
    back = f"http://127.0.0.1:{PORT}/paid/{reference}"
    wanted = {"reference": reference, "amount": "390", "description": "A jar of honey", "return_url": back}
    order["path"] = f"/v1/checkouts/{ask('POST', '/v1/checkouts', KEY, wanted)['id']}"
    token = ask("POST", f"{order['path']}/tokens", KEY)["token"]
    form = ask("POST", "/v1/checkout/payments", token, {"method": "pay_form"}, **{"Idempotency-Key": reference})
    return redirect(form["page_url"] or f"/orders/{reference}", 303)  # No page: the gateway is out of order.


@app.get("/paid/<reference>")
def paid(reference: str) -> Response:
    """The payer is back, which proves nothing: the server asks the gateway, and this waits a little for the answer."""
    path = orders[reference]["path"] if reference in orders else abort(404)
    ask("POST", f"{path}/check", KEY)
    if (known := ask("GET", path, KEY))["state"] == "open":
        ask("GET", f"{path}?after={known['version']}&wait=10", KEY)
    return redirect(f"/orders/{reference}", 303)


@app.get("/orders/<reference>")
def show(reference: str) -> str:
    state = orders[reference]["state"] if reference in orders else abort(404)
    return f'{PAGE}<meta http-equiv="refresh" content="3"><h1>Order {reference} is {state}</h1>'


@app.post("/events")
def events() -> tuple[str, int]:
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError):
        abort(401)
    order = orders.get(event["data"]["reference"]) or abort(404)  # What is not taken comes again.
    with lock:  # In a database: one transaction, with a unique index over the identifiers of events.
        if request.headers["webhook-id"] not in seen and event["type"] == "checkout.paid":
            order["state"] = "delivered"
            print("deliver", event["data"]["reference"], flush=True)
        seen.add(request.headers["webhook-id"])
    return "", 204


app.run(port=PORT)
