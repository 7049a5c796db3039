"""The client of kassa-server on bad days: what it repeats, what it refuses to read, and how it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import re
import socket
import ssl
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import trustme
from conformance.patience import PATIENCE
from raw_gateway import Answer, RawGateway, closed_port, hang_up, read_request, response, silence

from kassa.server import (
    AsyncClient,
    BadResponse,
    Checkout,
    Client,
    Conflict,
    EventAt,
    FieldViolation,
    HistoryGone,
    NotFound,
    Problem,
    ServerError,
    ServerUnavailable,
    WrongKey,
)
from kassa.server.testing import sign_event

KEY = "ak_0123_the-key-of-the-tests"
DESCRIPTION = json.loads((Path(__file__).parents[3] / "docs/interfaces/server.json").read_text())
EXAMPLES: dict[str, Any] = DESCRIPTION["paths"]["/v1/checkouts/{checkout}"]["get"]["responses"]["200"]
CHECKOUTS: dict[str, dict[str, Any]] = {
    name: example["value"] for name, example in EXAMPLES["content"]["application/json"]["examples"].items()
}
OPEN = CHECKOUTS["open"]
CALLS: dict[str, Callable[[Client], object]] = {
    "open": lambda client: client.open_checkout("order-17", 390, "Honey", "https://shop.example.kg/paid"),
    "get": lambda client: client.checkout("co_1"),
    "cancel": lambda client: client.cancel("co_1"),
    "check": lambda client: client.check("co_1"),
    "token": lambda client: client.new_token("co_1"),
    "resolve": lambda client: client.resolve_payment("pay_1", "charged", reason="seen", by="Aida"),
}


def answer(body: object, status: int = 200, *headers: str) -> Answer:
    return response(status, json.dumps(body), *headers)


def problem(status: int, kind: str, **members: object) -> Answer:
    return answer({"type": f"urn:kassa:problem:{kind}", "title": "No.", "status": status, **members}, status)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kassa.server._http.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("kassa.server._http.LONGEST_PAUSE", 0.01)


@pytest.fixture
def client(raw: RawGateway) -> Iterator[Client]:
    with Client(raw.url, KEY, timeout=timedelta(seconds=PATIENCE)) as client:
        yield client


@pytest.mark.parametrize("name", CHECKOUTS)
def test_examples_of_the_interface_are_read(raw: RawGateway, client: Client, name: str) -> None:
    value: dict[str, Any] = CHECKOUTS[name] | {"mood": "of a newer server", "state": "of a newer server"}
    raw.answers(answer(value))
    checkout = client.checkout("co_1")
    assert (checkout.id, checkout.amount, checkout.state) == (value["id"], Decimal(390), "of a newer server")
    assert int(checkout.opened_at.timestamp() * 1000) == value["opened_at_ms"]
    payments: list[dict[str, Any]] = value["payments"]
    assert [payment.id for payment in checkout.payments] == [payment["id"] for payment in payments]
    assert pickle.loads(pickle.dumps(checkout)) == checkout  # noqa: S301 - its own
    # Whoever knows the page can pay there.
    assert str(value["page_url"]) not in repr(checkout)


def test_what_may_pass_is_repeated(raw: RawGateway, client: Client) -> None:
    raw.answers(response(502, "<html>"), hang_up, answer({}, 429, "Retry-After: 0"), answer(OPEN, 201))
    checkout = client.open_checkout(
        "order-17", Decimal("1E+2"), "Honey", "https://s.kg", methods="qr", lifetime=90, metadata={"a": "b"}
    )
    assert checkout.page_url == OPEN["page_url"]
    assert len(raw.requests) == 4
    [request] = set(raw.requests)
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/checkouts HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}".encode() in head
    assert json.loads(body) == {
        "reference": "order-17",
        "amount": "100",
        "description": "Honey",
        "return_url": "https://s.kg",
        "methods": ["qr"],
        "lifetime_s": 90,
        "metadata": {"a": "b"},
    }


@pytest.mark.parametrize("call", CALLS)
def test_attempts_are_counted(raw: RawGateway, client: Client, call: str) -> None:
    raw.answers(problem(503, "unavailable"))
    with pytest.raises(ServerUnavailable, match="answered HTTP 503") as error:
        CALLS[call](client)
    assert error.value.status == 503
    # A person's decision is sent once.
    assert len(raw.requests) == (1 if call == "resolve" else 8)


def test_long_retry_after_is_reported_at_once(raw: RawGateway, client: Client) -> None:
    raw.answers(answer({}, 429, f"Retry-After: {int(PATIENCE) + 60}"))
    with pytest.raises(ServerUnavailable, match="it asks to wait") as error:
        client.checkout("co_1")
    assert error.value.retry_after == timedelta(seconds=int(PATIENCE) + 60)
    assert len(raw.requests) == 1


def test_nobody_listens() -> None:
    with Client(closed_port(), KEY) as client, pytest.raises(ServerUnavailable, match="could not be reached") as error:
        client.checkout("co_1")
    assert (error.value.status, error.value.retry_after) == (None, None)


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid", Problem),
        (401, "unauthorized", WrongKey),
        (404, "not_found", NotFound),
        (409, "not_open", Conflict),
        (410, "history_gone", HistoryGone),
        (422, "reference_used", Conflict),
    ],
)
def test_refusals_are_errors(raw: RawGateway, client: Client, status: int, kind: str, error: type[Problem]) -> None:
    violation = {"field": "amount", "rule": "amount", "text": "must be a number"}
    raw.answers(problem(status, kind, detail="Why.", state="paid", violations=[violation], next="7.a.b"))
    with pytest.raises(error) as refused:
        client.cancel("co_1")
    assert type(refused.value) is error
    assert (refused.value.status, refused.value.kind, refused.value.detail) == (status, kind, "Why.")
    assert (refused.value.state, refused.value.next) == ("paid", "7.a.b")
    assert [each.field for each in refused.value.violations] == ["amount"]
    assert "amount: must be a number" in str(refused.value)
    named = Problem(400, "invalid", "Why.", (FieldViolation("amount", "amount", "amount must be a number"),))
    assert str(named) == "HTTP 400 (invalid): Why. amount must be a number"
    restored = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - its own
    assert str(restored) == str(refused.value)
    assert len(raw.requests) == 1


def test_what_is_not_found_is_none(raw: RawGateway, client: Client) -> None:
    raw.answers(problem(404, "not_found", detail="There is no such checkout."), response(404, "<html>Welcome to nginx"))
    assert client.find_checkout("order 17/ы") is None
    assert b"GET /v1/checkouts?reference=order+17%2F%D1%8B HTTP" in raw.requests[0]
    # Another program's 404 says nothing about checkouts.
    with pytest.raises(BadResponse, match="Welcome to nginx"):
        client.find_checkout("order-17")
    # Neither does that of a path that the server does not know.
    raw.answers(problem(404, "not_found"))
    with pytest.raises(NotFound):
        client.find_checkout("order-17")


def test_failure_of_the_server_leaves_the_outcome_open(raw: RawGateway, client: Client) -> None:
    raw.answers(problem(500, "internal", detail="Why."))
    with pytest.raises(ServerUnavailable, match="answered HTTP 500: Why") as error:
        client.cancel("co_1")
    assert error.value.status == 500
    assert len(raw.requests) == 1


def test_lost_history_without_a_cursor_is_odd(raw: RawGateway, client: Client) -> None:
    raw.answers(problem(410, "history_gone"))
    with pytest.raises(BadResponse, match="next is missing"):
        next(client.events("9.a.b"))


def echo(connection: socket.socket) -> None:
    """What the peer answers with instead of HTTP: the request itself."""
    connection.sendall(f"Authorization: Bearer {KEY}\r\n\r\n".encode())


@pytest.mark.parametrize(
    ("answered", "error", "says"),
    [
        (echo, ServerUnavailable, "did not answer with HTTP"),
        (hang_up, ServerUnavailable, "closed the connection without a response"),
        (response(503, KEY), ServerUnavailable, "HTTP 503"),
        (response(200, KEY), BadResponse, "it is not JSON"),
        (answer({"id": KEY}), BadResponse, "reference is missing"),
        (response(302, KEY, f"Location: https://evil.example/{KEY}"), BadResponse, "redirects"),
        (problem(409, "not_open", detail=KEY), Conflict, "not_open"),
    ],
)
def test_no_frame_shows_the_key(raw: RawGateway, answered: Answer, error: type[ServerError], says: str) -> None:
    """As error trackers do: the local variables of every frame, printed."""
    raw.answers(answered)
    with Client(raw.url, KEY, timeout=PATIENCE) as client, pytest.raises(error, match=says) as caught:
        client.checkout("co_1")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert KEY not in "".join(shown.format())


def test_no_frame_of_an_interrupted_call_shows_the_key(
    raw: RawGateway, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr("kassa.server._http.Connection.left", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        client.checkout("co_1")
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert KEY not in "".join(shown.format())
    assert raw.requests == []


@pytest.mark.parametrize("make", [Client, AsyncClient])
@pytest.mark.parametrize("settings", [{"url": ""}, {"timeout": 0}, {"api_key": f"{KEY} "}])
def test_no_frame_of_a_wrong_setting_shows_the_key(make: type[Client], settings: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"url": "https://shop.kg", "api_key": KEY, **settings}
    with pytest.raises(ValueError, match="must") as caught:
        make(**arguments)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    # The first frame is the test's own.
    inner = "".join(str(frame.locals) for frame in shown.stack[1:])
    assert inner
    assert KEY not in inner


@pytest.mark.parametrize(
    ("answered", "says"),
    [
        (response(200, f"<html>{KEY} ct_abc whsec_abc= https://a.kg/pay/abc</html>"), "it is not JSON"),
        (response(200, "[" * 100_000), "it is not JSON"),
        (answer([]), "the response must be a JSON object"),
        (answer({"id": KEY}), "reference is missing"),
        (answer(OPEN | {"amount": 390}), "amount must be a string"),
        (answer(OPEN | {"amount": "NaN"}), "amount must be a decimal number"),
        (answer(OPEN | {"version": True}), "version must be an integer"),
        (answer(OPEN | {"expires_at_ms": 10**20}), "expires_at_ms is out of range"),
        (answer(OPEN | {"payments": [{"id": "pay_1"}]}), r"payments\[0\]\.number is missing"),
        (response(302, "", f"Location: https://evil.example/{KEY}"), r"redirects to 'https://evil.example/\*\*\*'"),
        (answer({"type": "about:blank", "title": "No"}, 404), "did not answer as kassa-server does"),
        (answer({"type": "urn:kassa:problem:invalid"}, 400), "did not answer as kassa-server does"),
    ],
)
def test_odd_answers_are_named(raw: RawGateway, client: Client, answered: Answer, says: str) -> None:
    raw.answers(answered)
    with pytest.raises(BadResponse, match=says) as error:
        client.checkout("co_1")
    assert len(error.value.text) <= 200
    assert len(raw.requests) == 1
    for secret in (KEY, "ct_abc", "whsec_abc", "pay/abc"):
        assert secret not in str(error.value)


def test_truncated_answer_is_repeated(raw: RawGateway, client: Client) -> None:
    raw.answers(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), answer(OPEN))
    assert client.checkout("co_1").id == OPEN["id"]


def drip(connection: socket.socket) -> None:
    """Sends a byte now and then: each of them comes in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
    never = threading.Event()
    with suppress(OSError):
        while not never.wait(0.02):
            connection.sendall(b" ")


