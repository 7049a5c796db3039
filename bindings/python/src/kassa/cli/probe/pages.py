"""Payments for which a payer opens a page: cards and the pay-form."""

from __future__ import annotations

from datetime import date

import kassa

from .plan import CARDS, DESCRIPTION, WITHOUT_3DS
from .session import Session, tried
from .status import follow, statuses, with_number


def play_cards(session: Session) -> None:
    """Creates a payment by each test card."""
    for number in session.plan.cards:
        _card(session, number)


def _card(session: Session, number: str) -> None:
    order, amount, label = kassa.new_order_number(), session.plan.amount, CARDS.get(number, "as given")
    what = f"card **** {number[-4:]} ({label})"
    if not session.may(f"Create a payment of {amount} KGS by test {what} (order number {order})?"):
        session.skip(what)
        return
    request = kassa.CardPayment(
        order_number=order,
        description=DESCRIPTION,
        amount=amount,
        currency="KGS",
        card=kassa.Card(number, "12", date.today().year + 2, "123", "Test Payer"),
        language="en",
        return_url=session.plan.return_url,
        callback_url=session.plan.callback_url,
        ip="127.0.0.1",
    )
    known, made = session.known(order), session.begin(what, request.payment_ref())
    with session.gateway() as gateway:
        answer = tried(lambda: gateway.create_card_payment(request))
    sent = f"{amount} KGS, order number {order}"
    finding = session.look(f"{what}: create", "card_payment", sent, answer, known)
    raw = finding.raw or ""
    payment = session.created(made, finding, answer, may_fail=label == WITHOUT_3DS)
    if payment is None:
        return
    numbers = session.numbers_in("card_payment", raw, order)
    payment = made.payment = with_number(session, "card_payment", payment, numbers, known)
    page = session.proposal.found("card_payment", raw, "confirmation_url") if raw else None
    if isinstance(answer, kassa.CardPaymentCreated):
        page = answer.next_step.url if isinstance(answer.next_step, kassa.OpenConfirmation) else None
    must_end = True
    if page is not None:
        statuses(session, f"{what}: status before its page", payment, known, is_unpaid=True)
        must_end = session.visit(what, f"Open {page} in a browser, confirm the payment there, then press Enter.")
    if must_end:
        statuses(session, f"{what}: status", payment, known, is_unpaid=False)
    follow(session, f"{what}: outcome", made, payment, must_end=must_end)
    session.accept_code("card_payment", raw, made)


def play_pay_form(session: Session) -> None:
    """Creates a pay-form."""
    amount = session.plan.amount
    if not session.may(f"Create a pay-form of {amount} som?"):
        session.skip("pay-form")
        return
    request = kassa.PayForm(
        amount=amount,
        service_name=DESCRIPTION,
        callback_url=session.plan.callback_url,
        return_url=session.plan.return_url,
    )
    made = session.begin("pay-form", request.payment_ref())
    with session.gateway() as gateway:
        answer = tried(lambda: gateway.create_pay_form(request))
    finding = session.look("pay-form: create", "pay_form", f"{amount} som", answer, session.known(None))
    payment = session.created(made, finding, answer, may_fail=False)
    session.accept_made("pay_form", "pay_form_url", finding.raw or "", made)
    if payment is not None and isinstance(answer, kassa.PayFormCreated):
        task = f"Open {answer.pay_form_url} in a browser, pay there or look at it, then press Enter."
        seen = "its page was opened" if session.visit("the pay-form", task) else "nobody opened its page"
        made.state = f"PENDING: {seen}; its number comes only in a callback, so look into the gateway's dashboard"
