"""A shop on Flask: opens checkouts at kassa-server, and takes its signed events. ``flask --app flask_shop.app run``."""

import os
import secrets
from collections.abc import Callable

from flask import Flask, abort, redirect, request
from kassa.server import Client, EventError, verify_event
from werkzeug import Response

from orders import Orders


# docs: begin settings
def create_app(on_paid: Callable[[str], object] | None = None) -> Flask:
    """The shop. ``on_paid`` is called with the reference of an order when it is paid, and again if its event is repeated."""
    app = Flask(__name__)
    # A missing setting ends the start, and names itself.
    events_secret = os.environ["KASSA_EVENTS_SECRET"]
    shop_url = os.environ["SHOP_URL"]
    orders = Orders(os.environ["SHOP_DATABASE"])
    kassa = Client.from_environment(timeout=10)  # KASSA_SERVER_URL, KASSA_API_KEY; threads and forks can share it
    # docs: end settings

    @app.get("/")
    def product() -> str:
        return '<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>'

    # docs: begin buy
    @app.post("/buy")
    def buy() -> Response:
        reference = f"order-{secrets.token_hex(5)}"
        orders.add(reference)
        back = f"{shop_url}/orders/{reference}"
        checkout = kassa.open_checkout(reference, 390, "A jar of honey", return_url=back)
        return redirect(checkout.page_url or abort(500), 303)

    @app.get("/orders/<reference>")
    def order(reference: str) -> str:
        state = orders.state(reference) or abort(404)
        return f'<meta http-equiv="refresh" content="3"><h1>Your order is {state}</h1>'
        # docs: end buy

    # docs: begin event
    @app.post("/events")
    def events() -> tuple[str, int]:
        try:
            event = verify_event(request.get_data(), request.headers, events_secret)
        except EventError as error:
            app.logger.warning("an event was refused: %s", error)  # for the log alone: the answer does not say why
            abort(401)
        if event.is_paid:
            if not orders.mark_paid(event.reference):
                abort(404)  # what is not answered with 2xx comes again
            if on_paid is not None:
                on_paid(event.reference)
        return "", 204
        # docs: end event

    return app
