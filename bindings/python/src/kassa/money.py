"""Amounts in som and in tyiyn, order numbers, and phone numbers."""

from decimal import Decimal

from . import _check
from ._core import native


def som_to_tyiyn(som: Decimal | int) -> int:
    """Converts an amount in som to whole tyiyn. It never rounds.

    Raises `kassa.Invalid` for an amount with a fraction of a tyiyn, or one that is too large.

    >>> som_to_tyiyn(Decimal("100.10"))
    10010
    """
    tyiyn: int = native.som_to_tyiyn(_check.amount("som", som))
    return tyiyn


def tyiyn_to_som(tyiyn: int) -> Decimal:
    """Converts whole tyiyn to som.

    >>> tyiyn_to_som(10010)
    Decimal('100.10')
    """
    som: Decimal = native.tyiyn_to_som(_check.whole_tyiyn("tyiyn", tyiyn))
    return som


def new_order_number() -> str:
    """A new unique order number of 32 hexadecimal characters (0-9 and a-f).

    It begins with the time, so order numbers sort by creation time.
    """
    number: str = native.new_order_number()
    return number


def normalized_phone(typed: str) -> str | None:
    """A phone number as sent to the gateway; `None` if the text is not a phone number or is ambiguous.

    `typed` is the text that a person typed, pasted or autofilled. Show the result in the form, so that the payer notices a
    mistake before the one-time password goes to somebody else. A number of Kyrgyzstan becomes ``996XXXXXXXXX``; a foreign
    number of 11 to 15 digits is reduced to its digits.

    >>> normalized_phone("0700 00-00-01")
    '996700000001'
    """
    phone: str | None = native.normalized_phone(_check.text("typed", typed))
    return phone
