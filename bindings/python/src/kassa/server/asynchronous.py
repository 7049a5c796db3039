"""The client for asyncio: the blocking one, in threads of its own."""

import asyncio
import contextvars
import os
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Literal, TypeVar

from ._http import Cancellation, cancellation
from ._settings import Hidden
from .client import Client, is_temporary, logger, seconds, settings_of_environment
from .errors import ServerError
from .values import Checkout, EventAt, EventPage, Payment, Token

T = TypeVar("T")


class AsyncClient:
    """The same as `Client`, for asyncio.

        async with AsyncClient("https://pay.shop.example.kg", api_key) as client:
            checkout = await client.open_checkout("order-17", 390, "Two tickets", return_url="https://shop.example.kg/paid")

    Calls run in threads of its own: at most ``threads`` at once, the others wait for their turn. A cancelled task ends its
    request at once. The server may have executed it: the same reference opens no second checkout. A forked process can go on
    with the client: it gets threads and connections of its own.
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
        threads: int = 32,
    ) -> None:
        """Nothing is sent, and no thread begun yet. See `Client`.

        * ``threads``: how many calls run at once; each `wait_for_change` takes one while it waits
        """
        key = Hidden(api_key)
        del api_key
        self._client = Client(
            url,
            key.value,
            timeout=timeout,
            ca_file=ca_file,
            ssl_context=ssl_context,
            plain_http_hosts=plain_http_hosts,
        )
        self._count = threads
        self._threads = ThreadPoolExecutor(threads, "kassa-server")
        self._calls: set[Cancellation] = set()
        self._pauses: set[asyncio.Event] = set()
        self._process = os.getpid()

    @classmethod
    def from_environment(cls, **settings: Any) -> "AsyncClient":
        """A client by ``KASSA_SERVER_URL`` and ``KASSA_API_KEY``, with further settings as in ``AsyncClient(...)``.

        ``KASSA_PLAIN_HTTP_HOSTS`` can name hosts, separated by commas, that may be called by plain http.
        """
        return cls(**(settings_of_environment() | settings))

    async def close(self) -> None:
        """Ends its calls, its connections and threads, and `events` that follow. Further calls raise a `ServerError`."""
        self._client.close()
        for call in tuple(self._calls):
            call.cancel()
        for pause in tuple(self._pauses):
            pause.set()
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        client = getattr(self, "_client", None)
        return repr(client).replace("Client", type(self).__name__, 1) if client else f"{type(self).__name__}()"

    async def _run(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        if self._client.is_closed:
            raise ServerError("the client is closed")
        if self._process != os.getpid():
            # The threads stayed in the process that made them.
            self._threads = ThreadPoolExecutor(self._count, "kassa-server")
            self._calls, self._pauses, self._process = set(), set(), os.getpid()
        call = Cancellation()
        context = contextvars.copy_context()
        context.run(cancellation.set, call)
        self._calls.add(call)
        try:
            work = partial(context.run, partial(function, *arguments, **named))
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            # If it has not ended, the task was cancelled.
            call.cancel()
            self._calls.discard(call)

    async def open_checkout(
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
        """Opens a checkout: see `Client.open_checkout`."""
        return await self._run(
            self._client.open_checkout,
            reference,
            amount,
            description,
            return_url,
            methods=methods,
            lifetime=lifetime,
            metadata=metadata,
            currency=currency,
        )

    async def checkout(self, checkout: str) -> Checkout:
        """A checkout by its identifier (``co_…``); `NotFound` if there is none."""
        return await self._run(self._client.checkout, checkout)

    async def find_checkout(self, reference: str) -> Checkout | None:
        """A checkout by your own reference. None if there is none."""
        return await self._run(self._client.find_checkout, reference)

    async def wait_for_change(
        self,
        checkout: str,
        after_version: int,
        wait: timedelta | float = 25,
    ) -> Checkout:
        """The checkout as soon as it has changed, or as it is after ``wait``: see `Client.wait_for_change`."""
        return await self._run(self._client.wait_for_change, checkout, after_version, wait)

    async def cancel(self, checkout: str) -> Checkout:
        """Cancels a checkout: see `Client.cancel`."""
        return await self._run(self._client.cancel, checkout)

    async def check(self, checkout: str) -> None:
        """Has the server query the gateway about the checkout's payments now."""
        await self._run(self._client.check, checkout)

    async def new_token(self, checkout: str) -> Token:
        """A client token for the payer's app: it opens this checkout and nothing else."""
        return await self._run(self._client.new_token, checkout)

    async def revoke_tokens(self, checkout: str) -> int:
        """Revokes all client tokens of the checkout; how many there were."""
        return await self._run(self._client.revoke_tokens, checkout)

    async def events(
        self, after: str = "0", *, limit: int = 100, follow: bool = False, interval: timedelta | float = 5
    ) -> AsyncIterator[EventAt]:
        """The events after a cursor: see `Client.events`."""
        while not (follow and self._client.is_closed):
            try:
                page = await self.page(after, limit)
            except ServerError as error:
                if follow and self._client.is_closed:
                    return
                if not follow or not is_temporary(error):
                    raise
                logger.warning("reading of the events pauses: %s", error)
            else:
                for each in page.events:
                    yield each
                after = page.next
                if page.events:
                    continue
            if not follow:
                return
            await self._pause(seconds(interval))

    async def _pause(self, seconds: float) -> None:
        """Sleeps until the time is over, or the client is closed."""
        closed = asyncio.Event()
        self._pauses.add(closed)
        try:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(closed.wait(), seconds)
        finally:
            self._pauses.discard(closed)

    async def page(self, after: str = "0", limit: int = 100) -> EventPage:
        """One page of the events after a cursor; `events` reads them all."""
        return await self._run(self._client.page, after, limit)

    async def replay_events(self, checkout: str | None = None) -> int:
        """Delivers events again whose delivery was given up or refused; how many."""
        return await self._run(self._client.replay_events, checkout)

    async def resolve_payment(
        self, payment: str, outcome: Literal["charged", "not_charged"], *, reason: str, by: str
    ) -> Payment:
        """Records how a payment (``pay_…``) ended: see `Client.resolve_payment`."""
        return await self._run(self._client.resolve_payment, payment, outcome, reason=reason, by=by)
