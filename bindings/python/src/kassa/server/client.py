"""The blocking client."""

import logging
import os
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import quote

from ._http import Transport
from ._settings import Hidden
from .errors import BadResponse, NotFound, ServerError, ServerUnavailable
from .values import Checkout, EventAt, EventPage, Payment, Token

LONGEST_WAIT = 60
"""Seconds that the server waits for a change at most."""

NO_CHECKOUT = "There is no such checkout"
"""How the server says so."""

logger = logging.getLogger("kassa")


@dataclass(frozen=True)
class _Count:
    """How many records a request affected."""

    count: int


@dataclass(frozen=True)
class _Done:
    """An empty object."""


def seconds(time: timedelta | float) -> float:
    """A time in seconds."""
    return time.total_seconds() if isinstance(time, timedelta) else time


def settings_of_environment() -> dict[str, Any]:
    """The address, the key, and the hosts that may be called by plain http."""
    names = {"url": "KASSA_SERVER_URL", "api_key": "KASSA_API_KEY"}
    for name in names.values():
        if not os.environ.get(name):
            raise ValueError(f"the environment variable {name} is not set")
    hosts = os.environ.get("KASSA_PLAIN_HTTP_HOSTS", "").split(",")
    found: dict[str, Any] = {setting: os.environ[name] for setting, name in names.items()}
    return found | {"plain_http_hosts": tuple(each.strip() for each in hosts if each.strip())}


def is_temporary(error: ServerError) -> bool:
    """Whether the same request can succeed later."""
    return isinstance(error, ServerUnavailable) or (isinstance(error, BadResponse) and error.status >= 500)


