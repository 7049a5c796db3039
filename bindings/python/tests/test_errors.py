"""Every error: when it comes, what it says about the money, what it holds."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import (
    CHARGED,
    OPEN,
    Answer,
    RawGateway,
    card_payment,
    closed_port,
    envelope,
    hang_up,
    mbank_payment,
    response,
    silence,
)

import kassa
from kassa._calls import PROVIDER_STATUS
from kassa._core import raise_error

REPORT = kassa.StatusReport(kassa.PaymentStatus.other("HOLD"), raw="{}")

EVERY_ERROR = [
    kassa.Invalid((kassa.Violation("pan", kassa.Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits"),)),
    kassa.Misconfigured("base_url is not a URL"),
    kassa.Misconfigured("HTTP 404", 404, None, "<html>"),
    kassa.Unauthorized("HTTP 403", 403, "E", "{}"),
    kassa.Unavailable("HTTP 429", timedelta(seconds=7), 429, "L", "{}"),
    kassa.Refused(402, "51", "no money", "{}"),
    kassa.OutcomeUnknown(kassa.PaymentRef.card("o-1", 100, "KGS"), "reset", 500, "5", "who knows", "{}"),
    kassa.Unexpected("no status", 200, "0", "{}"),
    kassa.DeadlineExpired(REPORT),
    kassa.DeadlineExpired(),
]


def card_call(gateway: kassa.Gateway) -> object:
    return gateway.create_card_payment(card_payment())


def mbank_call(gateway: kassa.Gateway) -> object:
    return gateway.create_mbank_payment(mbank_payment())


def confirm_call(gateway: kassa.Gateway) -> object:
    return gateway.confirm_mbank_payment(kassa.PaymentRef.mbank("o-1", 250), "123456")


def form_call(gateway: kassa.Gateway) -> object:
    form = kassa.PayForm(amount=9, service_name="Tea", callback_url="https://s.kg/c", return_url="https://s.kg/r")
    return gateway.create_pay_form(form)


def query_call(gateway: kassa.Gateway) -> object:
    return gateway.provider_status("o-1", kassa.Provider.MBANK)


@pytest.mark.parametrize(
    ("call", "answer", "error"),
    [
        (card_call, hang_up, kassa.OutcomeUnknown),
        (card_call, silence, kassa.OutcomeUnknown),
        (card_call, response(500, "oops"), kassa.OutcomeUnknown),
        (card_call, response(302, "", "location: https://elsewhere.example/"), kassa.OutcomeUnknown),
        (card_call, response(409, "{}"), kassa.OutcomeUnknown),
        (card_call, envelope(200, "999", "what"), kassa.OutcomeUnknown),
        (mbank_call, response(200, "not json"), kassa.OutcomeUnknown),
        (confirm_call, hang_up, kassa.OutcomeUnknown),
        (card_call, envelope(400, "51", "no money"), kassa.Refused),
        (card_call, response(401, ""), kassa.Unauthorized),
        (card_call, response(404, "nothing here"), kassa.Misconfigured),
        (card_call, response(429, "", "retry-after: 7"), kassa.Unavailable),
        (form_call, response(500, ""), kassa.Unavailable),
        (form_call, response(200, "{}"), kassa.Unexpected),
        (query_call, response(503, ""), kassa.Unavailable),
        (query_call, envelope(200, "200"), kassa.Unexpected),
    ],
)
def test_what_comes_back_decides(
    raw: RawGateway, call: Callable[[kassa.Gateway], object], answer: Answer, error: type[kassa.PaymentError]
) -> None:
    raw.answers(answer)
    # With a silent gateway the call lasts until its deadline. The request must be sent before that.
    deadline = timedelta(seconds=PATIENCE / 30 if answer is silence else PATIENCE)
    with (
        raw.gateway(payment_deadline=deadline, query_deadline=deadline, query_retries=0) as gateway,
        pytest.raises(error) as caught,
    ):
        call(gateway)
    assert caught.value.payment_may_exist == (error is kassa.OutcomeUnknown)
    assert caught.value.is_retryable == (error is kassa.Unavailable)
    assert len(raw.requests) == 1, "sent once"


def test_nothing_is_sent_where_rules_are_broken(raw: RawGateway) -> None:
    with raw.gateway() as gateway, pytest.raises(kassa.Invalid) as caught:
        gateway.create_card_payment(card_payment(currency="som", ip="here", description=" "))
    fields = [(violation.field, violation.rule) for violation in caught.value.violations]
    assert ("ip", kassa.Rule.IP_ADDRESS) in fields
    assert ("description", kassa.Rule.REQUIRED) in fields
    assert raw.requests == []


def test_nobody_listening_is_unavailable() -> None:
    with kassa.Gateway(closed_port(), kassa.Credentials("a", "b"), query_retries=0) as gateway:
        for call in (card_call, mbank_call, confirm_call, form_call, query_call):
            with pytest.raises(kassa.Unavailable):
                call(gateway)


def test_reference_in_the_error_finds_the_payment(raw: RawGateway) -> None:
    raw.answers(hang_up, CHARGED)
    payment = mbank_payment(order_number="o-1")
    with raw.gateway() as gateway:
        try:
            gateway.create_mbank_payment(payment)
        except kassa.OutcomeUnknown as error:
            assert error.payment == payment.payment_ref()
            assert isinstance(gateway.watch(error.payment).outcome(), kassa.Charged)
        else:
            pytest.fail("no verdict came")


def test_watch_expires_and_says_what_it_saw(raw: RawGateway) -> None:
    raw.answers(OPEN)
    # Long enough for a first answer on any machine.
    policy = kassa.PollPolicy(timedelta(milliseconds=20), timedelta(seconds=PATIENCE / 30))
    with raw.gateway() as gateway:
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy)
        seen: list[kassa.WatchReport] = []
        with pytest.raises(kassa.DeadlineExpired) as caught:
            seen.extend(watch)
        assert caught.value.last is not None
        assert caught.value.last.status == kassa.PaymentStatus.other("HOLD")
        with pytest.raises(kassa.DeadlineExpired):
            watch.outcome()


def test_failed_query_is_reported_and_ends_nothing(raw: RawGateway) -> None:
    raw.answers(response(500, ""), envelope(400, "404", "not found"), CHARGED)
    with raw.gateway() as gateway:
        policy = kassa.PollPolicy(timedelta(milliseconds=10))
        first, second, third = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy)
    assert isinstance(first, kassa.QueryFailed)
    assert isinstance(first.error, kassa.Unavailable)
    assert isinstance(second, kassa.QueryFailed)
    assert isinstance(second.error, kassa.Refused)
    assert isinstance(third, kassa.Charged)


def test_watch_stops_where_asking_on_is_useless(raw: RawGateway) -> None:
    raw.answers(response(401, ""))

    async def watch() -> None:
        async with raw.async_gateway() as gateway:
            policy = kassa.PollPolicy(timedelta(milliseconds=10), timedelta(seconds=PATIENCE))
            with pytest.raises(kassa.Unauthorized):
                await gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy).outcome()

    asyncio.run(watch())
    with raw.gateway() as gateway, pytest.raises(kassa.Invalid):
        gateway.watch(kassa.PaymentRef.qr())


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: type(error).__name__)
def test_error_survives_pickle_and_copy(error: kassa.PaymentError) -> None:
    error.add_note("seen at the till") if hasattr(error, "add_note") else None
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert type(again) is type(error)
        assert again.__dict__ == error.__dict__
        assert again.args == (str(again),) == (str(error),)
        assert repr(again) == repr(error)


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: type(error).__name__)
def test_error_says_what_happened(error: kassa.PaymentError) -> None:
    assert str(error) == error.describe()
    assert error.kind == type(error).__name__
    assert str(error).endswith(".")
    assert repr(error).startswith(type(error).__name__ + "(")
    assert type(error).__module__ == "kassa"


def through_celery(error: Exception) -> Exception:
    """As Celery's JSON results carry an exception: by the name of its class, and its ``args``."""
    kind = type(error)
    written = {"exc_type": kind.__qualname__, "exc_message": error.args, "exc_module": kind.__module__}
    read = json.loads(json.dumps(written))
    own = getattr(sys.modules[read["exc_module"]], read["exc_type"])
    again: Exception = own(*read["exc_message"])
    return again


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: type(error).__name__)
def test_error_is_made_again_by_its_text(error: kassa.PaymentError) -> None:
    once = through_celery(error)
    for again in (once, through_celery(once), pickle.loads(pickle.dumps(once)), copy.deepcopy(once)):  # noqa: S301
        assert isinstance(again, kassa.PaymentError)
        assert (type(again), str(again), again.args) == (type(error), str(error), error.args)
        for name in ("kind", "payment_may_exist", "is_retryable"):
            assert getattr(again, name) == getattr(error, name), name
        assert (again.http_status, again.code, again.body) == (None, None, None)
        assert repr(again) == f"{type(error).__name__}({str(error)!r})"
        # With it the payment is found, wherever the error has come.
        assert getattr(again, "payment", None) == getattr(error, "payment", None)
        assert getattr(error, "detail", "") in getattr(again, "detail", "")
    assert str(through_celery(kassa.InternalError("a panic"))) == str(kassa.InternalError("a panic"))