@pytest.mark.parametrize("answered", [drip, silence])
def test_call_ends_in_time(raw: RawGateway, answered: Answer) -> None:
    raw.answers(answered)
    with (
        Client(raw.url, KEY, timeout=0.3) as client,
        pytest.raises(ServerUnavailable, match=r"did not answer within 0\.3 s"),
    ):
        client.checkout("co_1")


def keep_alive(count: int) -> Answer:
    """Answers a number of requests over one connection, and then closes it without a word."""

    def converse(connection: socket.socket) -> None:
        content = json.dumps(OPEN).encode()
        for number in range(count):
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
            if number < count - 1:
                read_request(connection)

    return converse


def test_connections_are_reused_and_renewed(raw: RawGateway, client: Client) -> None:
    raw.answers(keep_alive(3), keep_alive(1))
    for connections in (1, 1, 1, 2):
        client.checkout("co_1")
        assert len(raw.requests) == connections


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_makes_its_own_connection(raw: RawGateway, client: Client) -> None:
    raw.answers(keep_alive(2), keep_alive(1))
    client.checkout("co_1")
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            client.checkout("co_1")
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    client.checkout("co_1")
    assert len(raw.requests) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_async_client_goes_on(raw: RawGateway) -> None:
    raw.answers(answer(OPEN))
    client = AsyncClient(raw.url, KEY, timeout=PATIENCE)
    assert asyncio.run(client.checkout("co_1")).id == OPEN["id"]
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            asyncio.run(asyncio.wait_for(client.checkout("co_1"), PATIENCE / 2))
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    asyncio.run(client.close())


