"""The settings of both gateways, and the core's gateway made from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from enum import Enum
from typing import Any, NoReturn, TypeVar

import kassa

from . import _check
from ._codec import flat_enum
from ._core import native
from ._forks import leave_behind
from .secrets import Credentials, Proxy


@flat_enum("StatusQueryForm")
class StatusQueryForm(Enum):
    """How the fields of ``GET /api/v1.1.0/status`` are sent."""

    JSON_BODY = "json_body"
    """As a JSON body, as the interface requires."""
    QUERY_STRING = "query_string"
    """As a query string, for a proxy that drops the body of a GET."""


class Connected:
    """The settings of a gateway, and the core's gateway of this process.

    Threads do not survive a fork, so a forked child (gunicorn with preload, multiprocessing) gets a gateway of the core of its
    own, at its first call.
    """

    __slots__ = ("__weakref__", "_config", "_here", "_is_closed", "_journal", "_make", "_origin")

    def __init__(
        self,
        base_url: str,
        credentials: Credentials,
        *,
        connect_timeout: timedelta | float = timedelta(seconds=10),
        payment_deadline: timedelta | float = timedelta(seconds=60),
        query_deadline: timedelta | float = timedelta(seconds=30),
        query_retries: int = 2,
        status_query: StatusQueryForm = StatusQueryForm.JSON_BODY,
        dialect: kassa.Dialect | None = None,
        extra_root_certificates: Iterable[str] = (),
        proxy: Proxy | None = None,
        user_agent_suffix: str | None = None,
        check_luhn: bool = False,
        plain_http_hosts: Iterable[str] = (),
        journal: kassa.Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        """Creates a gateway from its settings. Sends nothing. A time is a `timedelta`, or a number of seconds.

        * ``base_url``: the gateway's base URL; it can have a path prefix; plain http only to a loopback address, or to one
          of ``plain_http_hosts``
        * ``credentials``: the merchant's login and password
        * ``connect_timeout``: the time limit of connecting, including TLS
        * ``payment_deadline``: the time limit of a whole call that moves money: connecting, sending, the response, and all
          retries. A payment that reaches it may still have happened
        * ``query_deadline``: the time limit of every other call: status queries, pay-forms and QR codes
        * ``query_retries``: how often a failed query is retried within the deadline. A payment is retried as often, but only
          if no connection was made; a pay-form or a QR code is never retried
        * ``status_query``: how the fields of a status query are sent
        * ``dialect``: how to read the gateway's responses; by default the documented envelope
        * ``extra_root_certificates``: certificates (PEM texts) to trust in addition to Mozilla's roots
        * ``proxy``: the proxy to the gateway; by default none, even if the environment names one
        * ``user_agent_suffix``: added to the user agent, such as ``my-shop/1.2``
        * ``check_luhn``: refuse card numbers with a wrong check digit before they are sent
        * ``plain_http_hosts``: hosts that may be called by plain http, as machines in a network of your own: anyone who
          listens there reads the credentials and the cards
        * ``journal``: a `Journal` or its folder, which records payments before they are sent; none by default

        Raises `kassa.Misconfigured` naming the setting that is invalid, and `ValueError` for a time of zero or less.
        """
        config = native.GatewayConfig(
            base_url=_check.text("base_url", base_url),
            credentials=_check.instance("credentials", credentials, Credentials),
            connect_timeout=_check.positive_duration("connect_timeout", connect_timeout),
            payment_deadline=_check.positive_duration("payment_deadline", payment_deadline),
            query_deadline=_check.positive_duration("query_deadline", query_deadline),
            query_retries=_check.count("query_retries", query_retries),
            status_query=_check.instance("status_query", status_query, StatusQueryForm),
            dialect=native.Dialect()
            if dialect is None
            else _check.optional_instance("dialect", dialect, kassa.Dialect),
            extra_root_certificates=certificates(extra_root_certificates),
            proxy=_check.optional_instance("proxy", proxy, Proxy) or Proxy.direct(),
            user_agent_suffix=_check.optional_text("user_agent_suffix", user_agent_suffix),
            check_luhn=_check.flag("check_luhn", check_luhn),
            plain_http_hosts=list(_check.texts("plain_http_hosts", plain_http_hosts)),
        )
        self._over_network(config, journal)

    @classmethod
    def from_environment(
        cls: type[C],
        *,
        connect_timeout: timedelta | float = timedelta(seconds=10),
        payment_deadline: timedelta | float = timedelta(seconds=60),
        query_deadline: timedelta | float = timedelta(seconds=30),
        query_retries: int = 2,
        status_query: StatusQueryForm = StatusQueryForm.JSON_BODY,
        user_agent_suffix: str | None = None,
        check_luhn: bool = False,
        journal: kassa.Journal | str | os.PathLike[str] | None = None,
    ) -> C:
        """Creates a gateway from environment variables, and from arguments for settings without a variable, such as the
        ``journal``. Sends nothing.

        * ``KASSA_URL``: the gateway's base URL
        * ``KASSA_LOGIN``, ``KASSA_PASSWORD``: the merchant's login and password
        * ``KASSA_DIALECT`` (optional): a built-in dialect, such as ``finipay``, or the path of a dialect's JSON file
        * ``KASSA_PROXY`` (optional): the URL of a proxy, or ``environment`` to use ``HTTPS_PROXY`` and the like
        * ``KASSA_ROOT_CERTIFICATES`` (optional): the path of a PEM file with certificates to trust in addition to Mozilla's
            roots
        * ``KASSA_PLAIN_HTTP_HOSTS`` (optional): ``plain_http_hosts``, with commas between them

        An empty variable counts as not set.

        Raises `kassa.Misconfigured`, once, naming every variable that is missing or invalid, without their values. Arguments
        are validated as by ``Gateway(...)``.
        """
        config = native.config_from_environment()
        config.connect_timeout = _check.positive_duration("connect_timeout", connect_timeout)
        config.payment_deadline = _check.positive_duration("payment_deadline", payment_deadline)
        config.query_deadline = _check.positive_duration("query_deadline", query_deadline)
        config.query_retries = _check.count("query_retries", query_retries)
        config.status_query = _check.instance("status_query", status_query, StatusQueryForm)
        config.user_agent_suffix = _check.optional_text("user_agent_suffix", user_agent_suffix)
        config.check_luhn = _check.flag("check_luhn", check_luhn)
        gateway = cls.__new__(cls)
        gateway._over_network(config, journal)
        return gateway

    def with_deadline(self: C, deadline: timedelta | float) -> C:
        """The same gateway with one deadline for every call, whether it moves money or not, as in
        ``gateway.with_deadline(5).qr_status(...)``.

        It shares connections and payments in flight, and is cheap enough to create for one call. In a watch, the deadline
        applies to each query. Closing one gateway closes both.

        Raises `ValueError` for a deadline of zero or less.
        """
        time = _check.positive_duration("deadline", deadline)
        return self._derived(lambda: self._core().with_deadline(time))

    def with_journal(self: C, journal: kassa.Journal | str | os.PathLike[str]) -> C:
        """The same gateway with a journal, a `Journal` or its folder: it records each payment before sending it. It shares
        connections and payments in flight, and closing one gateway closes both.

        Raises `kassa.Misconfigured` if the folder cannot be created, read or written.
        """
        from .journal import opened

        kept = opened(journal)
        return self._derived(lambda: self._core().with_journal(kept), kept)

    def with_note(self: C, note: str) -> C:
        """The same gateway, which adds this note to the journal entries of its payments, such as your own order: after a
        crash, it says what each payment is for.

        It shares the connections and what is on its way, and costs next to nothing, so it can be made for one call, as in
        ``gateway.with_note("cart 17").create_card_payment(...)``. Closing one of them closes both.

        Raises `kassa.Invalid` for a note of more than 256 characters, `kassa.Misconfigured` if the gateway has no journal.
        """
        text = _check.text("note", note)
        return self._derived(lambda: self._core().with_note(text))

    @property
    def journal(self) -> kassa.Journal | None:
        """The gateway's journal, if any."""
        return self._journal

    def _over_network(self, config: Any, journal: kassa.Journal | str | os.PathLike[str] | None) -> None:
        if journal is None:
            self._start(config, lambda: native.Gateway(config))
            return
        from .journal import opened

        kept = opened(journal)
        self._start(config, lambda: native.Gateway(config).with_journal(kept), journal=kept)

    def _derived(self: C, make: Callable[[], Any], journal: kassa.Journal | None = None) -> C:
        """Another one over the same connections. ``make`` gives its core, made from that of this one."""
        return made(type(self), self._config, make, self._origin or self, journal or self._journal)

    def _start(
        self,
        config: Any,
        make: Callable[[], Any],
        origin: Connected | None = None,
        journal: kassa.Journal | None = None,
    ) -> None:
        """``make`` gives the core's gateway of the process that calls it."""
        self._config = config
        self._make = make
        self._origin = origin
        self._journal = journal
        self._is_closed = False
        self._open()

    def _open(self) -> Any:
        core = self._make()
        # In one assignment, so that no other thread mistakes it for an object of the parent process.
        self._here: tuple[int, Any] = os.getpid(), core
        return core

    def _core(self) -> Any:
        """The core's gateway of this process."""
        process, core = self._here
        return core if process == os.getpid() else self._after_fork(core)

    def _after_fork(self, left: Any) -> Any:
        if self._is_closed:
            raise kassa.Misconfigured("the gateway was closed")
        leave_behind(left)
        return self._open()

    def _to_close(self) -> Any | None:
        """What is to be closed, if anything: the payments of another process are not this one's to wait for."""
        self._is_closed = True
        if self._origin is not None:
            self._origin._is_closed = True
        process, core = self._here
        return core if process == os.getpid() else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._config.base_url!r})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a kassa.{type(self).__name__} holds credentials and connections and cannot be pickled or copied"
        )


