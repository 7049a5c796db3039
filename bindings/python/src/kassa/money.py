"""Amounts in som and in tyiyn, order numbers, and phone numbers."""

from decimal import Decimal

from . import _check
from ._calls import call
from ._generated import native


def som_to_tyiyn(som: Decimal | int) -> int:
    """An amount in som as a whole number of tyiyn. It refuses to round.

    Raises `kassa.Invalid` for an amount with a part of a tyiyn, or one that does not fit.

    >>> som_to_tyiyn(Decimal("100.10"))
    10010
    """
    tyiyn: int = call(native.som_to_tyiyn, _check.amount("som", som))
    return tyiyn


def tyiyn_to_som(tyiyn: int) -> Decimal:
    """A whole number of tyiyn in som.

    >>> tyiyn_to_som(10010)
    Decimal('100.10')
    """
    som: Decimal = call(native.tyiyn_to_som, _check.whole_tyiyn("tyiyn", tyiyn))
    return som


def new_order_number() -> str:
    """A new order number that no other call will ever return, 32 of the characters 0-9 and a-f.

    It begins with the time, so that order numbers sort by when they were made.
    """
    number: str = native.new_order_number()
    return number


def normalized_phone(typed: str) -> str | None:
    """A phone number as it is sent to the gateway; `None` where it is none, or where it is not certain which one is meant.

    `typed` is what a person typed, pasted or had filled in. A form that shows the number lets the payer see a mistake before
    the one-time password goes to somebody else. A number of Kyrgyzstan becomes ``996XXXXXXXXX``; one of another country, of
    11 to 15 digits, stays as its digits.

    >>> normalized_phone("0700 00-00-01")
    '996700000001'
    """
    phone: str | None = call(native.normalized_phone, _check.text("typed", typed))
    return phone