def test_text_of_another_program_is_an_error_all_the_same() -> None:
    kind: Any
    for kind in {type(error) for error in EVERY_ERROR}:
        for text in ("", "51", "The outcome of order-1 is unknown", "half a letter \ud800"):
            if kind in (kassa.Misconfigured, kassa.Unauthorized, kassa.Unavailable, kassa.Unexpected):
                # That is how such an error is made: with what is wrong.
                if text.isascii():
                    assert kind(text).detail == text
                continue
            error = kind(text)
            assert (str(error), error.kind) == (text, kind.__name__)
            assert not hasattr(error, "payment")
            assert error.payment_may_exist == (kind is kassa.OutcomeUnknown)


MBANK = kassa.PaymentRef.mbank("o-1", 250)
WRONG: list[tuple[type, tuple[Any, ...], str]] = [
    (kassa.Invalid, (kassa.Violation("pan", kassa.Rule.LUHN, None, "pan is wrong"),), "violations"),
    (kassa.Invalid, (("pan",),), "violations"),
    (kassa.Misconfigured, (404,), "detail"),
    (kassa.Misconfigured, ("HTTP 404", "404"), "http_status"),
    (kassa.Misconfigured, ("HTTP 404", 404, 1), "code"),
    (kassa.Misconfigured, ("HTTP 404", 404, None, b"<html>"), "body"),
    (kassa.Unauthorized, ("HTTP 403", None), "http_status"),
    (kassa.Unavailable, ("HTTP 429", "7"), "retry_after"),
    (kassa.Refused, ("402", "51"), "http_status"),
    (kassa.Refused, (402, 51), "code"),
    (kassa.Refused, (402, "51", ["no money"]), "reason"),
    (kassa.Refused, (402, "51", None, None), "body"),
    (kassa.OutcomeUnknown, ("order-1", "reset"), "payment"),
    (kassa.OutcomeUnknown, (MBANK, None), "detail"),
    (kassa.Unexpected, ("no status", True), "http_status"),
    (kassa.DeadlineExpired, (kassa.PaymentStatus.CHARGED,), "last"),
    (kassa.QueryFailed, ("HTTP 500",), "error"),
    (kassa.Violation, ("pan", "luhn", None, "pan is wrong"), "rule"),
    (kassa.Advice, ("pan", kassa.AdviceTopic.CARD_EXPIRED, None), "text"),
    (kassa.StatusReport, ("CHARGE",), "status"),
    (kassa.Charged, (MBANK, {}, ()), "report"),
    (kassa.Mismatch, (MBANK, "amount"), "fields"),
    (kassa.InternalError, (None,), "detail"),
]


