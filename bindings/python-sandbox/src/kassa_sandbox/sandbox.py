"""A sandbox to start, inspect and stop."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from . import _admin, _binary, _pages, phones, values
from ._child import Child
from ._log import Log
from ._names import DialectName
from .clock import Clock
from .dialects import dialect_file
from .errors import NotRunning, UnknownPayment
from .faults import Faults, whole
from .payers import TestCard, TestPhone
from .switches import Switches
from .values import CallbackAttempt, Language, MbankQuid, Payment, Request, ReusedOrderNumber, StatusNumbers

LOGGER = logging.getLogger("kassa_sandbox")
LOGGER.addHandler(logging.NullHandler())


class Credentials(NamedTuple):
    """The merchant's credentials."""

    login: str
    """The merchant's login."""
    password: str
    """The merchant's password."""


class Sandbox:
    """The payment gateway's side on this machine: endpoints, pages, callbacks, a ledger, and faults on demand.

        with Sandbox() as sandbox:
            gateway = kassa.Gateway(sandbox.base_url, kassa.Credentials(*sandbox.credentials))
            ...
            assert sandbox.payment("order-17").times_charged == 1

    It is a separate process that never outlives the one that started it. It is thread-safe. A forked process can use it too,
    but can neither stop nor restart it.
    """

    def __init__(
        self,
        *,
        database: str | os.PathLike[str] | None = None,
        port: int = 0,
        login: str = "kassa",
        password: str = "sandbox-password",  # noqa: S107 - the one that everybody knows
        language: Language = "en",
        reused_order_number: ReusedOrderNumber = "refuse",
        status_numbers: StatusNumbers = "strict",
        three_ds_1_page: bool = False,
        redirect_declines: bool = False,
        acts_as: DialectName = "interface",
        mbank_quid: MbankQuid = "field",
        callback_pauses: Sequence[timedelta] | None = None,
        callback_timeout: timedelta | None = None,
        demo_payments: int = 0,
        log: logging.Logger | str | os.PathLike[str] | None = LOGGER,
    ) -> None:
        """Starts nothing yet. `start` or a ``with`` block checks the values and starts the sandbox.

        * ``database``: an SQLite file that keeps payments and undelivered callbacks; in memory without one
        * ``port``: the port to listen on, on this machine only; 0 takes a free one
        * ``login``, ``password``: the merchant's
        * ``language``: the language of messages if a request does not specify one
        * ``reused_order_number``, ``status_numbers``, ``three_ds_1_page``, ``redirect_declines``, ``acts_as``,
          ``mbank_quid``: as for `SwitchValues`
        * ``callback_pauses``: the pauses between attempts to deliver a callback, in whole seconds; the last one repeats.
          By default, from one second to an hour
        * ``callback_timeout``: the timeout of a delivery attempt, in whole seconds; ten by default
        * ``demo_payments``: the number of generated payments at the start if the database is empty; up to a million
        * ``log``: a logger, a file to append to, or None to drop it
        """
        self._port = port
        self._credentials = Credentials(login, password)
        self._admin_token = secrets.token_urlsafe(32)
        self._log: Log = log if isinstance(log, logging.Logger) or log is None else Path(log)
        self._options = [
            *([f"--db={os.fspath(database)}"] if database is not None else []),
            *("--language", language, "--reused-order-number", reused_order_number, "--status-numbers", status_numbers),
            *("--as", acts_as, "--mbank-quid", mbank_quid),
            *(["--three-ds-1-page"] if three_ds_1_page else []),
            *(["--redirect-declines"] if redirect_declines else []),
            *([f"--seed-demo={demo_payments}"] if demo_payments else []),
            *seconds("callback_pauses", callback_pauses),
            *seconds("callback_timeout", None if callback_timeout is None else [callback_timeout]),
        ]
        self._child: Child | None = None
        self._admin: _admin.Admin | None = None
        self._base_url = ""

    # Its process

    def start(self) -> Sandbox:
        """Starts it, unless it runs; it is ready when this returns. `StartError` has the reason of a failure.

        After the first start, it always uses the same port.
        """
        if self.is_running:
            return self
        self._refuse_in_a_fork("started")
        self.stop()
        self._child = Child(_binary.find(), self._arguments(), self._environment(), self._log)
        self._base_url = self._child.url
        self._port = urlsplit(self._base_url).port or self._port
        self._admin = _admin.Admin(self._base_url, self._admin_token)
        return self

    def stop(self) -> None:
        """Stops it if it runs, after answering the running requests. Nothing happens in a forked process."""
        if self._child is not None:
            self._child.stop()

    def restart(self) -> Sandbox:
        """Stops it and starts it on the same port, with the same database. Faults are removed, and switches reset.

        Without a ``database`` it is empty afterwards. After `kill`, this is a start after a crash.
        """
        self._refuse_in_a_fork("restarted")
        self.stop()
        return self.start()

    def kill(self) -> None:
        """Kills it, like a crash. `restart` starts it again."""
        self._refuse_in_a_fork("killed")
        if self._child is not None:
            self._child.kill()

    def _refuse_in_a_fork(self, done: str) -> None:
        if self._child is not None and not self._child.is_mine:
            raise NotRunning(f"this sandbox belongs to the process that this one was forked from; it is {done} there")

    def _arguments(self) -> list[str]:
        return ["--listen", f"127.0.0.1:{self._port}", *self._options]

    def _environment(self) -> dict[str, str]:
        # Secrets are passed by the environment: everybody can read the arguments of a process.
        own = {
            "KASSA_SANDBOX_LOGIN": self.login,
            "KASSA_SANDBOX_PASSWORD": self.password,
            "KASSA_SANDBOX_ADMIN_TOKEN": self._admin_token,
        }
        if self._log is None:
            own["RUST_LOG"] = "off"
        return {**os.environ, **own}

    def __enter__(self) -> Sandbox:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Sandbox({self._base_url or 'not started'})"

    # Address and credentials

    @property
    def is_running(self) -> bool:
        """Whether it runs, as a child of this process."""
        return self._child is not None and self._child.is_running

    @property
    def pid(self) -> int | None:
        """The number of its process, while it runs."""
        return self._child.pid if self._child is not None and self._child.is_running else None

    @property
    def base_url(self) -> str:
        """Its address, without a trailing slash. It stays the same after a restart."""
        self._admin_api()
        return self._base_url

    @property
    def login(self) -> str:
        """The merchant's login."""
        return self._credentials.login

    @property
    def password(self) -> str:
        """The merchant's password."""
        return self._credentials.password

    @property
    def credentials(self) -> Credentials:
        """Login and password, as a pair."""
        return self._credentials

    @property
    def admin_token(self) -> str:
        """The token for the admin interface. It is generated for this sandbox, and stays the same after a restart."""
        return self._admin_token

    def environment(self) -> dict[str, str]:
        """The environment variables of a program under test, as ``kassa.Gateway.from_environment`` reads them: ``KASSA_URL``,
        ``KASSA_LOGIN``, ``KASSA_PASSWORD`` and ``KASSA_DIALECT``.

            subprocess.run(["python", "shop.py"], env=os.environ | sandbox.environment())
        """
        dialect = dialect_file(self.switches.read().acts_as)
        named = {"URL": self.base_url, "LOGIN": self.login, "PASSWORD": self.password, "DIALECT": str(dialect)}
        return {f"KASSA_{name}": value for name, value in named.items()}

    # Its records

    def ledger(self, order_number: str | None = None) -> tuple[Payment, ...]:
        """Every payment, or those with this order number, the newest last: what really happened."""
        return tuple(map(values.payment, self._listed("ledger", "payments", order_number)))

    def payment(self, order_number: str) -> Payment:
        """The payment with this order number; the newest if there are several; `UnknownPayment` if there is none."""
        found = self.ledger(order_number)
        if not found:
            raise UnknownPayment(404, f"no payment has the order number {order_number!r}")
        return found[-1]

    def requests(self, order_number: str | None = None) -> tuple[Request, ...]:
        """Every request that reached an endpoint, or those with this order number, in order."""
        return tuple(map(values.request, self._listed("requests", "requests", order_number)))

    def callbacks(self, order_number: str | None = None) -> tuple[CallbackAttempt, ...]:
        """Every attempt to deliver a callback, or those for this order number, in order.

        An attempt is listed after its receiver has answered or failed.
        """
        return tuple(map(values.callback_attempt, self._listed("callbacks", "callbacks", order_number)))

    # Its controls

    @property
    def faults(self) -> Faults:
        """Fault injection."""
        return Faults(self._admin_api())

    @property
    def switches(self) -> Switches:
        """Its behaviour where the gateway's interface is not specified."""
        return Switches(self._admin_api())

    @property
    def clock(self) -> Clock:
        """The gateway's clock, and when pending payments become final."""
        return Clock(self._admin_api())

    def approve(self, number: str, *, sum_tyiyn: int | None = None) -> Payment:
        """Pays an open payment, as its payer; by the merchant's or the gateway's number, or a transaction id.

        * ``sum_tyiyn``: the amount that the payer enters for a QR code without an amount

        `UnknownPayment` if there is none, `AdminRefused` if it is already decided.
        """
        body = None if sum_tyiyn is None else {"amount": sum_tyiyn}
        return values.payment(_admin.decide(self._admin_api(), number, "approve", body))

    def decline(self, number: str) -> Payment:
        """Declines an open payment, as its payer; otherwise like `approve`."""
        return values.payment(_admin.decide(self._admin_api(), number, "decline"))

    def pay_by_form(self, page_url: str, payer: TestCard | TestPhone = phones.MBANK_APPROVED) -> str:
        """Pays on the pay-form with this URL like a payer in a browser, including the one-time password. Returns the URL that
        the payer is redirected to; empty if the payer stays on the gateway's page, as after a decline.

        `SandboxError` if the pay-form does not accept this payer, or is already paid.
        """
        return _pages.pay_by_form(page_url, payer)

    def reset(self) -> None:
        """Deletes payments, requests, callbacks and faults; switches and clock return to their initial values."""
        self._admin_api().request("POST", "reset")

    def _listed(self, path: str, name: str, order_number: str | None) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self._admin_api().request("GET", path, order_number=order_number)[name]
        return answer

    def _admin_api(self) -> _admin.Admin:
        if self._admin is None:
            raise NotRunning("the sandbox was not started")
        return self._admin


def seconds(setting: str, durations: Sequence[timedelta] | None) -> list[str]:
    """A setting in whole seconds, as an option of the program."""
    if durations is None:
        return []
    if not durations:
        raise ValueError(f"{setting}: at least one is needed")
    counts = [str(whole(setting, duration, timedelta(seconds=1))) for duration in durations]
    return [f"--{setting.replace('_', '-')}={','.join(counts)}"]
