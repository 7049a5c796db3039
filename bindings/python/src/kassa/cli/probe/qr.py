"""QR codes: the picture, and the data with its transaction."""

from __future__ import annotations

from dataclasses import replace

import kassa

from ..proposal import Known, elqr
from .finding import CreatedPayment, Finding
from .session import Session, tried
from .status import by_transaction, try_number

UNTOLD = "no transaction was found, so its status cannot be queried: set qr_data.transaction_id"


def play_image(session: Session) -> None:
    """Creates a code as the gateway's picture."""
    begun = _begin(session, "QR picture")
    if begun is None:
        return
    request, made = begun
    with session.gateway() as gateway:
        answer = tried(lambda: gateway.create_qr_image(request))
    sent = f"{request.sum_tyiyn} tyiyn"
    finding = session.look("QR picture: create", "qr_image", sent, answer, Known())
    payment = session.created(made, finding, answer, may_fail=False)
    session.accept_made("qr_image", "image", finding.raw or "", made)
    if payment is not None:
        made.state = "PENDING: a picture has no number, and nobody has paid it"


def play_data(session: Session) -> None:
    """Creates a code as data, and queries its status."""
    begun = _begin(session, "QR code")
    if begun is None:
        return
    request, made = begun
    with session.gateway() as gateway:
        answer = tried(lambda: gateway.create_qr_data(request))
    finding = session.look("QR code: create", "qr_data", f"{request.sum_tyiyn} tyiyn", answer, Known())
    raw = finding.raw or ""
    code = _code(session, raw, finding, request.sum_tyiyn or 0)
    payment = session.created(made, finding, answer, may_fail=False)
    session.accept_made("qr_data", "qr_payload", raw, made)
    if payment is None:
        return
    if payment.transaction_id is None:
        payment = _with_transaction(session, payment, raw, code)
    made.payment = payment
    number = payment.transaction_id
    if number is None:
        session.problem("QR code: status", "qr_status", UNTOLD)
        made.state = "PENDING: it has no number to query by, and nobody has paid it"
        return
    known = Known(order_number=number)
    status = session.query("qr_status", by_transaction(number), known)
    finding = session.look("QR code: status", "qr_status", f"the status of transaction {number}", status, known)
    if isinstance(status, kassa.PaymentError):
        finding.problems.append(f"it cannot be queried by its transaction: {status}")
    else:
        session.distrust("qr_status", finding)
    session.keep(finding)
    made.state = "PENDING: nobody has paid it: the test environment has no payment by QR"


def _begin(session: Session, what: str) -> tuple[kassa.QrPayment, CreatedPayment] | None:
    request = kassa.QrPayment(sum_tyiyn=session.plan.amount * 100, callback_url=session.plan.callback_url)
    if not session.may(f"Create a {what} of {request.sum_tyiyn} tyiyn? No money moves by it."):
        session.skip(what)
        return None
    return request, session.begin(what, request.payment_ref())


def _code(session: Session, raw: str, finding: Finding, amount_tyiyn: int) -> kassa.Elqr | None:
    """The code in the response, if it is ELQR; the finding says whether it matches the request."""
    text = session.proposal.found("qr_data", raw, "qr_payload") if raw else None
    code = None if text is None else elqr(text)
    if code is not None:
        try:
            code.check(amount_tyiyn)
            finding.notes.append("its text is ELQR, with a right checksum, the som and the amount")
        except kassa.PaymentError as problem:
            finding.problems.append(f"its text is ELQR, and does not match the request: {problem}")
    elif text is not None:
        finding.notes.append("its text is not ELQR: its amount cannot be checked")
    return code


def _with_transaction(
    session: Session, payment: kassa.PaymentRef, raw: str, code: kassa.Elqr | None
) -> kassa.PaymentRef:
    """Queries by each number that the transaction may have: only one that the gateway knows is taken."""
    candidates = [(leaf.pointer, leaf.text) for leaf in session.numbers_in("qr_data", raw, "")]
    # Take nothing from a code whose amount the payer can change: the paid amount would be unknown.
    if code is not None and code.amount_editable is not True:
        tags = {"32.11": code.transaction, "34": code.comment}
        candidates += [(f"elqr:{tag}", text) for tag, text in tags.items() if text]
    for place, number in candidates:
        before = session.proposal.copied()
        answer = session.query("qr_status", by_transaction(number), Known())
        step = "QR code: which number is its transaction?"
        if try_number(session, step, "qr_status", place, answer, before, "its transaction", is_own=True):
            session.proposal.put("qr_data", "transaction_id", place)
            return replace(payment, transaction_id=number)
    return payment
