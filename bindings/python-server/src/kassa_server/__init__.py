"""The merchant's side of payments as one program: it holds the credentials, polls payments until they are final, and sends
events to the shop.

The wheel brings the program: ``kassa-server`` on the command line, or ``python -m kassa_server``. A shop talks to it over
HTTP, in any language. For the shop's tests, `kassa_server.testing.KassaServer` starts it together with a sandbox:

    from kassa_server.testing import KassaServer

    with KassaServer(events_url="http://127.0.0.1:8000/events") as server:
        shop = Shop(server.url, server.api_key, server.events_secret)
        server.pay_by_form(shop.buy("order-17"))
        server.wait_for("checkout.paid", reference="order-17")

In pytest, a test takes the fixture ``kassa_server``.
"""

from __future__ import annotations

from ._binary import find as program
from .errors import NotRunning, Refused, ServerError, StartError, TooLate

__all__ = ["NotRunning", "Refused", "ServerError", "StartError", "TooLate", "program"]
