"""Type hints at run time: tools that read them (pydantic, msgspec, cattrs) understand every public name."""

from __future__ import annotations

import dataclasses
import inspect
import os
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest
from cattrs.preconf.json import JsonConverter, make_converter
from conformance.patience import PATIENCE

import kassa
import kassa.checkout
import kassa.server
import kassa.server.testing
import kassa.testing

PUBLIC = {
    name if module is not kassa.server else f"server.{name}": getattr(module, name)
    for module in (kassa, kassa.checkout, kassa.testing, kassa.server, kassa.server.testing)
    for name in module.__all__
    if not name.startswith("_")
}


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
    public = PUBLIC[name]
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


def test_every_public_name_is_typed(tmp_path: Path) -> None:
    """What is not annotated is inferred, and each type checker infers something else."""
    # With this option it does not listen to --pythonpath, and takes the first Python that it finds.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    verified = subprocess.run(
        [sys.executable, "-m", "pyright", "--verifytypes", "kassa", "--ignoreexternal"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Type completeness score: 100%" in verified.stdout, verified.stdout + verified.stderr


# What is made by another object, with what it is made by.
MADE_BY_ANOTHER = {
    "StatusWatch": "gateway.watch",
    "AsyncStatusWatch": "gateway.watch",
    "Recovery": "gateway.recover",
    "AsyncRecovery": "gateway.recover",
    "CheckoutStates": "checkout.states",
    "AsyncCheckoutStates": "checkout.states",
}


@pytest.mark.parametrize("name", MADE_BY_ANOTHER)
def test_what_another_object_makes_says_so(name: str) -> None:
    for arguments in ((), (object(),), (object(), REF)):
        with pytest.raises(TypeError, match=rf"{name} is made by {MADE_BY_ANOTHER[name]}\("):
            PUBLIC[name](*arguments)


@pytest.mark.parametrize("name", [name for name, public in PUBLIC.items() if inspect.isclass(public)])
def test_no_signature_shows_the_generated_code(name: str) -> None:
    signature = inspect.signature(PUBLIC[name], eval_str=True)
    for parameter in signature.parameters.values():
        assert parameter.annotation is not Any, parameter
        assert not parameter.name.startswith(("native", "core")), parameter


REF = (
    kassa.PaymentRef.pay_form(Decimal("100.10"))
    .with_claimed_number("o-1", kassa.Provider("ELSOM"))
    .with_gateway_number("g-1")
)
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
HINT = dataclasses.replace(CALLBACK, amount=None, status=None, date_created=None, missing=("amount", "status"))
VALUES = [
    REF,
    kassa.PaymentEntry(REF, page_url="https://pay.example.kg/3ds"),
    kassa.JournalEntry(
        "order-1-6f1e",
        REF,
        datetime(2026, 11, 20, 9, 5, 7, 8000, timezone.utc),
        kassa.JournalState.REJECTED,
        is_finished=True,
        reason="NO FUNDS",
        code="110",
    ),
    kassa.Unreadable("order-2-8a1b", "is torn"),
    REPORT,
    CALLBACK,
    HINT,
    kassa.PollPolicy(2.5),
    kassa.RecoveryPolicy(2.5, at_once=2, follow_new=True),
    kassa.PaymentRef.pay_form(Decimal("100.10")).with_entry_id("cart-1"),
    kassa.MbankPayment(order_number="o-1", phone="996700000001", amount_som=250, comment="Tea"),
    kassa.MegapayPayment(order_number="o-1", amount=Decimal("250.50"), phone="996700000001", account="7"),
    kassa.PaymentRef.megapay("o-1", Decimal("250.50")),
    kassa.Violation("pan", kassa.Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits"),
    kassa.Elqr(
        kind=kassa.ElqrKind.DYNAMIC,
        provider="qr.example.kg",
        mcc="5812",
        amount_tyiyn=39_000,
        payee="SHOP",
        fields=(kassa.ElqrField("35.00", "table:Table:7:Table:11"),),
    ),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_pydantic_writes_values_as_json_and_reads_them(value: object) -> None:
    adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(type(value))
    assert adapter.validate_json(adapter.dump_json(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_msgspec_writes_values_as_json_and_reads_them(value: object) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_callback_that_an_earlier_version_wrote_is_read() -> None:
    adapter = pydantic.TypeAdapter(kassa.Callback)
    written = adapter.dump_python(CALLBACK, mode="json")
    assert written.pop("missing") == []
    assert adapter.validate_python(written) == CALLBACK


def a_converter() -> JsonConverter:
    """One that knows exact amounts, of which cattrs knows nothing by itself."""
    converter = make_converter()
    converter.register_unstructure_hook(Decimal, str)
    converter.register_structure_hook(Decimal, lambda text, _: Decimal(text))
    return converter


def test_cattrs_writes_values_and_reads_them() -> None:
    converter = a_converter()
    for value in (REF, kassa.Violation("pan", kassa.Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits")):
        assert converter.loads(converter.dumps(value), type(value)) == value


class Order(pydantic.BaseModel):
    """As a shop might store it."""

    payment: kassa.PaymentRef
    provider: kassa.Provider = kassa.Provider.MBANK
    report: kassa.StatusReport | None = None
    verdict: kassa.Verdict | None = None
    next_step: kassa.NextStep | None = None
    policy: kassa.PollPolicy = kassa.PollPolicy()


def test_values_are_fields_of_a_pydantic_model() -> None:
    order = Order.model_validate({"payment": {"kind": "card", "order_number": "o-1"}, "policy": {"interval": 5}})
    assert order.payment == kassa.PaymentRef(kassa.PaymentKind.CARD, "o-1")
    assert not order.payment.is_claimed
    assert order.policy.interval == timedelta(seconds=5)
    with pytest.raises(pydantic.ValidationError, match="deadline must be longer than zero"):
        Order.model_validate({"payment": REF, "policy": {"deadline": -1}})
    with pytest.raises(pydantic.ValidationError, match="kind"):
        Order.model_validate({"payment": {"kind": "cash"}})


def a_report(status: kassa.PaymentStatus) -> kassa.StatusReport:
    return kassa.StatusReport(status, order_number="o-1", amount=Decimal(5))


SAYS_CHARGED = a_report(kassa.PaymentStatus.CHARGED)
SAYS_REJECTED = a_report(kassa.PaymentStatus.REJECTED)
SAYS_OPEN = a_report(kassa.PaymentStatus.other("HOLD"))
VERDICTS: list[kassa.Verdict] = [
    kassa.Charged(REF, SAYS_CHARGED, ("amount",)),
    kassa.Rejected(REF, SAYS_REJECTED),
    kassa.Pending(REF, SAYS_OPEN),
    *(kassa.Mismatch(REF, ("amount",), report) for report in (SAYS_CHARGED, SAYS_REJECTED, SAYS_OPEN, None)),
    *(kassa.Unverifiable(REF, "no amount", report) for report in (SAYS_CHARGED, SAYS_REJECTED, SAYS_OPEN, None)),
]


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: repr(verdict)[:60])
def test_no_verdict_that_was_stored_is_read_as_another(verdict: kassa.Verdict) -> None:
    """JSON does not say which of several it was. A rejected payment that is read as charged would be shipped."""
    order = Order(payment=REF, verdict=verdict)
    assert Order.model_validate_json(order.model_dump_json()) == order
    assert a_converter().loads(a_converter().dumps(verdict), kassa.Verdict) == verdict  # type: ignore[arg-type]
    stored = pydantic.TypeAdapter(kassa.Verdict).dump_python(verdict, mode="json")
    for kind in typing.get_args(kassa.Verdict):
        if kind is not type(verdict):
            with pytest.raises(pydantic.ValidationError):
                pydantic.TypeAdapter[Any](kind).validate_python(stored)


@pytest.mark.parametrize("step", [kassa.OpenConfirmation("https://pay.example.kg/3ds"), kassa.CheckStatus("Success")])
def test_next_step_that_was_stored_is_read_as_it_was(step: kassa.NextStep) -> None:
    order = Order(payment=REF, next_step=step)
    assert Order.model_validate_json(order.model_dump_json()) == order


def test_what_is_unfinished_is_read_as_it_was() -> None:
    unfinished = [value for value in VALUES if isinstance(value, kassa.JournalEntry | kassa.Unreadable)]
    adapter: pydantic.TypeAdapter[list[kassa.Unfinished]] = pydantic.TypeAdapter(list[kassa.Unfinished])
    assert adapter.validate_json(adapter.dump_json(unfinished)) == unfinished


@pytest.mark.parametrize("status", [kassa.PaymentStatus.REJECTED, kassa.PaymentStatus.other("CHARGE")])
def test_no_verdict_contradicts_its_own_report(status: kassa.PaymentStatus) -> None:
    with pytest.raises(ValueError, match="Charged has another status"):
        kassa.Charged(REF, a_report(status), ())
    with pytest.raises(ValueError, match="Rejected has another status"):
        kassa.Rejected(REF, SAYS_CHARGED)
    with pytest.raises(ValueError, match="Pending has another status"):
        kassa.Pending(REF, SAYS_CHARGED)
    with pytest.raises(ValueError, match="the kind of Unverifiable is unverifiable"):
        kassa.Unverifiable(REF, "no amount", kind="charged")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
