"""Values: exact amounts or nothing, readable reprs, pickles, and types that are named when they are wrong."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, CREATED, OPEN, RawGateway, card, card_payment, mbank_payment, megapay_payment

import kassa
from kassa import checkout
from kassa._codec import member_name, tables
from kassa._core import method, native
from kassa.checkout import Checkout
from kassa.testing import FakeGateway, FakePayment

CALLBACK = {
    "orderNumber": "o-1",
    "amount": 100.1,
    "currency": "KGS",
    "status": "CHARGE",
    "dateCreated": "2026-11-20T09:05:07.123456789",
    "provider": "Cards",
}


def pay_form(amount: Any = 9) -> kassa.PayForm:
    return kassa.PayForm(amount=amount, service_name="Tea", callback_url="https://s.kg/c", return_url="https://s.kg/r")


@pytest.mark.parametrize("wrong", [1.0, 100.1, float("nan"), True, "100", None, b"1", [1]])
def test_only_exact_numbers_are_amounts(wrong: Any) -> None:
    def named(field: str) -> Any:
        return pytest.raises(TypeError, match=rf"^{field} must be ")

    with named("amount"):
        card_payment(amount=wrong)
    with named("amount_som"):
        mbank_payment(amount_som=wrong)
    for made in (pay_form, megapay_payment):
        with named("amount"):
            made(amount=wrong)
    anything: Any = wrong
    with named("amount"):
        kassa.PaymentRef.card("o-1", anything, "KGS")
    with named("amount"):
        kassa.PaymentRef.pay_form(anything)
    with named("amount"):
        kassa.PaymentRef.megapay("o-1", anything)
    with named("amount_som"):
        kassa.PaymentRef.mbank("o-1", anything)
    with named("som"):
        kassa.som_to_tyiyn(anything)
    with named("tyiyn"):
        kassa.tyiyn_to_som(anything)


@pytest.mark.parametrize("wrong", [1.0, True, "100", Decimal(1)])
def test_sum_in_tyiyn_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^sum_tyiyn must be an int"):
        kassa.QrPayment(sum_tyiyn=wrong)


def som_of(som: Any) -> list[int]:
    """An amount in whole som as it is read, given to each that takes one."""
    ref = kassa.PaymentRef.mbank("o-1", som)
    assert ref.amount is not None
    payment = mbank_payment(amount_som=som)
    assert type(payment.amount_som) is int
    assert payment.payment_ref().amount == ref.amount
    return [payment.amount_som, int(ref.amount)]


@pytest.mark.parametrize("digits", ["100", "100.00", "1E+2", "1000E-1", str(2**63 - 1)])
def test_whole_som_may_be_a_decimal(digits: str) -> None:
    assert som_of(Decimal(digits)) == som_of(int(Decimal(digits))) == [int(Decimal(digits))] * 2


@pytest.mark.parametrize(
    ("som", "rule"),
    [
        (Decimal("100.5"), "must be whole som, without tyiyn"),
        (Decimal("1E-1000000000"), "must be whole som, without tyiyn"),
        (Decimal("NaN"), "must be a finite number"),
        (Decimal("sNaN"), "must be a finite number"),
        (Decimal("-Infinity"), "must be a finite number"),
        (2**63, "must be at most 9223372036854775807 som"),
        (10**30, "must be at most 9223372036854775807 som"),
        # As an int it would fill the memory.
        (Decimal("1E+1000000000"), "must be at most 9223372036854775807 som"),
        (-(10**30), "must not be negative"),
    ],
)
def test_amount_that_is_no_whole_som_is_named(som: Any, rule: str) -> None:
    for made in (lambda: mbank_payment(amount_som=som), lambda: kassa.PaymentRef.mbank("o-1", som)):
        with pytest.raises(ValueError, match=f"^amount_som {rule}$"):
            made()


def test_tyiyn_are_no_decimals() -> None:
    made: tuple[tuple[str, Callable[[Any], object]], ...] = (
        ("sum_tyiyn", lambda tyiyn: kassa.QrPayment(sum_tyiyn=tyiyn)),
        ("sum_tyiyn", kassa.PaymentRef.qr),
        ("tyiyn", kassa.tyiyn_to_som),
    )
    five: Any = Decimal(5)
    for name, make in made:
        # Most likely it is an amount in som.
        with pytest.raises(TypeError, match=rf"^{name} must be an int, not Decimal: kassa\.som_to_tyiyn"):
            make(five)
        with pytest.raises(ValueError, match=f"^{name} must be at most 9223372036854775807 tyiyn$"):
            make(2**63)


@pytest.mark.parametrize("digits", ["100.10", "1", "1.000", "79228162514264337593543950335", "1E+2", "12E-1"])
def test_amounts_go_out_digit_for_digit(raw: RawGateway, digits: str) -> None:
    raw.answers(CREATED)
    with raw.gateway() as gateway:
        gateway.create_card_payment(card_payment(amount=Decimal(digits)))
    body = raw.requests[0].partition(b"\r\n\r\n")[2]
    sent = json.loads(body, parse_float=Decimal, parse_int=Decimal)["amount"]
    assert sent == Decimal(digits)
    assert format(sent, "f") == format(Decimal(digits), "f")


@pytest.mark.parametrize("digits", ["NaN", "Infinity", "-Infinity", "0." + "1" * 29, "1E+40", "0", "-5", "0.99"])
def test_amounts_that_cannot_be_sent_are_violations(raw: RawGateway, digits: str) -> None:
    with raw.gateway() as gateway, pytest.raises(kassa.Invalid, match="amount"):
        gateway.create_card_payment(card_payment(amount=Decimal(digits)))
    assert raw.requests == []


def test_conversions_refuse_to_round() -> None:
    assert kassa.som_to_tyiyn(Decimal("100.10")) == 10010
    assert kassa.som_to_tyiyn(7) == 700
    assert str(kassa.tyiyn_to_som(10010)) == "100.10"
    for digits in ("0.005", "NaN", "1E+30"):
        with pytest.raises(kassa.Invalid):
            kassa.som_to_tyiyn(Decimal(digits))


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(kassa.CardPayment)])
def test_wrong_type_names_its_field_and_not_its_value(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name} must be .*, not object$"):
        card_payment(**{name: object()})
    with pytest.raises(TypeError, match="pan must be a str, not int"):
        kassa.Card(4111111111111111, "01", 2030, "123", "A B")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^pan has half a surrogate") as caught:
        card(pan="4111\ud800")
    assert "4111" not in repr(caught.value)
    assert caught.value.__suppress_context__


def test_settings_name_what_is_wrong() -> None:
    credentials = kassa.Credentials("a", "b")
    wrong: dict[str, Any] = {
        "connect_timeout": "10",
        "payment_deadline": True,
        "query_deadline": True,
        "query_retries": True,
        "status_query": "json",
        "dialect": "{}",
        "extra_root_certificates": "PEM",
        "proxy": "http://proxy",
        "user_agent_suffix": 1,
        "check_luhn": 1,
        "plain_http_hosts": "sandbox",
    }
    for name, value in wrong.items():
        with pytest.raises(TypeError, match=name):
            kassa.Gateway("https://pay.example.kg", credentials, **{name: value})
    every_type: tuple[tuple[str, Any, str], ...] = (
        ("extra_root_certificates", [17], "each of extra_root_certificates must be a str"),
        ("proxy", 17, "proxy must be a kassa.Proxy or None"),
        ("dialect", 17, "dialect must be a kassa.Dialect or None"),
        ("journal", 17, "journal must be a kassa.Journal, a str or an os.PathLike"),
    )
    for name, value, rule in every_type:
        given: dict[str, Any] = {name: value}
        with pytest.raises(TypeError, match=f"^{rule}, not int$"):
            kassa.Gateway("https://pay.example.kg", credentials, **given)


def taken_as(name: str, value: Any) -> timedelta:
    """A time as it is read, given to each that takes one."""
    if name == "retry_after":
        after = kassa.Unavailable("HTTP 429", value).retry_after
        assert after is not None
        return after
    name, *of = name.split()
    if of == ["of", "a", "call"]:
        kassa.Gateway("https://pay.example.kg", kassa.Credentials("a", "b")).with_deadline(value)
        return value if isinstance(value, timedelta) else timedelta(seconds=value)
    if of == ["of", "a", "checkout"]:
        Checkout("http://127.0.0.1:1", "ct_1", **{name: value}).close()
        return value if isinstance(value, timedelta) else timedelta(seconds=value)
    if of:
        policy: Any = kassa.PollPolicy if of[-1] == "watch" else kassa.RecoveryPolicy
        read: timedelta = getattr(policy(**{name: value}), name)
        return read
    own: Any = kassa.Gateway("https://pay.example.kg", kassa.Credentials("a", "b"), **{name: value})
    known: timedelta = getattr(own._config, name)
    return known


TIMES = [
    "connect_timeout",
    "connect_timeout of a checkout",
    "payment_deadline",
    "query_deadline",
    "deadline of a call",
    "interval of a watch",
    "deadline of a watch",
    "interval of a recovery",
    "deadline of a recovery",
    "retry_after",
]


@pytest.mark.parametrize("name", TIMES)
def test_times_are_timedeltas_or_seconds(name: str) -> None:
    good: tuple[tuple[Any, timedelta], ...] = (
        (5, timedelta(seconds=5)),
        (2.5, timedelta(seconds=2, milliseconds=500)),
        (timedelta(minutes=1), timedelta(minutes=1)),
    )
    for value, expected in good:
        assert taken_as(name, value) == expected
    # The gateway may ask to come back at once; nothing can be done in no time.
    may_be_zero = name == "retry_after"
    types = "a datetime.timedelta" + (", a number of seconds or None" if may_be_zero else " or a number of seconds")
    too_short = "must not be negative" if may_be_zero else "must be longer than zero"
    bad: tuple[tuple[Any, type[Exception], str], ...] = (
        (True, TypeError, f"must be {types}, not bool"),
        ("5", TypeError, f"must be {types}, not str"),
        (Decimal(5), TypeError, f"must be {types}, not Decimal"),
        (-1, ValueError, too_short),
        (-1e-9, ValueError, too_short),
        (-1e300, ValueError, too_short),
        (timedelta(microseconds=-1), ValueError, too_short),
        *(() if may_be_zero else ((zero, ValueError, too_short) for zero in (0, 0.0, timedelta()))),
        (float("nan"), ValueError, "must be a finite number of seconds"),
        (float("inf"), ValueError, "must be a finite number of seconds"),
        (float("-inf"), ValueError, "must be a finite number of seconds"),
        (10**400, ValueError, "must be at most 999999999 days"),
        (1e300, ValueError, "must be at most 999999999 days"),
    )
    for value, kind, rule in bad:
        with pytest.raises(kind, match=f"^{name.split()[0]} {rule}$"):
            taken_as(name, value)


def test_watch_asks_as_often_as_seconds_say(raw: RawGateway) -> None:
    raw.answers(OPEN, CHARGED)
    with raw.gateway() as gateway:
        policy = kassa.PollPolicy(interval=0.01, deadline=PATIENCE)
        assert isinstance(gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy).outcome(), kassa.Charged)
        assert dataclasses.replace(policy, deadline=timedelta(seconds=1)) == kassa.PollPolicy(0.01, 1)


def test_defaults_are_the_cores() -> None:
    config = native.default_config("https://pay.example.kg", native.Credentials.basic("a", "b"))
    own: Any = kassa.Gateway("https://pay.example.kg", kassa.Credentials("a", "b"))
    for name in (
        "connect_timeout",
        "payment_deadline",
        "query_deadline",
        "query_retries",
        "status_query",
        "user_agent_suffix",
        "check_luhn",
    ):
        assert getattr(own._config, name) == getattr(config, name)
    assert list(own._config.plain_http_hosts) == list(config.plain_http_hosts) == []
    policy = native.default_poll_policy()
    assert (policy.interval, policy.deadline) == (kassa.PollPolicy().interval, kassa.PollPolicy().deadline)


def test_gateway_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dialect = tmp_path / "dialect.json"
    dialect.write_text('{"charged_words": ["PAID"]}')
    for name, value in {
        "KASSA_URL": "https://pay.example.kg",
        "KASSA_LOGIN": "shop",
        "KASSA_PASSWORD": "secret-of-the-tests",
        "KASSA_DIALECT": str(dialect),
        "KASSA_PROXY": "",
    }.items():
        monkeypatch.setenv(name, value)
    for kind in (kassa.Gateway, kassa.AsyncGateway):
        gateway: Any = kind.from_environment(query_retries=5, payment_deadline=90)
        assert repr(gateway) == f"{kind.__name__}('https://pay.example.kg')"
        assert (gateway._config.query_retries, gateway._config.payment_deadline) == (5, timedelta(seconds=90))
        assert json.loads(gateway._config.dialect.to_json())["charged_words"] == ["PAID"]
    monkeypatch.delenv("KASSA_LOGIN")
    monkeypatch.setenv("KASSA_PROXY", "secret-of-the-tests")
    with pytest.raises(kassa.Misconfigured, match=r"KASSA_LOGIN must be set; KASSA_PROXY must be") as caught:
        kassa.Gateway.from_environment()
    assert "secret-of-the-tests" not in repr(caught.value)


def test_another_deadline_is_the_same_gateway(raw: RawGateway) -> None:
    with raw.gateway() as gateway:
        patient = gateway.with_deadline(90).with_deadline(timedelta(minutes=2))
        assert repr(patient) == repr(gateway)
        patient.close()
        with pytest.raises(kassa.Misconfigured, match="closed"):
            gateway.qr_status("t-1")


def test_every_name_of_the_core_is_here() -> None:
    kinds = (kassa.Rule, kassa.AdviceTopic, kassa.PaymentKind, kassa.ElqrKind, kassa.QrLevel, kassa.StatusQueryForm)
    for kind in kinds:
        own: Any = kind
        assert [member.name for member in own] == [member_name(name) for name, _ in tables.ENUMS[kind.__name__]]
    for kind in (kassa.Rule, kassa.AdviceTopic, kassa.PaymentKind, kassa.ElqrKind):
        for member in kind:
            assert member.value == method(f"{kind.__name__}.as_text", member)


def test_reference_survives_its_text() -> None:
    refs = [
        kassa.PaymentRef.card("o-1", Decimal("100.10"), "USD").with_gateway_number("g & 1"),
        dataclasses.replace(kassa.PaymentRef.mbank("заказ 1", 250), confirm_identifier='"abc"'),
        kassa.PaymentRef.pay_form(300).with_claimed_number("o-1", kassa.Provider("ELSOM")),
        kassa.PaymentRef.pay_form(300),
        kassa.PaymentRef.qr(9990).with_transaction_id("t-1"),
        kassa.PaymentRef.qr(),
    ]
    for ref in refs:
        assert kassa.PaymentRef.parse(str(ref)) == ref
        assert ref in {ref}
    assert [ref.can_be_checked for ref in refs] == [True, True, True, False, True, False]
    assert [ref.is_claimed for ref in refs] == [False, False, True, False, False, False]
    assert str(refs[0]) == "kassa1:kind=card&order=o-1&gateway=g+%26+1&provider=Cards&amount=100.10&currency=USD"
    # As a file, a form or a column of fixed width gives it back.
    for padded in (f"{refs[0]}\n", f"  {refs[0]}\r\n", f"{refs[0]}".ljust(200)):
        assert kassa.PaymentRef.parse(padded) == refs[0]
    assert kassa.PaymentEntry.parse(f"{kassa.PaymentEntry(refs[0])}\n") == kassa.PaymentEntry(refs[0])
    for damaged, rule in (
        ("kassa9:kind=card", "must begin with kassa1:"),
        (str(refs[0])[:-4], "is not whole"),
        (f"{refs[0]}\u00a0", "white space or another character inside"),
        (f"{refs[0]} {refs[1]}", "white space or another character inside"),
    ):
        with pytest.raises(kassa.Invalid, match=rule):
            kassa.PaymentRef.parse(damaged)
    for amount in (Decimal("NaN"), Decimal("1E+40")):
        with pytest.raises(kassa.Invalid):
            kassa.PaymentRef.pay_form(amount)
        with pytest.raises(kassa.Invalid):
            str(kassa.PaymentRef(kassa.PaymentKind.QR, amount=amount))


@pytest.mark.parametrize("text", ["", "kassa1:kind=card", "kassa-entry1:payment=kassa1%3Akind%3Dcard&check=00000000"])
def test_entry_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(kassa.Invalid, match="paymentEntry"):
        kassa.PaymentEntry.parse(text)
    with pytest.raises(TypeError, match="payment must be a"):
        kassa.PaymentEntry(text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_providers_and_statuses_are_open_sets() -> None:
    assert kassa.Provider("mbank") == kassa.Provider.MBANK
    assert repr(kassa.Provider("MEGAPAY")) == "Provider.MEGA_PAY"
    assert repr(kassa.Provider("ELSOM")) == "Provider('ELSOM')"
    assert str(kassa.PaymentStatus.CHARGED) == "charged"
    assert str(kassa.PaymentStatus.other("charged")) == '"charged"'
    assert kassa.PaymentStatus.other("CHARGE") != kassa.PaymentStatus.CHARGED
    assert repr(kassa.PaymentStatus.other("HOLD")) == "PaymentStatus.other('HOLD')"
    assert not kassa.PaymentStatus.other("HOLD").is_final
    with pytest.raises(ValueError, match="other with a word"):
        kassa.PaymentStatus("other")


def test_callback_is_read_in_its_own_time_zone_which_is_none() -> None:
    callback = kassa.Callback.parse(json.dumps(CALLBACK).encode())
    assert callback.date_created == datetime(2026, 11, 20, 9, 5, 7, 123456)
    assert callback.date_created_text == "2026-11-20T09:05:07.123456789"
    assert callback.amount == Decimal("100.1")
    claimed = callback.payment_ref()
    assert claimed is not None
    assert (claimed.order_number, claimed.amount, claimed.is_claimed) == ("o-1", None, True)
    # Digits beyond Python's microseconds still tell two notifications apart.
    other = kassa.Callback.parse(json.dumps(CALLBACK | {"dateCreated": "2026-11-20T09:05:07.123456788"}))
    assert callback.dedup_key() != other.dedup_key()
    again = kassa.Callback.parse(json.dumps(CALLBACK | {"amount": "100.10"}))
    assert callback.dedup_key() == again.dedup_key()
    changed = dataclasses.replace(callback, amount=Decimal(7))
    assert changed.dedup_key() != callback.dedup_key()


def test_callback_needs_an_order_number_and_no_more() -> None:
    callback = kassa.Callback.parse("OrderNumber=order-1&amount=100,10")
    assert (callback.order_number, callback.amount) == ("order-1", Decimal("100.10"))
    assert callback.missing == ("status", "dateCreated", "provider")
    assert callback.dedup_key() is None


@pytest.mark.parametrize("body", ["", "{}", "[]", b"\xff", json.dumps(CALLBACK | {"orderNumber": None})])
def test_callback_that_cannot_be_read_is_a_violation(body: str | bytes) -> None:
    with pytest.raises(kassa.Invalid):
        kassa.Callback.parse(body)


@pytest.mark.parametrize("body", [{}, None, 1, ["{}"]])
def test_body_that_a_framework_has_parsed_is_no_body(body: Any) -> None:
    with pytest.raises(TypeError, match="body must be a str or bytes, the raw body of the request, not "):
        kassa.Callback.parse(body)


def test_advice_blocks_nothing() -> None:
    payment = card_payment(order_number="№ 1", card=kassa.Card("4111111111111112", "01", 2020, "123", "A B"))
    topics = {advice.topic for advice in payment.advice()}
    assert topics == {
        kassa.AdviceTopic.ORDER_NUMBER_CHARACTERS,
        kassa.AdviceTopic.CARD_NUMBER_MISTYPED,
        kassa.AdviceTopic.CARD_EXPIRED,
    }
    assert mbank_payment().advice() == ()
    assert pay_form(amount=4).advice()[0].topic is kassa.AdviceTopic.MEGA_PAY_MINIMUM


def test_dialects_are_compared_by_what_they_say() -> None:
    dialect = kassa.Dialect.from_json('{"charged_words": ["PAID"]}')
    assert dialect == kassa.Dialect.from_json(dialect.to_json()) != kassa.Dialect()
    assert pickle.loads(pickle.dumps(dialect)) == dialect  # noqa: S301
    with pytest.raises(kassa.Invalid):
        kassa.Dialect.from_json('{"colour": 1}')
    named = kassa.Dialect.named("finipay")
    assert pickle.loads(pickle.dumps(named)) == named  # noqa: S301
    shown = [repr(known) for known in (kassa.Dialect(), named, dialect)]
    assert shown == ["Dialect()", "Dialect.named('finipay')", "Dialect.from_json(...)"]
    with pytest.raises(TypeError):
        kassa.Dialect.named(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_qr_code_is_drawn_in_every_form() -> None:
    code = kassa.QrCode("https://pay.example.kg/q/17", kassa.QrLevel.HIGH)
    assert len(code.modules()) == len(code.modules()[0])
    assert code.png().startswith(b"\x89PNG")
    assert "<svg" in code.svg()
    assert "█" in code.text()
    assert pickle.loads(pickle.dumps(code)).modules() == code.modules()  # noqa: S301
    assert kassa.QrCode.encode("tea").modules() != code.modules()
    with pytest.raises(kassa.Invalid):
        kassa.QrCode("")
    with pytest.raises(kassa.Invalid):
        code.png(7)


def an_elqr_code(**fields: Any) -> kassa.Elqr:
    given: dict[str, Any] = {"kind": kassa.ElqrKind.STATIC, "provider": "qr.example.kg", "payee": "Кафе", "mcc": "5812"}
    return kassa.Elqr(**given | fields)


def test_elqr_code_is_read_as_it_was_written() -> None:
    table = kassa.ElqrField("35.00", "table:Стол:7:Стол:11")
    lists: Any = [table]
    for code in (
        an_elqr_code(service_code="02", fields=(table,), recipient="996700000001", recipient_editable=False),
        an_elqr_code(merchant_id="34077", merchant_service="Заказ", fields=lists, amount_tyiyn=0, link=""),
    ):
        assert kassa.Elqr.parse(code.text()) == code
        assert code in {code}
    wrong: dict[str, Any] = {
        "kind": "static",
        "provider": None,
        "amount_tyiyn": 5.0,
        "amount_editable": "11",
        "fields": ("35.00",),
        "comment": b"Tea",
        "checksum_ok": None,
    }
    for name, value in wrong.items():
        with pytest.raises(TypeError, match=rf"^{name} must be "):
            an_elqr_code(**{name: value})


def test_order_numbers_never_repeat() -> None:
    numbers = [kassa.new_order_number() for _ in range(1000)]
    assert len(set(numbers)) == 1000


REF = kassa.PaymentRef.card("o-1", Decimal("100.10"), "KGS")
VALUES = [
    REF,
    kassa.PaymentEntry(REF, qr_text="000201"),
    kassa.Provider.MEGA_PAY,
    kassa.PaymentStatus.other("HOLD"),
    kassa.StatusReport(kassa.PaymentStatus.CHARGED, amount=Decimal("1.10")),
    kassa.Callback.parse(json.dumps(CALLBACK)),
    kassa.Callback.parse("orderNumber=o-1"),
    kassa.OpenConfirmation("https://pay.example.kg/3ds"),
    kassa.Charged(REF, kassa.StatusReport(kassa.PaymentStatus.CHARGED), ("orderNumber",)),
    kassa.Rejected(REF, kassa.StatusReport(kassa.PaymentStatus.REJECTED)),
    kassa.Pending(REF, kassa.StatusReport(kassa.PaymentStatus.other("HOLD"))),
    kassa.Mismatch(REF, ("amount",), kassa.StatusReport(kassa.PaymentStatus.CHARGED)),
    kassa.Unverifiable(REF, "the payment has no number to query by"),
    kassa.JournalEntry(
        "o-1-0123", REF, datetime(2026, 11, 20, tzinfo=timezone.utc), kassa.JournalState.REJECTED, reason="NO FUNDS"
    ),
    kassa.PollPolicy(),
    kassa.RecoveryPolicy(follow_new=True),
    kassa.Rule.LUHN,
    an_elqr_code(fields=(kassa.ElqrField("35.00", "table:Стол:7:Стол:11"),)),
    kassa.BankLink("ELQR", "https://pay.payqr.kg/#0002"),
    mbank_payment(),
    megapay_payment(),
    pay_form(),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_plain_values_are_frozen_pickled_and_shown(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301
    assert copy.deepcopy(value) == value
    assert type(value).__name__ in repr(value)
    assert type(value).__module__ == "kassa"
    if dataclasses.is_dataclass(value) and dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, dataclasses.fields(value)[0].name, None)


def classes_in(hint: Any) -> Iterator[type[Any]]:
    """Those of a hint that are values."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


