"""The test cards and test phones: the only payers that the sandbox accepts, each with a fixed outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Outcome: TypeAlias = Literal["approved", "declined", "insufficient funds", "stuck pending", "error"]
"""The outcome of a test payer's payment. "error" returns HTTP 500 to the request, and ends rejected."""
ThreeDs: TypeAlias = Literal["3DS 2.0", "3DS 1.0", "without 3DS"]
"""The cardholder check of a card."""


@dataclass(frozen=True, slots=True)
class TestCard:
    """A test card. It accepts any CVC of three characters and any expiry later than today."""

    __test__: ClassVar[bool] = False  # pytest takes every class of this name for tests

    pan: str
    """The card number."""
    three_ds: ThreeDs
    """The cardholder check."""
    outcome: Outcome
    """How its payment ends."""
    otp: str | None
    """The correct one-time password; None for a card without 3DS."""


@dataclass(frozen=True, slots=True)
class TestPhone:
    """A test phone."""

    __test__: ClassVar[bool] = False  # pytest takes every class of this name for tests

    phone: str
    """The number, with country code."""
    provider: Literal["MBank", "MegaPay"]
    """The provider of the wallet."""
    outcome: Outcome
    """How its payment ends."""
    otp: str
    """The correct one-time password."""
