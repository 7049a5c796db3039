"""Reads what browsers send."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from urllib.parse import parse_qsl

import kassa
from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 64 * 1024
"""More than any form or callback has."""

LABELS = {
    "pan": ("pan", "Card number"),
    "expiryMonth": ("expiry", "Expiry date"),
    "expiryYear": ("expiry", "Expiry date"),
    "cvc": ("cvc", "Security code"),
    "name": ("name", "Name on the card"),
    "phone": ("phone", "Phone number"),
}
"""The fields as the gateway's interface calls them: the form's field, and what people call it."""


async def read_body(request: Request) -> bytes:
    """A body, up to the limit."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413)
    return body


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form, without the blanks around them."""
    try:
        fields = parse_qsl((await read_body(request)).decode(), max_num_fields=50)
    except ValueError:
        raise HTTPException(400) from None
    return {name: text.strip() for name, text in fields}


def read_card(form: dict[str, str]) -> kassa.Card:
    """A card as the payer typed it. Whether it is right, the request says that carries it."""
    month, year = read_expiry(form.get("expiry", ""))
    return kassa.Card(form.get("pan", ""), month, year, form.get("cvc", ""), form.get("name", ""))


def read_expiry(text: str) -> tuple[str, int]:
    """``8/31`` or ``08 / 2031`` as a month and a year; what is not like that, as a date that breaks the rules."""
    found = re.fullmatch(r"(\d{1,2})\s*[/.\- ]\s*(\d{2}|\d{4})", text, re.ASCII)
    if not found:
        return "", 0
    year = int(found[2])
    return found[1].zfill(2), year if year > 99 else date.today().year // 100 * 100 + year


def complaints(violations: Iterable[kassa.Violation]) -> dict[str, str]:
    """What to tell the payer, one sentence a field of the form."""
    told: dict[str, str] = {}
    for violation in violations:
        if violation.field in LABELS:
            field, label = LABELS[violation.field]
            told.setdefault(field, label + violation.text.removeprefix(violation.field))
    return told