@pytest.mark.parametrize(("kind", "given", "field"), WRONG)
def test_field_of_a_wrong_type_is_named(kind: Any, given: tuple[Any, ...], field: str) -> None:
    with pytest.raises(TypeError, match=rf"^(each of )?{field} must be "):
        kind(*given)


class OutOfStock(kassa.PaymentError):
    """A kind of a shop's own, of which Kassa knows nothing."""


class OverTheLimit(kassa.Refused):
    """A kind of a shop's own, made from what it has."""

    def __init__(self, limit: int) -> None:
        super().__init__(402, "51")
        self.limit = limit

    def __str__(self) -> str:
        return f"over {self.limit}"


def test_errors_of_a_users_own_say_what_they_are() -> None:
    missing = OutOfStock("no tea")
    assert (str(missing), missing.args, missing.kind) == ("no tea", ("no tea",), "PaymentError")
    # Nothing is known of the money.
    assert missing.payment_may_exist
    assert not missing.is_retryable
    limited = OverTheLimit(100)
    assert (str(limited), limited.kind, limited.http_status) == ("over 100", "Refused", 402)
    assert not limited.payment_may_exist
    for error in (missing, limited):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


def test_defect_says_that_it_says_nothing_about_the_money() -> None:
    error = kassa.InternalError("a panic")
    assert "A defect in Kassa: a panic." in str(error)
    assert "watch the payment, never send it again" in str(error)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (again.detail, str(again)) == ("a panic", str(error))
    with pytest.raises(kassa.InternalError, match="nothing about the money"):
        raise_error(2, b"a panic")


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\0\0\1" + b"\xff" * 40, b"\0\0\0\x63"])
@pytest.mark.parametrize("code", [0, 1])
def test_value_that_cannot_be_read_is_a_defect(code: int, value: bytes) -> None:
    with pytest.raises(kassa.InternalError, match="cannot be read as"):
        PROVIDER_STATUS.answer((code, value))


def test_errors_match_by_their_fields() -> None:
    match kassa.Refused(402, "51", "no money"):
        case kassa.Refused("51", http_status=402):
            pass
        case _:
            pytest.fail("it is that one")


def test_base_is_not_an_error_by_itself() -> None:
    anything: Any = kassa.PaymentError
    with pytest.raises(TypeError):
        anything()


@pytest.mark.parametrize("url", ["", "pay.example.kg", "http://pay.example.kg", "https://me:secret@pay.example.kg"])
def test_base_url_that_cannot_work_is_named(url: str) -> None:
    with pytest.raises(kassa.Misconfigured, match="base_url") as caught:
        kassa.Gateway(url, kassa.Credentials("a", "b"))
    assert "secret" not in str(caught.value)
