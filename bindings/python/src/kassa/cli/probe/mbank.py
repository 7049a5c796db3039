"""The mobile bank: create, confirm with the identifier in each possible place, poll."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import kassa

from ..proposal import Known, Leaf, Proposal
from .finding import CreatedPayment
from .plan import DESCRIPTION
from .session import Session, tried
from .status import follow, has_ended, statuses, with_number

STEP = "mobile bank: confirm"
UNKNOWN = (
    "the outcome of the confirmation is unknown, and no status query shows it: it is not sent again. "
    "Look into the gateway's dashboard"
)


@dataclass(frozen=True)
class IdentifierPlacement:
    """A place of the mobile bank's identifier in a confirmation."""

    index: int
    words: str
    payment: kassa.PaymentRef
    proposal: Proposal


@dataclass(frozen=True)
class Confirmed:
    """The result of the confirmations. At most one of them may have moved money."""

    must_end: bool = False
    place: IdentifierPlacement | None = None
    """The place of the confirmation that was accepted, or whose outcome is unknown."""
    raw: str = ""
    is_unknown: bool = False


def play(session: Session) -> None:
    """Creates a payment, confirms it, and follows it to its end."""
    order, amount = kassa.new_order_number(), session.plan.amount
    if not session.may(f"Create a mobile-bank payment of {amount} som for the test phone (order number {order})?"):
        session.skip("mobile bank")
        return
    request = kassa.MbankPayment(
        order_number=order,
        phone=session.plan.phone,
        amount_som=amount,
        comment=DESCRIPTION,
        callback_url=session.plan.callback_url,
    )
    known, made = session.known(order), session.begin("mobile bank", request.payment_ref())
    with session.gateway() as gateway:
        answer = tried(lambda: gateway.create_mbank_payment(request))
    sent = f"{amount} som, order number {order}"
    finding = session.look("mobile bank: create", "mbank_payment", sent, answer, known)
    raw = finding.raw or ""
    payment = session.created(made, finding, answer, may_fail=False)
    if payment is None:
        return
    numbers = session.numbers_in("mbank_payment", raw, order)
    payment = made.payment = with_number(session, "mbank_payment", payment, numbers, known)
    step = "mobile bank, before the confirmation"
    is_found, is_charged_early = statuses(session, step, payment, known, is_unpaid=True)
    if is_charged_early:
        made.state = "PENDING: the gateway says before the confirmation that it is charged"
        session.skip(f"{STEP}, as the gateway says that the payment is charged already")
        return
    if not is_found and isinstance(answer, kassa.PaymentError):
        session.skip(f"{STEP}, as nothing is known of the payment")
        return
    confirmed = _confirm(session, made, payment, numbers, known)
    follow(session, "mobile bank: outcome", made, payment, must_end=confirmed.must_end)
    session.accept_code("mbank_payment", raw, made)
    _accept(session, made, confirmed)
    statuses(session, "mobile bank, afterwards", payment, known, is_unpaid=False)


def _confirm(
    session: Session, made: CreatedPayment, payment: kassa.PaymentRef, numbers: list[Leaf], known: Known
) -> Confirmed:
    """Confirms with the identifier in each of its places, one after the other, until one is not definitely refused. A
    confirmation with an unknown outcome may have moved the money, so it is the last."""
    for place in _places(session.proposal, payment, numbers):
        if not session.may(f"Confirm that payment by the test password, {place.words}?"):
            session.skip(STEP)
            return Confirmed()
        made.state = "PENDING: a confirmation was sent"
        with session.gateway(place.proposal) as gateway:
            answer = tried(gateway.confirm_mbank_payment, place.payment, session.plan.otp)
        finding = session.look(STEP, "mbank_confirm", place.words, answer, known)
        session.keep(finding)
        is_unknown = isinstance(answer, kassa.OutcomeUnknown | kassa.Unexpected)
        if is_unknown or not isinstance(answer, kassa.PaymentError):
            return Confirmed(must_end=True, place=place, raw=finding.raw or "", is_unknown=is_unknown)
        # A payment that has ended takes no other confirmation.
        if has_ended(session, made, payment):
            return Confirmed(must_end=True)
    session.problem(STEP, "mbank_confirm", "it accepts the identifier in none of its places")
    return Confirmed()


def _accept(session: Session, made: CreatedPayment, confirmed: Confirmed) -> None:
    """Takes over the form of the confirmation if it was accepted, or is known to have moved the money."""
    place = confirmed.place
    if place is None:
        return
    if made.is_charged:
        session.accept_code("mbank_confirm", confirmed.raw, made)
    elif confirmed.is_unknown:
        if not made.is_rejected:
            session.problem(STEP, "mbank_confirm", UNKNOWN)
        return
    if place.index > 0:
        told = f"it takes the confirmation {place.words}, and the given dialect sends another one"
        session.problem(STEP, "mbank_confirm", told)
    session.proposal.adopt_identifier(place.proposal)


def _places(known: Proposal, payment: kassa.PaymentRef, numbers: list[Leaf]) -> Iterator[IdentifierPlacement]:
    """First as the dialect says; then in a field with its own name, as the order number, and without the identifier."""
    asked_by = [leaf for leaf in numbers if leaf.text == payment.gateway_number]
    leaf = next(iter(asked_by + numbers), None)
    identifier, pointer = payment.confirm_identifier, None
    if identifier is None and leaf is not None:
        identifier, pointer = leaf.json, leaf.pointer
    first = known.confirm_field if payment.confirm_identifier is not None else None
    others = [] if identifier is None else [*([leaf.key] if leaf else []), "orderNumber"]
    for index, name in enumerate(dict.fromkeys([first, *others, None])):
        proposal = known.copied()
        if index > 0 and (name is not None or known.has_identifier):
            proposal.set_identifier(pointer, name)
        place = "in the place of the order number" if name == "orderNumber" else f"in the field {name}"
        words = "without its identifier" if name is None else f"with its identifier {place}"
        confirming = replace(payment, confirm_identifier=None if name is None else identifier)
        yield IdentifierPlacement(index, words, confirming, proposal)
