"""Planted secrets, searched for in everything that can be printed, raised, logged or stored."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import io
import json
import pickle
import re
import socket
import traceback
from collections.abc import Callable
from typing import Any

import cattrs
import msgspec
import pydantic
import pytest
from pydantic_core import PydanticSerializationError
from raw_gateway import CREDENTIALS, RawGateway, card, card_payment, envelope, mbank_payment, megapay_payment, response

import kassa
from kassa import _core  # pyright: ignore[reportPrivateUsage]
from kassa.server import AsyncClient, Client, ServerError

PAN = "4929123456781234"
CVC = "987"
OTP = "314159"
PASSWORD = "the-password-of-the-tests"
PROXY = "http://me:proxy-password@proxy.example:3128"
SECRETS = (PAN, "4929 1234 5678 1234", f'"{CVC}"', f"'{CVC}'", PASSWORD, "proxy-password")


def assert_clean(text: str) -> None:
    for secret in SECRETS:
        assert secret not in text
    # As a word: addresses and numbers that are made up have any digits in them.
    assert not re.search(rf"\b{OTP}\b", text)


SECRETIVE: list[Callable[[], Any]] = [
    lambda: card(PAN, CVC),
    lambda: kassa.CardInput().with_number(PAN).with_cvc(CVC).with_expiry("08/31"),
    lambda: CREDENTIALS,
    lambda: kassa.Proxy.url(PROXY),
    lambda: kassa.Proxy.environment(),
    lambda: kassa.CallbackKey(PASSWORD + PASSWORD),
    lambda: card_payment(card=card(PAN, CVC)),
    lambda: kassa.Gateway("https://pay.example.kg", CREDENTIALS, proxy=kassa.Proxy.url(PROXY)),
    lambda: kassa.AsyncGateway("https://pay.example.kg", CREDENTIALS),
    lambda: Client("https://pay.example.kg", PASSWORD),
    lambda: AsyncClient("https://pay.example.kg", PASSWORD),
]


@pytest.mark.parametrize("make", SECRETIVE)
def test_secret_is_neither_shown_nor_pickled(make: Callable[[], Any]) -> None:
    value = make()
    for text in (repr(value), str(value), f"{value}", f"{value!r:>10}", repr(getattr(value, "__dict__", ""))):
        assert_clean(text)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.Pickler(io.BytesIO(), protocol).dump(value)


@dataclasses.dataclass
class Unguarded:
    """What every way out shows."""

    pan: str


def adapter_of(value: object) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(type(value))


def in_a_model(value: object) -> pydantic.BaseModel:
    """In one that was told to take types that pydantic does not know, as its own error proposes."""
    takes_all = pydantic.ConfigDict(arbitrary_types_allowed=True)
    return pydantic.create_model("Model", __config__=takes_all, field=(type(value), ...))(field=value)


WAYS_OUT: dict[str, Callable[[Any], Any]] = {
    "pydantic": lambda value: adapter_of(value).dump_python(value),
    "pydantic JSON": lambda value: adapter_of(value).dump_json(value),
    "pydantic Any": lambda value: pydantic.TypeAdapter[Any](Any).dump_python(value),
    "pydantic Any JSON": lambda value: pydantic.TypeAdapter[Any](Any).dump_json(value),
    "pydantic model": lambda value: in_a_model(value).model_dump(),
    "pydantic model JSON": lambda value: in_a_model(value).model_dump_json(),
    "pydantic model JSON str": lambda value: in_a_model(value).model_dump_json(fallback=str),
    "msgspec": msgspec.to_builtins,
    "msgspec JSON": msgspec.json.encode,
    "msgspec JSON str": lambda value: msgspec.json.encode(value, enc_hook=str),
    "cattrs": cattrs.unstructure,
    "dataclasses": dataclasses.asdict,
    "copy": copy.deepcopy,
    "vars": vars,
    "JSON vars": lambda value: json.dumps(value, default=vars),
    "JSON str": lambda value: json.dumps(value, default=str),
    "JSON dataclasses": lambda value: json.dumps(value, default=dataclasses.asdict),
}


def what_leaves(way_out: Callable[[Any], Any], value: object) -> str:
    """What is written, or what is said about why it is not."""
    try:
        written = way_out(value)
    except (TypeError, pydantic.PydanticUserError, PydanticSerializationError) as refusal:
        return "".join(traceback.format_exception(refusal))
    return written.decode() if isinstance(written, bytes) else str(written)


@pytest.mark.parametrize("way_out", WAYS_OUT.values(), ids=WAYS_OUT)
@pytest.mark.parametrize("make", SECRETIVE)
def test_no_tool_that_reads_values_finds_a_secret(way_out: Callable[[Any], Any], make: Callable[[], Any]) -> None:
    """Each refuses, or writes the mask."""
    assert PAN in what_leaves(way_out, Unguarded(PAN))
    assert_clean(what_leaves(way_out, make()))


def test_secret_cannot_be_changed_and_its_copy_is_itself() -> None:
    secret = card(PAN, CVC)
    assert repr(secret) == "Card(**** 1234)"
    assert copy.copy(secret) is copy.deepcopy(secret) is secret
    with pytest.raises(AttributeError):
        secret.pan = "1"
    with pytest.raises(TypeError):
        kassa.Proxy()


def test_card_form_shows_no_digit_at_all() -> None:
    """A log of every keystroke's last four would be the whole number."""
    form = (
        kassa.CardInput()
        .with_number("4111111111111111")
        .with_expiry("08/31")
        .with_cvc(CVC)
        .with_holder_name("Aibek Usenov")
    )
    assert repr(form) == str(form) == "CardInput(***)"
    assert repr(form.as_of(2026, 11).card()) == "Card(**** 1111)"
    gateway = kassa.Gateway("https://pay.example.kg", CREDENTIALS)
    with pytest.raises(TypeError):
        copy.copy(gateway)


