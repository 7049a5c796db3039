"""How an order stands by what was told, without a shop."""

from __future__ import annotations

import itertools

import pytest

from shop.standing import Event, Standing, State, standing

NUMBERS = itertools.count(1)
FIRST, SECOND = "order", "order.2"


def told(kind: str, state: str | None = None, *, payment: str = "pay_1", about: str = FIRST, after: str = "") -> Event:
    """An event, later than those before; ``state`` is the payment's."""
    number = next(NUMBERS)
    return Event(f"evt_{number}", about, number, kind, payment if state else None, state, after or None)


def paid(about: str = FIRST, after: str = "") -> Event:
    return told("checkout.paid", about=about, after=after)


AWAITED = told("payment.accepted", "awaiting")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], State.OPEN),
        ([AWAITED], State.OPEN),
        ([AWAITED, told("payment.stuck", "awaiting")], State.OPEN),
        ([AWAITED, told("payment.confirming", "confirming")], State.WAITING),
        ([told("payment.confirming", "confirming"), told("payment.not_confirmed", "awaiting")], State.OPEN),
        ([told("payment.confirming", "confirming"), told("payment.stuck", "confirming")], State.UNCLEAR),
        ([told("payment.unknown", "unknown")], State.UNKNOWN),
        ([told("payment.unknown", "unknown"), told("payment.accepted", "awaiting")], State.OPEN),
        ([told("payment.rejected", "rejected")], State.DECLINED),
        ([told("payment.not_made", "not_made")], State.DECLINED),
        ([told("payment.rejected", "rejected"), told("payment.created", "sending", payment="pay_2")], State.OPEN),
        ([told("payment.mismatch", "mismatch")], State.UNCLEAR),
        ([told("payment.unverifiable", "unverifiable")], State.UNCLEAR),
        ([told("payment.mismatch", "mismatch"), told("payment.resolved", "rejected")], State.DECLINED),
        # No reason to deliver, nor to pay again: the checkout's own event comes next.
        ([told("payment.charged", "charged")], State.WAITING),
        ([told("checkout.expired"), told("payment.charged", "charged")], State.WAITING),
        ([told("checkout.expired")], State.EXPIRED),
        ([told("checkout.cancelled")], State.CANCELLED),
        ([told("payment.unknown", "unknown"), told("checkout.expired")], State.UNKNOWN),
    ],
)
def test_what_is_not_paid(events: list[Event], expected: State) -> None:
    assert standing([FIRST], events).state == expected
    # In whatever order they come.
    assert standing([FIRST], events[::-1]).state == expected
    assert not standing([FIRST], events).owed


@pytest.mark.parametrize(
    "before",
    [
        [],
        [told("payment.rejected", "rejected")],
        [told("payment.mismatch", "mismatch")],
        [told("payment.unknown", "unknown")],
        [told("checkout.expired")],
    ],
)
def test_paid_is_paid_whatever_was_told_before_and_comes_after(before: list[Event]) -> None:
    late = [told("checkout.expired"), told("payment.rejected", "rejected", payment="pay_2")]
    assert standing([FIRST], [*before, paid(), *late]) == Standing(State.PAID)


def test_order_is_paid_once_and_the_rest_is_owed() -> None:
    assert standing([FIRST], [paid(), told("checkout.overpaid")]) == Standing(State.PAID, owed=1)
    given_back = [paid(), told("checkout.overpaid"), told("checkout.refund_recorded")]
    assert standing([FIRST], given_back) == Standing(State.PAID, given_back=1)
    twice = [told("checkout.expired"), paid(after="expired"), paid(SECOND)]
    assert standing([FIRST, SECOND], twice) == Standing(State.PAID, owed=1)


def test_what_was_given_up_is_owed_whole() -> None:
    late = [told("checkout.cancelled"), paid(after="cancelled")]
    assert standing([FIRST], late) == Standing(State.PAID_TOO_LATE, owed=1)
    assert standing([FIRST], [*late, told("checkout.overpaid")]) == Standing(State.PAID_TOO_LATE, owed=2)


def test_newest_checkout_counts_and_doubt_about_any() -> None:
    over = told("checkout.expired")
    assert standing([FIRST, SECOND], [over]).state == State.OPEN
    # A checkout that is paid by its first code after its shop has cancelled the second one.
    assert standing([FIRST, SECOND], [over, paid(after="expired"), told("checkout.cancelled", about=SECOND)]) == (
        Standing(State.PAID)
    )
    doubt = told("payment.mismatch", "mismatch")
    assert standing([FIRST, SECOND], [over, doubt]).state == State.UNCLEAR


def test_page_looks_again_as_long_as_more_may_come() -> None:
    shown, cancelled = told("payment.accepted", "awaiting"), told("checkout.cancelled")
    assert standing([FIRST], [shown, cancelled]).may_change
    # Between the payment's event and the checkout's.
    assert standing([FIRST], [shown, cancelled, told("payment.charged", "charged")]).may_change
    assert not standing([FIRST], [cancelled]).may_change
    assert not standing([FIRST], [shown, paid()]).may_change


def test_ended_checkout_shown_to_payer_may_be_paid_late() -> None:
    shown = told("payment.accepted", "awaiting")
    for end in ("checkout.expired", "checkout.cancelled"):
        assert standing([FIRST], [shown, told(end)]).may_be_paid_late
        assert not standing([FIRST], [told(end)]).may_be_paid_late
    assert standing([FIRST], [shown, told("checkout.expired")]).can_be_paid
    assert not standing([FIRST], [shown, told("checkout.cancelled")]).can_be_paid


@pytest.mark.parametrize("state", [State.WAITING, State.UNKNOWN, State.UNCLEAR, State.CANCELLED, State.PAID])
def test_nobody_is_sent_to_pay_what_may_be_paid(state: State) -> None:
    assert not Standing(state).can_be_paid


def test_older_checkout_may_still_be_paid_beside_new_one() -> None:
    expired = [AWAITED, told("checkout.expired")]
    assert standing([FIRST], expired).may_be_paid_late
    assert standing([FIRST, SECOND], expired) == Standing(State.OPEN, may_be_paid_late=True)
    again = [*expired, told("payment.accepted", "awaiting", payment="pay_2", about=SECOND)]
    assert standing([FIRST, SECOND], again).may_be_paid_late
    assert not standing([FIRST], [AWAITED]).may_be_paid_late
    assert not standing([FIRST, SECOND], [told("checkout.expired")]).may_be_paid_late