def told_by_a_gateway() -> set[type[Any]]:
    """What its methods answer, its watches report and its journal recovers."""
    methods = inspect.getmembers(kassa.Gateway, inspect.isfunction)
    answers = [typing.get_type_hints(method).get("return") for name, method in methods if not name.startswith("_")]
    return {kind for hint in (*answers, kassa.WatchReport, kassa.Recovered) for kind in classes_in(hint)}


PAID_OR_NOT: set[type[Any]] = {
    *told_by_a_gateway(),
    *classes_in(checkout.CheckoutState),
    kassa.PaymentStatus,
    kassa.Callback,
    kassa.ReturnRedirect,
    FakePayment,
}


def name_of(kind: type[Any]) -> str:
    return kind.__name__


TAKEN_FOR_PAID: list[type[Any]] = sorted(PAID_OR_NOT, key=name_of)

PLAINLY: list[Callable[[Any], object]] = [
    bool,
    lambda value: not value,
    lambda value: value or None,
    lambda value: any([value]),
]


@pytest.mark.parametrize("plainly", PLAINLY)
@pytest.mark.parametrize("kind", TAKEN_FOR_PAID, ids=name_of)
def test_what_could_be_taken_for_paid_is_neither_true_nor_false(
    kind: type[Any], plainly: Callable[[Any], object]
) -> None:
    value = object.__new__(kind)  # as it is: the question must not depend on what it says
    with pytest.raises(TypeError, match=rf"^{kind.__name__} has no truth value: use "):
        plainly(value)


