# Generated from sandbox/data/test_data.json. Change that, and then:
# cargo test -p kassa-conformance --test tables -- --generate
"""The test cards, by name. Those whose name says nothing else take part in 3DS 2.0.

>>> from kassa_sandbox import cards
>>> cards.APPROVED.pan
'4111111111111111'
"""

from __future__ import annotations

from .payers import TestCard

APPROVED = TestCard("4111111111111111", "3DS 2.0", "approved", "123456")
"""3DS 2.0: approved."""
DECLINED = TestCard("4111111111000124", "3DS 2.0", "declined", "123456")
"""3DS 2.0: declined."""
INSUFFICIENT_FUNDS = TestCard("4111111111000231", "3DS 2.0", "insufficient funds", "123456")
"""3DS 2.0: rejected for insufficient funds."""
STUCK_PENDING = TestCard("4111111111000348", "3DS 2.0", "stuck pending", "123456")
"""3DS 2.0: pending until it is decided."""
THREE_DS_1_APPROVED = TestCard("5200000000001013", "3DS 1.0", "approved", "123456")
"""3DS 1.0: approved."""
THREE_DS_1_DECLINED = TestCard("5200000000001021", "3DS 1.0", "declined", "123456")
"""3DS 1.0: declined."""
THREE_DS_1_INSUFFICIENT_FUNDS = TestCard("5200000000001039", "3DS 1.0", "insufficient funds", "123456")
"""3DS 1.0: rejected for insufficient funds."""
THREE_DS_1_STUCK_PENDING = TestCard("5200000000001047", "3DS 1.0", "stuck pending", "123456")
"""3DS 1.0: pending until it is decided."""
WITHOUT_3DS_APPROVED = TestCard("4000000000002016", "without 3DS", "approved", None)
"""Without 3DS: approved at once."""
WITHOUT_3DS_APPROVED_13_DIGITS = TestCard("4222222222222", "without 3DS", "approved", None)
"""Without 3DS: approved at once. The number has 13 digits, the minimum of the interface."""
WITHOUT_3DS_APPROVED_20_DIGITS = TestCard("62000000000000002019", "without 3DS", "approved", None)
"""Without 3DS: approved at once. The number has 20 digits, the maximum of the interface."""
WITHOUT_3DS_DECLINED = TestCard("4000000000002024", "without 3DS", "declined", None)
"""Without 3DS: declined."""
WITHOUT_3DS_INSUFFICIENT_FUNDS = TestCard("4000000000002032", "without 3DS", "insufficient funds", None)
"""Without 3DS: rejected for insufficient funds."""
WITHOUT_3DS_STUCK_PENDING = TestCard("4000000000002040", "without 3DS", "stuck pending", None)
"""Without 3DS: pending until it is decided."""
WITHOUT_3DS_ERROR = TestCard("4000000000002057", "without 3DS", "error", None)
"""Without 3DS: the response is HTTP 500 although the payment exists, and the payment is then rejected."""

ALL: tuple[TestCard, ...] = (
    APPROVED,
    DECLINED,
    INSUFFICIENT_FUNDS,
    STUCK_PENDING,
    THREE_DS_1_APPROVED,
    THREE_DS_1_DECLINED,
    THREE_DS_1_INSUFFICIENT_FUNDS,
    THREE_DS_1_STUCK_PENDING,
    WITHOUT_3DS_APPROVED,
    WITHOUT_3DS_APPROVED_13_DIGITS,
    WITHOUT_3DS_APPROVED_20_DIGITS,
    WITHOUT_3DS_DECLINED,
    WITHOUT_3DS_INSUFFICIENT_FUNDS,
    WITHOUT_3DS_STUCK_PENDING,
    WITHOUT_3DS_ERROR,
)
"""Every test card."""
