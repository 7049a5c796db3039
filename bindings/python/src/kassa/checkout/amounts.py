"""Amounts formatted for people."""

from __future__ import annotations

from decimal import Decimal

from .. import _check
from .._core import native
from ..violations import Language


def amount_text(amount: Decimal | int, currency: str, language: Language) -> str:
    """An amount with its currency, formatted for people: no decimals or at least two, with no-break spaces.

    Raises `kassa.Invalid` for a number of more than 28 digits.

    >>> amount_text(Decimal("1390.5"), "KGS", Language.RUSSIAN).replace("\\u00a0", " ")
    '1 390,50 сом'
    """
    _check.text("currency", currency)
    _check.instance("language", language, Language)
    text: str = native.amount_text(_check.amount("amount", amount), currency, language)
    return text


def pay_text(amount: Decimal | int, currency: str, language: Language) -> str:
    """The text of the pay button, with the amount. Until the amount is known, use ``pay`` of the labels.

    Raises `kassa.Invalid` for a number of more than 28 digits.

    >>> pay_text(390, "KGS", Language.ENGLISH).replace("\\u00a0", " ")
    'Pay 390 som'
    """
    _check.text("currency", currency)
    _check.instance("language", language, Language)
    text: str = native.pay_text(_check.amount("amount", amount), currency, language)
    return text