# After the class: a bound by its name would be compiled.
C = TypeVar("C", bound=Connected)


def made(
    kind: type[C],
    config: Any,
    make: Callable[[], Any],
    origin: Connected | None = None,
    journal: kassa.Journal | None = None,
) -> C:
    """A gateway that is not made by its settings, but from what another one has."""
    gateway = kind.__new__(kind)
    gateway._start(config, make, origin, journal)  # pyright: ignore[reportPrivateUsage]
    return gateway


def is_closed(gateway: Connected) -> bool:
    """Whether it was closed, or the gateway that it was derived from."""
    origin = gateway._origin  # pyright: ignore[reportPrivateUsage]
    return any(one is not None and one._is_closed for one in (gateway, origin))  # pyright: ignore[reportPrivateUsage]


def note_what_is_left(error: BaseException) -> None:
    """Says in a traceback that a payment is still on its way. Python 3.10 has no notes."""
    add_note: Any = getattr(error, "add_note", None)
    if add_note is not None:
        add_note(
            "Kassa: the gateway was closed while a payment was on its way. Its outcome is unknown: recover the journal, or "
            "query by its payment_ref(), and never send it again."
        )


def certificates(given: Iterable[str]) -> list[str]:
    """The certificates, from any iterable of strings."""
    return list(_check.texts("extra_root_certificates", given))
