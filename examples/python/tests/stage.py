"""What all tests play on, and what they ask the gateway's books."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

from kassa_sandbox import Payment, Sandbox
from kassa_server.testing import KassaServer

from client import get, wait_until
from shop_process import ShopProcess


@dataclass(frozen=True)
class Stage:
    """A shop, its server, and the gateway."""

    sandbox: Sandbox
    server: KassaServer
    shop: ShopProcess

    @property
    def hosts(self) -> set[str]:
        """The three of them, as addresses name them."""
        return {urlsplit(url).netloc for url in (self.shop.url, self.server.url, self.sandbox.base_url)}


class Books:
    """What the gateway has written down since this was made: nobody but this test makes payments there."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._before = len(sandbox.ledger())
        self._asked = len(sandbox.requests())

    @property
    def payments(self) -> tuple[Payment, ...]:
        """The payments, the newest last."""
        return self._sandbox.ledger()[self._before :]

    def only(self) -> Payment:
        """The one that there is."""
        (payment,) = self.payments
        return payment

    def charged_once(self, amount: str = "390.00") -> Payment:
        """The one that there is, which took this amount once."""
        payment = self.only()
        assert (payment.status, payment.times_charged, payment.amount) == ("CHARGE", 1, Decimal(amount))
        return payment

    def asked(self, endpoint: str) -> list[int | None]:
        """The answers to the requests to an endpoint, of the gateway's own number."""
        requests = self._sandbox.requests()[self._asked :]
        return [request.http_status for request in requests if request.endpoint == endpoint]


def wait_for(page: str, text: str, shop: ShopProcess) -> None:
    """Waits until an order's page says something, without a browser."""
    wait_until(lambda: text in get(page), shop.log)