class Client:
    """A shop's back end at kassa-server: opens checkouts, and reads their outcomes.

        with Client("https://pay.shop.example.kg", api_key) as client:
            checkout = client.open_checkout("order-17", 390, "Two tickets", return_url="https://shop.example.kg/paid")
            redirect(checkout.page_url)

    Make one and keep it: it keeps its connections, and any number of threads can use it, also in processes that are forked
    later. Every call ends within ``timeout``, with a value or a `ServerError`; only the look-up of the host's name (DNS) has no
    limit but the system's own. Requests are sent up to 8 times where that is safe, with growing pauses: without a connection,
    and after 408, 429, 502, 503 and 504. It uses no proxy, follows no redirect, and never prints the key.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: timedelta | float = 30,
        ca_file: str | os.PathLike[str] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        plain_http_hosts: Iterable[str] = (),
    ) -> None:
        """Nothing is sent yet. A wrong setting raises a `ValueError` that names it.

        * ``url``: the server's address, its ``public_url``, without ``/v1``: https, or http to a loopback address or to one of
          ``plain_http_hosts``
        * ``api_key``: what ``kassa-server keys new`` printed (``ak_…``)
        * ``timeout``: for a whole call with its retries: a `timedelta`, or seconds
        * ``ca_file``: a file with the certificates (PEM) to trust instead of the system's
        * ``ssl_context``: settings of TLS of your own, instead of ``ca_file``
        * ``plain_http_hosts``: hosts that may be called by plain http, such as ``("kassa-server",)`` in a network of your own:
          anyone who listens there reads the key
        """
        key = Hidden(api_key)
        del api_key
        if ssl_context is not None and ca_file is not None:
            raise ValueError("ca_file and ssl_context exclude each other: load the file into the context")
        if ca_file is not None:
            ssl_context = ssl.create_default_context(cafile=os.fspath(ca_file))
        self._transport = Transport(url, key, seconds(timeout), ssl_context, plain_http_hosts)

    @classmethod
    def from_environment(cls, **settings: Any) -> "Client":
        """A client by ``KASSA_SERVER_URL`` and ``KASSA_API_KEY``, with further settings as in ``Client(...)``.

        ``KASSA_PLAIN_HTTP_HOSTS`` can name hosts, separated by commas, that may be called by plain http.
        """
        return cls(**(settings_of_environment() | settings))

    def close(self) -> None:
        """Closes its connections, and ends `events` that follow the history. Further calls raise a `ServerError`."""
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._transport.closed.is_set()

    def __repr__(self) -> str:
        # In the traceback of a wrong setting there is none yet.
        transport = getattr(self, "_transport", None)
        return f"{type(self).__name__}({transport.url!r})" if transport else f"{type(self).__name__}()"

    # Checkouts

    def open_checkout(
        self,
        reference: str,
        amount: Decimal | int | str,
        description: str,
        return_url: str,
        *,
        methods: Iterable[str] | None = None,
        lifetime: timedelta | float | None = None,
        metadata: Mapping[str, str] | None = None,
        currency: str | None = None,
    ) -> Checkout:
        """Opens a checkout. Send the payer to its ``page_url``.

        * ``reference``: your order's number. **The same reference with the same content returns the same checkout**, also
          after it ended, so a repetition is safe. With other content it is a `Conflict`
        * ``amount``: in units of the currency, with at most two digits after the point; never a float
        * ``description``: what the payer reads
        * ``return_url``: the page to which the payer returns. That somebody comes there proves nothing
        * ``methods``: such as ``["qr", "mbank"]``; by default all that can carry the amount
        * ``lifetime``: how long it can be paid, from a minute to 30 days (a `timedelta`, or seconds); default: an hour
        * ``metadata``: up to 20 texts of your own, which come back with the checkout
        * ``currency``: default ``KGS``
        """
        if not isinstance(amount, Decimal | int | str) or isinstance(amount, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"amount is a Decimal, an int or a str, not {type(amount).__name__}: others are not exact")
        wanted: dict[str, object] = {
            "reference": reference,
            "amount": f"{amount:f}" if isinstance(amount, Decimal) else str(amount),
            "description": description,
            "return_url": return_url,
        }
        if methods is not None:
            wanted["methods"] = [methods] if isinstance(methods, str) else list(methods)
        if lifetime is not None:
            wanted["lifetime_s"] = int(seconds(lifetime))
        if metadata is not None:
            wanted["metadata"] = dict(metadata)
        if currency is not None:
            wanted["currency"] = currency
        return self._transport.request(Checkout, "POST", "/v1/checkouts", body=wanted)

    def checkout(self, checkout: str) -> Checkout:
        """A checkout by its identifier (``co_…``); `NotFound` if there is none."""
        return self._transport.request(Checkout, "GET", path_of(checkout))

    def find_checkout(self, reference: str) -> Checkout | None:
        """A checkout by your own reference. None if there is none."""
        try:
            return self._transport.request(Checkout, "GET", "/v1/checkouts", query={"reference": reference})
        except NotFound as error:
            # Another 404 says that the address is wrong, and nothing about the checkout.
            if not error.detail.startswith(NO_CHECKOUT):
                raise
            return None

    def wait_for_change(
        self,
        checkout: str,
        after_version: int,
        wait: timedelta | float = 25,
    ) -> Checkout:
        """The checkout as soon as its ``version`` is above ``after_version``, or as it is after ``wait`` (at most a minute).

        Only while a person waits for an answer: `events` and webhooks also report money that comes later.
        """
        waited = min(max(int(seconds(wait)), 0), LONGEST_WAIT)
        query = {"after": after_version, "wait": waited}
        return self._transport.request(Checkout, "GET", path_of(checkout), query=query, wait=waited)

    def cancel(self, checkout: str) -> Checkout:
        """Cancels a checkout. `Conflict` if it has ended, or a payment of it may still be charged: wait for its outcome."""
        return self._transport.request(Checkout, "POST", f"{path_of(checkout)}/cancel")

    def check(self, checkout: str) -> None:
        """Has the server query the gateway about the checkout's payments now. An event reports the result."""
        self._transport.request(_Done, "POST", f"{path_of(checkout)}/check")

    def new_token(self, checkout: str) -> Token:
        """A client token for the payer's app: it opens this checkout and nothing else."""
        return self._transport.request(Token, "POST", f"{path_of(checkout)}/tokens")

    def revoke_tokens(self, checkout: str) -> int:
        """Revokes all client tokens of the checkout; how many there were."""
        return self._transport.request(_Count, "DELETE", f"{path_of(checkout)}/tokens").count

    # Events

    def events(
        self, after: str = "0", *, limit: int = 100, follow: bool = False, interval: timedelta | float = 5
    ) -> Iterator[EventAt]:
        """The events after a cursor, in the order in which they happened. None is ever skipped.

        Store each ``cursor`` in the transaction that deals with its event, and begin there the next time; ``"0"`` is the
        beginning. It raises `HistoryGone` if the server was restored and no longer knows the cursor.

        * ``limit``: how many a request brings, at most 1,000
        * ``follow``: does not end with the last event, but polls again after each ``interval``, until `close`. While the server
          cannot be reached or fails (5xx) it waits, and logs a warning to the logger ``kassa``
        """
        while not (follow and self.is_closed):
            try:
                page = self.page(after, limit)
            except ServerError as error:
                if follow and self.is_closed:
                    return
                if not follow or not is_temporary(error):
                    raise
                logger.warning("reading of the events pauses: %s", error)
            else:
                yield from page.events
                after = page.next
                if page.events:
                    continue
            if not follow or self._transport.closed.wait(seconds(interval)):
                return

    def page(self, after: str = "0", limit: int = 100) -> EventPage:
        """One page of the events after a cursor, for a loop of your own; `events` reads them all."""
        return self._transport.request(EventPage, "GET", "/v1/events", query={"after": after, "limit": limit})

    def replay_events(self, checkout: str | None = None) -> int:
        """Delivers events again whose delivery was given up or refused, of one checkout (``co_…``) or of all; how many."""
        wanted = {} if checkout is None else {"checkout": checkout}
        return self._transport.request(_Count, "POST", "/v1/events/replay", body=wanted).count

    # Payments

    def resolve_payment(
        self, payment: str, outcome: Literal["charged", "not_charged"], *, reason: str, by: str
    ) -> Payment:
        """Records how a payment (``pay_…``) ended, for a person who looked at the gateway's own records.

        With ``charged`` it pays its checkout. `Conflict` if the outcome is known, or is still being determined.

        It is sent once. After a `ServerUnavailable`, look at the checkout before you repeat it.

        * ``reason``: what the person found
        * ``by``: the person's name
        """
        wanted = {"outcome": outcome, "reason": reason, "by": by}
        path = f"/v1/payments/{quote(payment, safe='')}/resolve"
        return self._transport.request(Payment, "POST", path, body=wanted, can_repeat=False)


def path_of(checkout: str) -> str:
    """The path of a checkout."""
    return f"/v1/checkouts/{quote(checkout, safe='')}"
