"""Type hints at run time: tools that read them (pydantic, msgspec, cattrs) understand every public name."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pydantic
import pytest
from cattrs.preconf.json import make_converter

import kassa

PUBLIC = [name for name in kassa.__all__ if not name.startswith("_")]


def functions_of(public: type) -> Iterator[Any]:
    """The class's own methods and those of its bases in this package, whatever they are wrapped in."""
    for kind in public.__mro__:
        if not kind.__module__.startswith("kassa"):
            continue
        for member in vars(kind).values():
            if isinstance(member, property):
                yield member.fget
            elif hasattr(member, "__func__"):
                yield member.__func__
            elif inspect.isfunction(member):
                yield member


@pytest.mark.parametrize("name", PUBLIC)
def test_every_hint_can_be_resolved(name: str) -> None:
    public = getattr(kassa, name)
    if isinstance(public, types.UnionType):
        for member in typing.get_args(public):
            typing.get_type_hints(member)
    elif not isinstance(public, int):
        typing.get_type_hints(public)
        inspect.signature(public, eval_str=True)
    if inspect.isclass(public):
        for function in functions_of(public):
            typing.get_type_hints(function)
    if dataclasses.is_dataclass(public):
        # Some tools look no further than this.
        assert [field.name for field in dataclasses.fields(public) if isinstance(field.type, str)] == []


REF = kassa.PaymentRef.pay_form("o-1", kassa.Provider("ELSOM")).with_gateway_number("g-1")
REPORT = kassa.StatusReport(kassa.PaymentStatus.other("HOLD"), order_number="o-1", amount=Decimal("100.10"), raw="{}")
CALLBACK = kassa.Callback(
    order_number="o-1",
    amount=Decimal("100.10"),
    currency="KGS",
    status=kassa.PaymentStatus.CHARGED,
    date_created=datetime(2026, 11, 20, 9, 5, 7),
    date_created_text="2026-11-20T09:05:07",
    requisite=None,
    provider=kassa.Provider.CARDS,
    raw="{}",
)
VALUES = [
    REF,
    REPORT,
    CALLBACK,
    kassa.PollPolicy(2.5),
    kassa.ExpectedPayment(REF, Decimal("100.10"), "KGS"),
    kassa.MbankPayment(order_number="o-1", phone="996700000001", amount_som=250, comment="Tea"),
    kassa.Violation("pan", kassa.Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_pydantic_writes_values_as_json_and_reads_them(value: object) -> None:
    adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(type(value))
    assert adapter.validate_json(adapter.dump_json(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_msgspec_writes_values_as_json_and_reads_them(value: object) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_cattrs_writes_values_and_reads_them() -> None:
    converter = make_converter()
    for value in (REF, kassa.Violation("pan", kassa.Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits")):
        assert converter.loads(converter.dumps(value), type(value)) == value


class Order(pydantic.BaseModel):
    """As a shop might store it."""

    payment: kassa.PaymentRef
    provider: kassa.Provider = kassa.Provider.MBANK
    report: kassa.StatusReport | None = None
    outcome: kassa.WatchOutcome | None = None
    verdict: kassa.CallbackVerdict | None = None
    next_step: kassa.NextStep | None = None
    policy: kassa.PollPolicy = kassa.PollPolicy()


def test_values_are_fields_of_a_pydantic_model() -> None:
    order = Order.model_validate({"payment": {"kind": "card", "order_number": "o-1"}, "policy": {"interval": 5}})
    assert order.payment == kassa.PaymentRef(kassa.PaymentKind.CARD, "o-1")
    assert order.policy.interval == timedelta(seconds=5)
    with pytest.raises(pydantic.ValidationError, match="deadline must not be negative"):
        Order.model_validate({"payment": REF, "policy": {"deadline": -1}})
    with pytest.raises(pydantic.ValidationError, match="kind"):
        Order.model_validate({"payment": {"kind": "cash"}})


def a_report(status: kassa.PaymentStatus) -> kassa.StatusReport:
    return kassa.StatusReport(status, order_number="o-1", amount=Decimal(5))


@pytest.mark.parametrize(
    "field",
    [
        {"outcome": kassa.Charged(a_report(kassa.PaymentStatus.CHARGED))},
        {"outcome": kassa.Rejected(a_report(kassa.PaymentStatus.REJECTED))},
        {"outcome": kassa.Cancelled()},
        {"verdict": kassa.Confirmed(a_report(kassa.PaymentStatus.CHARGED))},
        {"verdict": kassa.Confirmed(a_report(kassa.PaymentStatus.REJECTED))},
        {"verdict": kassa.Pending(a_report(kassa.PaymentStatus.other("HOLD")))},
        {"verdict": kassa.Contradicted(("amount",), a_report(kassa.PaymentStatus.CHARGED))},
        {"verdict": kassa.Contradicted(("amount",), None)},
        {"verdict": kassa.Unverifiable()},
        {"next_step": kassa.OpenConfirmation("https://pay.example.kg/3ds")},
        {"next_step": kassa.AskStatus("Success")},
    ],
    ids=lambda field: repr(next(iter(field.values())))[:40],
)
def test_no_verdict_that_was_stored_is_read_as_another(field: dict[str, Any]) -> None:
    """JSON does not say which of several it was. A rejected payment that is read as charged would be shipped."""
    order = Order(payment=REF, **field)
    assert Order.model_validate_json(order.model_dump_json()) == order


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (kassa.Charged, kassa.PaymentStatus.REJECTED),
        (kassa.Charged, kassa.PaymentStatus.other("CHARGE")),
        (kassa.Rejected, kassa.PaymentStatus.CHARGED),
        (kassa.Confirmed, kassa.PaymentStatus.other("HOLD")),
        (kassa.Pending, kassa.PaymentStatus.CHARGED),
    ],
)
def test_no_verdict_contradicts_its_own_report(kind: Any, status: kassa.PaymentStatus) -> None:
    with pytest.raises(ValueError, match=kind.__name__):
        kind(a_report(status))
