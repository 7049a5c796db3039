"""Status queries of a payment by each of its numbers and in each form, and the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import kassa

from ..proposal import Known, Leaf, Proposal
from .finding import CreatedPayment, Finding
from .session import Session, tried

StatusAnswer: TypeAlias = kassa.StatusReport | kassa.PaymentError
Ask: TypeAlias = Callable[[kassa.Gateway], kassa.StatusReport]


def with_number(
    session: Session, endpoint: str, payment: kassa.PaymentRef, numbers: list[Leaf], known: Known
) -> kassa.PaymentRef:
    """Queries by each number that may be the gateway's own of a payment: only one that it answers about is taken."""
    if payment.gateway_number is not None or session.answers_about_anything:
        return payment
    for leaf in numbers:
        before = session.proposal.copied()
        answer = session.query("payment_status", by_number(leaf.text), known)
        own = (None, known.order_number, leaf.text)
        # A report of another payment would not make it this one's.
        is_own = (
            isinstance(answer, kassa.StatusReport)
            and answer.order_number in own
            and (answer.amount is None or answer.amount in known.amounts)
        )
        step, what = "which number is the gateway's?", "the gateway's number"
        if try_number(session, step, "payment_status", leaf.pointer, answer, before, what, is_own=is_own):
            session.proposal.put(endpoint, "gateway_number", leaf.pointer)
            return replace(payment, gateway_number=leaf.text)
    return payment


def try_number(
    session: Session,
    step: str,
    endpoint: str,
    place: str,
    answer: StatusAnswer,
    before: Proposal,
    what: str,
    *,
    is_own: bool,
) -> bool:
    """A query whose number may not exist: only an answer about a payment teaches, and shows the place of its number."""
    is_one = is_own and isinstance(answer, kassa.StatusReport) and proves_a_number(session, endpoint)
    finding = session.look(step, endpoint, f"the status of what stands at {place}", answer, Known())
    if is_one:
        finding.problems.append(f"{what} stands at {place}, which the given dialect does not read")
    else:
        finding.excuse()
        session.forget(before)
    session.keep(finding)
    return is_one


def proves_a_number(session: Session, endpoint: str, provider: kassa.Provider = kassa.Provider.CARDS) -> bool:
    """Whether an answer of this endpoint, for this provider if the query names one, proves that its number exists. It does if,
    as responses are read now, an unused number gets no answer."""
    number = kassa.new_order_number()
    asks: dict[str, Ask] = {
        "provider_status": by_order(number, provider),
        "payment_status": by_number(number),
        "qr_status": by_transaction(number),
    }
    with session.gateway() as gateway:
        is_answered = isinstance(tried(asks[endpoint], gateway), kassa.StatusReport)
    if is_answered and endpoint != "qr_status":
        session.answers_about_anything = True
    return not is_answered


def statuses(
    session: Session, step: str, payment: kassa.PaymentRef, known: Known, *, is_unpaid: bool
) -> tuple[bool, bool]:
    """Queries by each number of the payment, and by the gateway's in both forms of the query. Whether the gateway knows the
    payment, and whether it calls an unpaid one charged by a word of the given dialect."""
    is_found = is_charged_early = False
    order, provider, number = payment.order_number, payment.provider, payment.gateway_number

    def status(endpoint: str, request: str, answer: StatusAnswer) -> bool:
        nonlocal is_charged_early
        finding = session.look(step, endpoint, request, answer, known)
        if isinstance(answer, kassa.StatusReport):
            _compare(session, endpoint, finding, answer, payment)
            if is_unpaid:
                is_charged_early = session.distrust(endpoint, finding) or is_charged_early
        session.keep(finding)
        return isinstance(answer, kassa.StatusReport)

    if order is not None and provider is not None:
        answer = session.query("provider_status", by_order(order, provider), known)
        is_found = status("provider_status", f"by the merchant's order number {order}", answer)
    forms: dict[str, bool] = {}
    if number is not None:
        session.query("payment_status", by_number(number), known)
        for form in kassa.StatusQueryForm:
            with session.gateway(form=form) as gateway:
                answer = tried(gateway.payment_status, number)
            request = f"by the gateway's number {number}, as {form.value}"
            forms[form.value] = status("payment_status", request, answer)
    if forms == {"json_body": False, "query_string": True}:
        session.problem(step, "payment_status", "it answers only as query_string: set status_query")
    elif forms and not any(forms.values()) and is_found:
        session.problem(step, "payment_status", "it does not answer by the gateway's number, in neither form")
    is_found = is_found or any(forms.values())
    if not is_found:
        session.problem(step, "payment_status", "there is no number by which the gateway knows the payment")
    return is_found, is_charged_early


