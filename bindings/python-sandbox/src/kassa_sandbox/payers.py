"""The test cards and test phones: the only payers that the sandbox knows, and how each of their payments ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Outcome: TypeAlias = Literal["approved", "declined", "insufficient funds", "stuck pending", "error"]
"""How a test payer's payment ends. "error" answers HTTP 500 to the request, and ends rejected."""
ThreeDs: TypeAlias = Literal["3DS 2.0", "3DS 1.0", "without 3DS"]
"""The check that a card takes part in."""


@dataclass(frozen=True, slots=True)
class TestCard:
    """A test card. Any CVC of three characters and any expiry later than today go with it."""

    __test__: ClassVar[bool] = False  # pytest takes every class of this name for tests

    pan: str
    """The card number."""
    three_ds: ThreeDs
    """The check it takes part in."""
    outcome: Outcome
    """How its payment ends."""
    otp: str | None
    """The right one-time password; None for a card without 3DS."""


@dataclass(frozen=True, slots=True)
class TestPhone:
    """A test phone."""

    __test__: ClassVar[bool] = False  # pytest takes every class of this name for tests

    phone: str
    """The number, with country code."""
    provider: Literal["MBank", "MegaPay"]
    """Whose wallet it is."""
    outcome: Outcome
    """How its payment ends."""
    otp: str
    """The right one-time password."""
