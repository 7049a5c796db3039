"""The canonical JSON form of every public type."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, cast

import kassa

KINDS: dict[type, str] = {
    kassa.OpenConfirmation: "open_confirmation",
    kassa.CheckStatus: "check_status",
    kassa.QueryFailed: "query_failed",
    kassa.Wrong: "wrong",
    kassa.Unreadable: "unreadable",
}


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def canonical(value: Any) -> Any:  # noqa: C901 (one case a type)
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return value.value
        case Decimal():
            return {"$decimal": format(value, "f")}
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
        case tuple():
            return [canonical(item) for item in cast("Iterable[Any]", value)]
        case datetime():
            return _moment(value)
        case timedelta():
            return value // timedelta(milliseconds=1)
        case kassa.JournalEntry():
            return _journal_entry(value)
        case kassa.PaymentError():
            return _error(value)
        case kassa.Provider():
            return _PROVIDERS.get(value.name, {"kind": "other", "name": value.name})
        case kassa.PaymentStatus():
            return value.kind if value.word is None else {"kind": value.kind, "word": value.word}
        case kassa.Incomplete() | kassa.Complete():
            return type(value).__name__.lower()
        case kassa.QrCode():
            rows = ["".join("1" if dark else "0" for dark in row) for row in value.modules()]
            return {"size": len(rows), "rows": rows}
        case _:
            return _fields(value)


_PROVIDERS = {"Cards": "cards", "MegaPay": "mega_pay", "MBank": "mbank"}


def _fields(value: Any) -> Any:
    form = {field.name: canonical(getattr(value, field.name)) for field in dataclasses.fields(value)}
    match value:
        case kassa.Callback():
            form |= {"dedup_key": value.dedup_key(), "payment_ref": canonical(value.payment_ref())}
        case kassa.Charged() | kassa.Rejected() | kassa.Pending() | kassa.Mismatch() | kassa.Unverifiable():
            form["is_charged"] = value.is_charged
        case kassa.PaymentRef():
            form["is_claimed"] = value.is_claimed or None
            form["transaction_from_code"] = value.transaction_from_code or None
        case kassa.MegapayChecked():
            form["pin_lifetime_ms"] = form.pop("pin_lifetime")
        case _:
            pass
    return {"kind": KINDS[type(value)]} | form if type(value) in KINDS else form


def _journal_entry(entry: kassa.JournalEntry) -> Any:
    form = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
    begun = form.pop("begun") - EPOCH
    form["is_finished"] = entry.is_finished or None
    return {name: canonical(value) for name, value in form.items()} | {"begun_ms": begun // timedelta(milliseconds=1)}


def _moment(value: datetime) -> Any:
    assert value.tzinfo is None
    form = {name: getattr(value, name) for name in ("year", "month", "day", "hour", "minute", "second")}
    return form | {"nanosecond": value.microsecond * 1000}


def _error(error: kassa.PaymentError) -> Any:
    text = str(error)
    assert text == error.describe(), "one text, however it is requested"
    form: dict[str, Any] = {}
    for name, value in vars(error).items():
        if isinstance(value, timedelta):
            form[f"{name}_ms"] = value // timedelta(milliseconds=1)
        else:
            form[name] = canonical(value)
    return form | {
        "kind": type(error).__name__,
        "text": text,
        "payment_may_exist": error.payment_may_exist,
        "is_retryable": error.is_retryable,
    }
