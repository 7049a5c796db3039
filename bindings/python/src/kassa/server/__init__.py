"""A shop's back end at kassa-server: opens checkouts, and verifies the events about their outcomes.

    from kassa.server import Client, verify_event

    client = Client("https://pay.shop.example.kg", api_key)

    def buy(order):
        checkout = client.open_checkout(order.number, order.amount, "Two tickets", return_url="https://shop.example.kg/paid")
        return redirect(checkout.page_url)

    def take(request):  # what the server sends to events.url
        event = verify_event(request.body, request.headers, events_secret)
        if event.is_paid:
            deliver(event.reference)  # once for each order

`Client` is blocking; `AsyncClient` has the same methods for asyncio. It needs the standard library alone, and loads nothing of
Kassa's native library. To sign events in your own tests, use `kassa.server.testing.sign_event`.

The payer's side of the same server is `kassa.checkout`; the gateway itself is `kassa.Gateway`.
"""

from .._one_module import show_as_one_module as _show_as_one_module
from .asynchronous import AsyncClient
from .client import Client
from .errors import (
    BadResponse,
    Conflict,
    EventError,
    EventErrorReason,
    FieldViolation,
    HistoryGone,
    NotFound,
    Problem,
    ServerError,
    ServerUnavailable,
    WrongKey,
)
from .events import EventHeaders, verify_event
from .values import Checkout, DialectAdvice, Event, EventAt, EventPage, EventPayment, EventVia, Failure, Payment, Token

__all__ = [
    "AsyncClient",
    "BadResponse",
    "Checkout",
    "Client",
    "Conflict",
    "DialectAdvice",
    "Event",
    "EventAt",
    "EventError",
    "EventErrorReason",
    "EventHeaders",
    "EventPage",
    "EventPayment",
    "EventVia",
    "Failure",
    "FieldViolation",
    "HistoryGone",
    "NotFound",
    "Payment",
    "Problem",
    "ServerError",
    "ServerUnavailable",
    "Token",
    "WrongKey",
    "verify_event",
]

_show_as_one_module(globals())