def test_time_counts_from_the_call(raw: RawGateway) -> None:
    """Not from the moment at which a thread is free."""

    async def use() -> None:
        raw.answers(silence)
        async with AsyncClient(raw.url, KEY, timeout=0.5, threads=1) as client:
            calls = [client.checkout("co_1") for _ in range(3)]
            outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 1.4)
        assert all(isinstance(each, ServerUnavailable) for each in outcomes)

    asyncio.run(use())


def test_many_threads_use_one_client(raw: RawGateway, client: Client) -> None:
    raw.answers(answer(OPEN))
    read: list[Checkout] = []
    threads = [threading.Thread(target=lambda: read.append(client.checkout("co_1"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 8


def test_history_is_followed(raw: RawGateway, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    data = {
        "checkout": "co_1",
        "reference": "order-17",
        "amount": "390",
        "currency": "KGS",
        "checkout_state": "paid",
        "version": 1,
        "number": 1,
    }
    event = {"id": "evt_1", "type": "checkout.paid", "timestamp_ms": 1, "data": data}
    first = answer({"events": [{"cursor": "1.a.b", "event": event}], "next": "1.a.b"})
    down = [problem(503, "unavailable")] * 8 + [problem(500, "internal"), response(500, "<html>")]
    second = answer({"events": [{"cursor": "2.a.b", "event": event}], "next": "2.a.b"})
    end = answer({"events": [], "next": "2.a.b"})
    raw.answers(first, *down, second, end)
    followed = client.events(follow=True, interval=0, limit=7)
    with caplog.at_level(logging.WARNING, "kassa"):
        assert [next(followed).cursor for _ in range(2)] == ["1.a.b", "2.a.b"]
    assert "answered HTTP 503" in caplog.text
    assert caplog.text.count("HTTP 500") == 2
    targets = [request.split()[1] for request in raw.requests]
    assert targets[:2] == [b"/v1/events?after=0&limit=7", b"/v1/events?after=1.a.b&limit=7"]
    assert [each.cursor for each in client.events("2.a.b")] == []
    client.close()
    assert list(followed) == []
    with pytest.raises(ServerError, match="closed"):
        next(client.events())


def test_close_ends_a_pause_of_the_history(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two attempts, and between two questions; at once."""
    monkeypatch.setattr("kassa.server._http.FIRST_PAUSE", PATIENCE)
    for answered in (problem(503, "unavailable"), answer({"events": [], "next": "0"})):
        raw.answers(answered)
        client = Client(raw.url, KEY, timeout=timedelta(hours=1))
        followed = client.events(follow=True, interval=PATIENCE)
        ended: list[EventAt] = []
        thread = threading.Thread(target=ended.extend, args=(followed,))
        thread.start()
        raw.received.acquire()
        client.close()
        thread.join(PATIENCE / 4)
        assert not thread.is_alive()


def test_close_wakes_async_followers(raw: RawGateway) -> None:
    async def use() -> None:
        raw.answers(answer({"events": [], "next": "0"}))
        client = AsyncClient(raw.url, KEY, timeout=PATIENCE)

        async def follow() -> list[object]:
            return [each async for each in client.events(follow=True, interval=PATIENCE)]

        task = asyncio.create_task(follow())
        await asyncio.to_thread(raw.received.acquire)
        # It has its answer, and sleeps, after a moment.
        await asyncio.sleep(0.1)
        await client.close()
        assert await asyncio.wait_for(task, PATIENCE / 4) == []

    asyncio.run(use())


def test_lost_history_names_the_cursor(raw: RawGateway, client: Client) -> None:
    raw.answers(problem(410, "history_gone", next="5.a.b"))
    with pytest.raises(HistoryGone, match=r"Read on from the cursor '5\.a\.b'") as error:
        next(client.events("9.a.b", follow=True))
    assert error.value.next == "5.a.b"


@pytest.mark.parametrize(
    ("url", "key", "says"),
    [
        ("", KEY, "url must begin with"),
        ("ftp://shop.kg", KEY, "url must begin with"),
        ("https://", KEY, "url must begin with"),
        ("https://shop.kg:99999", KEY, "url must be"),
        ("https://me:secret@shop.kg", KEY, "url must have no user name"),
        ("https://shop.kg/?a=b", KEY, "url must have no"),
        ("https://shop.kg/a b", KEY, "url must have no"),
        ("https://pay..shop.kg", KEY, "url must be the server's address"),
        ("https://shop.kg/v1", KEY, "without /v1 at its end"),
        ("https://shop.kg/pay/v1/", KEY, "without /v1 at its end"),
        ("http://shop.kg", KEY, "plain_http_hosts names"),
        ("http://127.0.0.1.shop.kg", KEY, "plain_http_hosts names"),
        ("https://shop.kg", "", "api_key must not be empty"),
        ("https://shop.kg", f"{KEY}\n", "no spaces, line breaks"),
        ("https://shop.kg", "ключ", "no spaces, line breaks"),
    ],
)
def test_wrong_settings_are_named(url: str, key: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        Client(url, key)
    for secret in ("secret", key.strip() or "secret"):
        assert secret not in str(error.value)


@pytest.mark.parametrize("url", ["http://localhost:8080", "http://[::1]", "http://Kassa", "https://shop.kg/pay/v10"])
def test_addresses_that_are_right(url: str) -> None:
    assert not Client(url, KEY, plain_http_hosts=("kassa",)).is_closed


def test_two_settings_of_tls_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="ca_file and ssl_context"):
        Client("https://shop.kg", KEY, ca_file="ca.pem", ssl_context=ssl.create_default_context())


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_timeout_is_a_time(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be more than 0 s"):
        Client("https://shop.kg", KEY, timeout=timeout)


def test_scheme_counts_in_any_case(raw: RawGateway) -> None:
    """What is written in capitals is not sent in the clear."""
    raw.answers(hang_up)
    url = raw.url.replace("http:", "HTTPS:")
    with Client(url, KEY, timeout=0.3) as client, pytest.raises(ServerUnavailable):
        client.checkout("co_1")
    assert KEY.encode() not in b"".join(raw.requests)
    assert repr(client) == f"Client({raw.url.replace('http:', 'https:')!r})"


def test_float_is_no_amount(client: Client) -> None:
    amount: Any = 0.1
    with pytest.raises(TypeError, match="amount is a Decimal, an int or a str, not float"):
        client.open_checkout("order-17", amount, "Honey", "https://shop.example.kg")


def test_environment_has_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KASSA_API_KEY", raising=False)
    monkeypatch.setenv("KASSA_SERVER_URL", "https://pay.shop.example.kg/")
    with pytest.raises(ValueError, match="KASSA_API_KEY is not set"):
        Client.from_environment()
    monkeypatch.setenv("KASSA_API_KEY", KEY)
    monkeypatch.setenv("KASSA_SERVER_URL", "http://kassa-server:8080")
    with pytest.raises(ValueError, match="plain_http_hosts"):
        Client.from_environment()
    monkeypatch.setenv("KASSA_PLAIN_HTTP_HOSTS", "other, kassa-server")
    assert repr(Client.from_environment()) == "Client('http://kassa-server:8080')"
    monkeypatch.setenv("KASSA_SERVER_URL", "https://pay.shop.example.kg/")
    client = Client.from_environment(timeout=5)
    assert repr(client) == "Client('https://pay.shop.example.kg')"
    assert repr(AsyncClient.from_environment()) == "AsyncClient('https://pay.shop.example.kg')"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(client)


def test_tls_trusts_a_file_of_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with RawGateway(context) as raw:
        raw.answers(answer(OPEN))
        with Client(raw.url, KEY, ca_file=tmp_path / "ca.pem") as client:
            assert client.checkout("co_1").id == OPEN["id"]
        resolved: list[object] = []
        resolve = socket.getaddrinfo

        def counted(*arguments: Any, **named: Any) -> list[Any]:
            resolved.append(arguments)
            # As of a host with several addresses.
            return resolve(*arguments, **named) + resolve(*arguments, **named)

        monkeypatch.setattr("kassa.server._http.socket.getaddrinfo", counted)
        with Client(raw.url, KEY) as client, pytest.raises(ServerUnavailable, match="certificate verify failed"):
            client.checkout("co_1")
    assert len(raw.requests) == len(resolved) == 1


def test_readmes_shop_runs(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    [program] = (block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "verify_event" in block)
    secret = f"whsec_{'A' * 32}"
    for name, value in (("SERVER_URL", raw.url), ("API_KEY", KEY), ("EVENTS_SECRET", secret)):
        monkeypatch.setenv(f"KASSA_{name}", value)
    delivered: list[str] = []
    shop: dict[str, Any] = {"deliver": delivered.append}
    exec(program, shop)  # noqa: S102
    raw.answers(answer(OPEN, 201))
    assert shop["buy"]("order-17") == OPEN["page_url"]
    assert json.loads(raw.requests[0].partition(b"\r\n\r\n")[2])["reference"] == "order-17"
    kinds = ["payment.charged", "checkout.paid", "of.a.newer.server"]
    for made in [sign_event(secret, kind, reference="order-17") for kind in kinds]:
        assert shop["take"](made.body, made.headers) == 204
    forged = sign_event(f"whsec_{'B' * 32}", reference="order-18")
    assert shop["take"](forged.body, forged.headers) == 401
    assert delivered == ["order-17"]


def test_async_calls_are_the_same(raw: RawGateway) -> None:
    async def use() -> None:
        async with AsyncClient(raw.url, KEY, timeout=PATIENCE) as client:
            raw.answers(answer(OPEN))
            opened = await client.open_checkout("order-17", 390, "Honey", "https://shop.example.kg")
            assert (opened, opened) == tuple(await asyncio.gather(client.checkout("co_1"), client.cancel("co_1")))
            raw.answers(answer({"events": [], "next": "0"}))
            assert [each async for each in client.events()] == []
            raw.answers(problem(409, "under_way"))
            with pytest.raises(Conflict):
                await client.cancel("co_1")

    asyncio.run(use())


def test_close_ends_calls_that_wait(raw: RawGateway) -> None:
    async def use() -> None:
        raw.answers(silence)
        client = AsyncClient(raw.url, KEY, timeout=timedelta(hours=1), threads=1)
        calls = [asyncio.create_task(client.checkout("co_1")) for _ in range(2)]
        await asyncio.to_thread(raw.received.acquire)
        await client.close()
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, ServerError)
        with pytest.raises(ServerError, match="closed"):
            await client.checkout("co_1")
        assert [each async for each in client.events(follow=True)] == []

    asyncio.run(use())


def test_cancelled_task_ends_its_request(raw: RawGateway) -> None:
    gone = threading.Event()

    def until_it_leaves(connection: socket.socket) -> None:
        silence(connection)
        gone.set()

    async def use() -> None:
        raw.answers(until_it_leaves)
        async with AsyncClient(raw.url, KEY, timeout=timedelta(days=1), threads=1) as client:
            task = asyncio.create_task(client.wait_for_change("co_1", 1, wait=60))
            await asyncio.to_thread(raw.received.acquire)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(gone.wait, PATIENCE)
            # Its thread is free again.
            raw.answers(answer(OPEN))
            await client.checkout("co_1")

    asyncio.run(use())
    assert len(raw.requests) == 2


def test_cancelled_task_ends_its_handshake() -> None:
    """With a peer that accepts the connection, and then says nothing."""
    begun, gone = threading.Event(), threading.Event()

    def accept(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while connection.recv(65536):
                begun.set()
        gone.set()

    async def use(port: int) -> None:
        async with AsyncClient(f"https://127.0.0.1:{port}", KEY, timeout=timedelta(days=1)) as client:
            task = asyncio.create_task(client.checkout("co_1"))
            assert await asyncio.to_thread(begun.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # Long before the handshake's own time is over.
            assert await asyncio.to_thread(gone.wait, PATIENCE)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        asyncio.run(use(listener.getsockname()[1]))


def test_native_library_is_not_loaded() -> None:
    program = (
        "import sys, kassa.server, kassa.server.testing as t; s = 'whsec_' + 'A' * 32; e = t.sign_event(s);"
        "kassa.server.verify_event(e.body, e.headers, s); kassa.server.Client('http://127.0.0.1', 'ak_1');"
        "sys.exit(any(name in sys.modules for name in ('kassa._core', 'kassa._native', 'ctypes')))"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE)