@pytest.mark.parametrize("status", [200, 400, 401, 409, 500])
def test_what_a_gateway_echoes_is_masked(raw: RawGateway, status: int) -> None:
    raw.answers(
        envelope(
            status, "51", f"no money on {PAN}", {"pan": PAN, "cvc": CVC, "password": PASSWORD, "orderNumber": "o-1"}
        )
    )
    with raw.gateway() as gateway, pytest.raises(kassa.PaymentError) as caught:
        gateway.create_card_payment(card_payment(card=card(PAN, CVC)))
    assert_clean_error(caught.value)
    raw.answers(envelope(status, "51", "wrong", {"otp": OTP, "pinCode": OTP}))
    dialect = kassa.Dialect.from_json('{"megapay": {"check_method": "POST"}}')
    confirmations: list[Callable[[kassa.Gateway], object]] = [
        lambda gateway: gateway.confirm_mbank_payment(kassa.PaymentRef.mbank("o-1", 250), OTP),
        lambda gateway: gateway.pay_by_megapay(megapay_payment(), OTP),
    ]
    for confirm in confirmations:
        with raw.gateway(dialect=dialect) as gateway:
            try:
                assert_clean(repr(confirm(gateway)))
            except kassa.PaymentError as error:
                assert_clean_error(error)


def assert_clean_error(error: kassa.PaymentError) -> None:
    assert_clean(str(error))
    assert_clean(repr(error))
    assert_clean(pickle.dumps(error, 0).decode("latin-1"))
    assert_clean("".join(traceback.format_exception(type(error), error, error.__traceback__)))


def test_answer_that_echoes_is_masked(raw: RawGateway) -> None:
    raw.answers(envelope(200, "110", "CREATED", {"status": "Success", "pan": PAN, "cvc": CVC, "name": PASSWORD}))
    with raw.gateway() as gateway:
        created = gateway.create_card_payment(card_payment(card=card(PAN, CVC)))
    assert_clean(repr(created))
    assert_clean(pickle.dumps(created, 0).decode("latin-1"))


def test_no_frame_of_the_package_shows_a_secret(raw: RawGateway) -> None:
    """As error trackers do: the local variables of every frame, printed."""
    raw.answers(response(500, "oops"))
    payment, bank = card_payment(card=card(PAN, CVC)), mbank_payment()
    with raw.gateway() as gateway:
        for call in (lambda: gateway.create_card_payment(payment), lambda: gateway.create_mbank_payment(bank)):
            with pytest.raises(kassa.OutcomeUnknown) as caught:
                call()
            shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
            assert_clean("".join(shown.format()))
    # The client of kassa-server.
    with Client(raw.url, PASSWORD) as client:
        for answer in (response(401, PASSWORD), response(200, PASSWORD), echo):
            raw.answers(answer)
            with pytest.raises(ServerError) as refused:
                client.resolve_payment("pay_1", "charged", reason="seen", by="Aida")
            shown = traceback.TracebackException.from_exception(refused.value, capture_locals=True)
            assert_clean("".join(shown.format()))


def echo(connection: socket.socket) -> None:
    """No HTTP, but the key."""
    connection.sendall(f"Authorization: Bearer {PASSWORD}\r\n\r\n".encode())


def test_output_stays_empty(raw: RawGateway, capfd: pytest.CaptureFixture[str]) -> None:
    raw.answers(response(500, "oops"))
    with raw.gateway() as gateway, pytest.raises(kassa.OutcomeUnknown):
        gateway.create_card_payment(card_payment(card=card(PAN, CVC)))
    assert capfd.readouterr() == ("", "")


def test_unwritable_text_takes_no_share_of_a_card(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of the card that the core never gets would hold its number for as long as the program runs."""
    shares: list[int] = []
    clone = _core.native.Card._clone

    def counted(*arguments: Any) -> int:
        shares.append(clone(*arguments))
        return shares[-1]

    monkeypatch.setattr(_core.native.Card, "_clone", staticmethod(counted))
    payment = card_payment()
    # No program can do it by the names of the package: a request cannot be changed, and checks its texts when it is made.
    object.__setattr__(payment, "ip", "\ud800")
    with raw.gateway() as gateway, pytest.raises(UnicodeEncodeError):
        gateway.create_card_payment(payment)
    assert shares == []
    assert not raw.requests


def test_failed_conversion_frees_other_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    freed: list[bytes] = []
    given, free = _core._given, _core._free  # pyright: ignore[reportPrivateUsage]

    def recorded_given(content: bytes) -> Any:
        made.append(given(content))
        return made[-1]

    def recorded_free(buffer: Any, status: Any) -> None:
        freed.append(ctypes.string_at(buffer.data, buffer.len))
        free(buffer, status)

    monkeypatch.setattr(_core, "_given", recorded_given)
    monkeypatch.setattr(_core, "_free", recorded_free)
    with pytest.raises(TypeError):
        _core.native.Card(PAN, "08", "2031", CVC, "Aibek Usenov")
    assert len(made) == 2
    assert freed == [bytes(len(PAN)), bytes(2)], "wiped, and freed"