def _compare(
    session: Session, endpoint: str, finding: Finding, report: kassa.StatusReport, payment: kassa.PaymentRef
) -> None:
    own = (None, payment.order_number, payment.gateway_number)
    if report.order_number not in own and not session.proposal.takes_any_number(endpoint):
        finding.problems.append(
            f"it names the number {report.order_number}, which is none of the payment's own: where the gateway has such "
            "numbers, set numbers to any for this endpoint"
        )
    if report.amount is None:
        finding.notes.append("it names no amount, so none is compared")
    elif payment.amount is not None and report.amount != payment.amount:
        finding.problems.append("it names another amount than was requested")


def follow(session: Session, step: str, made: CreatedPayment, payment: kassa.PaymentRef, *, must_end: bool) -> None:
    """Queries until the payment has ended, or the plan's time is over."""
    end = time.monotonic() + session.plan.wait
    while True:
        with session.gateway() as gateway:
            verdict = tried(gateway.check, payment)
        may_change = isinstance(verdict, kassa.Pending | kassa.Unavailable)
        if not must_end or not may_change or time.monotonic() + session.plan.pause > end:
            break
        time.sleep(session.plan.pause)
    finding = Finding(step, "check", f"the verdict on {payment}", str(verdict))
    match verdict:
        case kassa.Charged(compared=compared):
            finding.answer = f"charged; compared: {', '.join(compared) or 'none'}"
        case kassa.Rejected():
            finding.answer = "rejected"
        case kassa.Pending(report=report):
            finding.answer = f"pending: {report.status}"
            if must_end:
                finding.problems.append(
                    f"it has not ended: {report.status} is in none of the lists of words. Look into the gateway's "
                    "dashboard: if the payment is paid there, run again with --charged-word, if it is rejected, with "
                    "--rejected-word"
                )
            else:
                finding.notes.append("nobody confirmed it, so it stays pending")
        case kassa.Mismatch(fields=names):
            finding.answer = f"mismatch in {', '.join(names)}"
            finding.problems.append("the gateway's report does not match the request")
        case kassa.Unverifiable(why=why):
            finding.answer = f"unverifiable: {why}"
            finding.problems.append(f"nothing is proved: {why}")
        case _:
            finding.problems.append("the gateway does not report the outcome of the payment")
    if not isinstance(verdict, kassa.PaymentError):
        finding.raw = None if verdict.report is None else verdict.report.raw
        session.note(made, verdict)
    session.keep(finding)


def has_ended(session: Session, made: CreatedPayment, payment: kassa.PaymentRef) -> bool:
    """Queries once, after a confirmation that was refused."""
    with session.gateway() as gateway:
        verdict = tried(gateway.check, payment)
    if not isinstance(verdict, kassa.PaymentError):
        session.note(made, verdict)
    return isinstance(verdict, kassa.Charged | kassa.Rejected)


def query(session: Session, number: str) -> None:
    """Queries a number that a person has named, in every way. It creates nothing."""
    step, known, is_found = "the given number", Known(order_number=number), False
    cards = kassa.Provider.CARDS
    ways: list[tuple[str, kassa.Provider, str, Ask]] = [
        ("provider_status", provider, f"the order number {number} of {provider}", by_order(number, provider))
        for provider in (cards, kassa.Provider.MBANK, kassa.Provider.MEGA_PAY)
    ]
    ways.append(("payment_status", cards, f"the gateway's number {number}", by_number(number)))
    ways.append(("qr_status", cards, f"the transaction {number}", by_transaction(number)))
    for endpoint, provider, request, send in ways:
        before = session.proposal.copied()
        answer = session.query(endpoint, send, known)
        is_known = isinstance(answer, kassa.StatusReport) and proves_a_number(session, endpoint, provider)
        finding = session.look(step, endpoint, request, answer, Known())
        if not is_known:
            finding.excuse()
            session.forget(before)
        session.keep(finding)
        is_found = is_found or is_known
    if not is_found:
        session.problem(step, "payment_status", "no form of the status query finds this number")


def by_order(order: str, provider: kassa.Provider) -> Ask:
    """The query by the merchant's order number."""
    return lambda gateway: gateway.provider_status(order, provider)


def by_number(number: str) -> Ask:
    """The query by the gateway's number."""
    return lambda gateway: gateway.payment_status(number)


def by_transaction(transaction_id: str) -> Ask:
    """The query by the transaction of a QR payment."""
    return lambda gateway: gateway.qr_status(transaction_id)