def kept_or_shipped(gateway: kassa.Gateway, callback: kassa.Callback, payment: kassa.PaymentRef) -> str:
    """A handler of callbacks, as nobody must write it."""
    return "shipped" if gateway.verify_callback(callback, payment) else "kept"  # pyright: ignore[reportGeneralTypeIssues]


def test_verdict_truthiness_raises_type_error() -> None:
    fake = FakeGateway()
    created = fake.gateway.create_mbank_payment(mbank_payment(order_number="order-1"))
    callback = kassa.Callback.parse(fake.reject("order-1").callback)
    with pytest.raises(TypeError, match=r"^Rejected has no truth value: use verdict\.is_charged"):
        kept_or_shipped(fake.gateway, callback, created.payment)
    with pytest.raises(TypeError, match=r"^JournalState has no truth value"):
        bool(kassa.JournalState.CHARGED)


def test_name_that_is_asked_for_brings_what_it_answers_with() -> None:
    """Each in a program that has asked for nothing else."""
    refused = "try:\n    {}\nexcept kassa.Invalid as error:\n    assert error.violations"
    for use in (
        "assert kassa.normalized_phone('0700 00-00-01') == '996700000001'",
        "assert kassa.Provider('mbank') is not None and kassa.Language.from_tag('ru-KG') is kassa.Language.RUSSIAN",
        "assert kassa.Callback.parse('orderNumber=1').order_number == '1'",
        refused.format("kassa.som_to_tyiyn(Decimal('0.001')); raise SystemExit(1)"),
        refused.format("kassa.PaymentEntry.parse('x'); raise SystemExit(1)"),
        refused.format("kassa.Elqr.parse('x'); raise SystemExit(1)"),
        refused.format("kassa.QrCode(''); raise SystemExit(1)"),
        refused.format("kassa.Dialect.named('x'); raise SystemExit(1)"),
    ):
        program = f"import kassa\nfrom decimal import Decimal\n{use}"
        subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE)
