# Generated from sandbox/data/test_data.json. Change that, and then:
# cargo test -p kassa-conformance --test tables -- --generate
"""The test phones, by name.

>>> from kassa_sandbox import phones
>>> phones.MBANK_APPROVED.phone, phones.MBANK_APPROVED.otp
('996555000101', '101101')
"""

from __future__ import annotations

from .payers import TestPhone

MBANK_APPROVED = TestPhone("996555000101", "MBank", "approved", "101101")
"""MBank: approved."""
MBANK_DECLINED = TestPhone("996555000102", "MBank", "declined", "102102")
"""MBank: declined."""
MBANK_INSUFFICIENT_FUNDS = TestPhone("996555000103", "MBank", "insufficient funds", "103103")
"""MBank: rejected for insufficient funds."""
MBANK_STUCK_PENDING = TestPhone("996555000104", "MBank", "stuck pending", "104104")
"""MBank: pending until it is decided."""
MEGAPAY_APPROVED = TestPhone("996755000201", "MegaPay", "approved", "201201")
"""MegaPay: approved."""
MEGAPAY_DECLINED = TestPhone("996755000202", "MegaPay", "declined", "202202")
"""MegaPay: declined."""
MEGAPAY_INSUFFICIENT_FUNDS = TestPhone("996755000203", "MegaPay", "insufficient funds", "203203")
"""MegaPay: rejected for insufficient funds."""
MEGAPAY_STUCK_PENDING = TestPhone("996755000204", "MegaPay", "stuck pending", "204204")
"""MegaPay: pending until it is decided."""

ALL: tuple[TestPhone, ...] = (
    MBANK_APPROVED,
    MBANK_DECLINED,
    MBANK_INSUFFICIENT_FUNDS,
    MBANK_STUCK_PENDING,
    MEGAPAY_APPROVED,
    MEGAPAY_DECLINED,
    MEGAPAY_INSUFFICIENT_FUNDS,
    MEGAPAY_STUCK_PENDING,
)
"""Every test phone."""
