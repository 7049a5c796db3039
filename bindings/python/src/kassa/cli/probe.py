"""Plays every flow against the gateway's test environment, shows each reply beside what the dialect reads in it, and finds the
dialect that fits."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import kassa

from .output import block, line
from .proposal import Known, Leaf, Proposal, elqr, leaves

T = TypeVar("T")

CLEAN, NOT_CLEAN = 0, 1

STEPS = ("mbank", "card", "pay-form", "qr-image", "qr")
WITHOUT_3DS = "without 3DS"
CARDS = {
    "4047300000007550": WITHOUT_3DS,
    "2200112611773794": "3DS 2.0",
    "4439970000000007": "3DS 2.0",
    "5136914521003242": "3DS 1.0",
}
PHONE, OTP = "996772140014", "0000"
NOWHERE = "https://kassa-probe.invalid"
DESCRIPTION = "Kassa probe"
PAUSE = 10
MISSING, NO_ANSWER = "the dialect finds no", "it is no answer to the given dialect"
NEEDED: dict[str, tuple[str, ...]] = {
    "card_payment": ("code",),
    "mbank_payment": ("code",),
    "mbank_confirm": ("code",),
    "payment_status": ("status",),
    "provider_status": ("status",),
    "qr_status": ("status",),
    "pay_form": ("pay_form_url",),
    "qr_data": ("qr_payload", "transaction_id"),
}
NUMBER = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{6,}", re.ASCII)
MOST_NUMBERS = 6


class CouldNotRun(Exception):
    """Why nothing could be tried."""


@dataclass
class Finding:
    """One request to the gateway, its reply, and what the dialect reads in it."""

    step: str
    endpoint: str
    request: str
    answer: str
    raw: str | None = None
    fields: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def lines(self) -> Iterator[tuple[str, str]]:
        """What is to be said of it, each with what it is."""
        yield "sent", self.request
        yield "answer", self.answer
        yield from (("reads", text) for text in self.fields)
        if self.unread:
            yield "not read", " ".join(self.unread)
        yield from (("note", text) for text in self.notes)
        yield from (("PROBLEM", text) for text in self.problems)


@dataclass
class Made:
    """A payment, a pay-form or a code, and what happened to its money."""

    what: str
    payment: kassa.PaymentRef
    state: str = "OPEN: it was sent"
    is_known: bool = False

    def text(self) -> str:
        """One line: what it is, its numbers, and what happened to the money."""
        numbers = {
            "order number": self.payment.order_number,
            "gateway number": self.payment.gateway_number,
            "transaction": self.payment.transaction_id,
        }
        named = ", ".join(f"{name} {number}" for name, number in numbers.items() if number is not None)
        return f"{self.what} ({named or 'no number'}): {self.state}"


@dataclass(frozen=True)
class Plan:
    """What is tried, and with what."""

    steps: tuple[str, ...]
    amount: int
    phone: str
    otp: str
    cards: tuple[str, ...]
    callback_url: str
    return_url: str
    wait: int
    says_yes: bool


def arguments(command: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    command.set_defaults(json=False)
    command.add_argument(
        "--test-environment", action="store_true", help="says that KASSA_URL is a test environment: needed"
    )
    command.add_argument("--yes", action="store_true", help="permits every payment beforehand; nobody opens pages then")
    command.add_argument("--only", metavar="STEP,...", help=f"these steps alone: {', '.join(STEPS)}")
    command.add_argument(
        "--amount", type=int, default=1, metavar="SOM", help="of each payment, whole som; 1 unless given"
    )
    command.add_argument("--phone", default=PHONE, help="the mobile bank's test phone")
    command.add_argument("--otp", default=OTP, help="its one-time password")
    command.add_argument("--card", action="append", metavar="NUMBER", help="a test card; may be given again")
    command.add_argument("--callback-url", default=f"{NOWHERE}/callback", metavar="URL", help="where callbacks go")
    command.add_argument("--return-url", default=f"{NOWHERE}/return", metavar="URL", help="where payers return to")
    command.add_argument(
        "--charged-word",
        action="append",
        default=[],
        metavar="WORD",
        help="a status word that means charged, as you know",
    )
    command.add_argument(
        "--rejected-word", action="append", default=[], metavar="WORD", help="one that means rejected, as you know"
    )
    command.add_argument(
        "--wait", type=int, default=60, metavar="SECONDS", help="for a payment that must end; 60 unless given"
    )
    command.add_argument("--write-dialect", metavar="FILE", help="write the dialect that fits, for KASSA_DIALECT")
    command.add_argument("--report", metavar="FILE", help="write a report in Markdown, without secrets")


def probe(options: argparse.Namespace) -> int:
    """Runs the steps; raises `CouldNotRun` where nothing could be tried."""
    if not options.test_environment:
        raise CouldNotRun(
            "the probe creates and confirms payments, so it runs against a test environment alone: where KASSA_URL is one, "
            "say --test-environment"
        )
    if not options.yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise CouldNotRun("nobody is here to permit a payment: run it on a terminal, or permit all of them by --yes")
    steps = STEPS if options.only is None else tuple(options.only.split(","))
    if unknown := [step for step in steps if step not in STEPS]:
        raise CouldNotRun(f"{', '.join(unknown)} is no step; there are {', '.join(STEPS)}")
    plan = Plan(
        steps=steps,
        amount=options.amount,
        phone=options.phone,
        otp=options.otp,
        cards=tuple(options.card or CARDS),
        callback_url=options.callback_url,
        return_url=options.return_url,
        wait=options.wait,
        says_yes=options.yes,
    )
    run = Probe(plan)
    for name, words in (("charged_words", options.charged_word), ("rejected_words", options.rejected_word)):
        for word in words:
            run.proposal.put_word(name, word)
    try:
        run.run()
    finally:
        run.conclude()
    for file, text in ((options.write_dialect, run.proposal.file()), (options.report, run.report())):
        if file is not None:
            _write(file, text)
    return CLEAN if run.is_clean else NOT_CLEAN


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CouldNotRun(f"{file} cannot be written: {problem.strerror}") from None


class Probe:
    """The given dialect is what replies are shown by, and what problems are told of. What replies teach beside it is used at
    once, so that one run gets as far as it can."""

    def __init__(self, plan: Plan) -> None:
        # Names everything that is wrong with the environment.
        kassa.Gateway.from_environment().close(0)
        self.plan = plan
        self.given: kassa.Dialect = _given_dialect()
        self.proposal: Proposal = Proposal(self.given)
        self.findings: list[Finding] = []
        self.made: list[Made] = []
        self.learned: list[str] = []
        self.answers_about_anything: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing is unread, unknown or contradictory."""
        return not any(finding.problems for finding in self.findings)

    def run(self) -> None:
        """Plays the steps in their order."""
        self._reach()
        all_steps: dict[str, Callable[[], None]] = {
            "mbank": self._mbank,
            "card": self._cards,
            "pay-form": self._pay_form,
            "qr-image": self._qr_image,
            "qr": self._qr,
        }
        for step in STEPS:
            if step in self.plan.steps:
                all_steps[step]()

    def conclude(self) -> None:
        """Says what happened to the money of each payment, also where the run was broken off."""
        block("\n== What happened to the money")
        for text in self._money():
            line(text)
        problems = sum(len(finding.problems) for finding in self.findings)
        line(f"{problems} problems." if problems else "Everything was read: nothing is unknown or contradictory.")

    def report(self) -> str:
        """The report in Markdown: no credentials, card numbers or phones stand in it."""
        problems = [f"{one.step} (`{one.endpoint}`): {text}" for one in self.findings for text in one.problems]
        parts = ["# Probe of a gateway's test environment", f"By kassa {kassa.__version__} for Python.", "## Problems"]
        parts += [f"- {_one_line(text)}" for text in problems] or ["None: everything was read."]
        parts += ["## What happened to the money", *(f"- {_one_line(text)}" for text in self._money())]
        parts += ["## The dialect that fits", _fenced("json", self._scrubbed(self.proposal.file().rstrip()))]
        for one in self.findings:
            parts.append(f"### {_one_line(one.step)} (`{one.endpoint}`)")
            parts += [f"- {name}: {_one_line(text)}" for name, text in one.lines()]
            if one.raw is not None:
                parts.append(_fenced("", one.raw[:4000]))
        return "\n\n".join(parts) + "\n"

    def _money(self) -> list[str]:
        return [self._scrubbed(made.text()) for made in self.made] or ["Nothing was created, so no money moved."]

    @contextmanager
    def _gateway(
        self, proposal: Proposal | None = None, form: kassa.StatusQueryForm = kassa.StatusQueryForm.JSON_BODY
    ) -> Generator[kassa.Gateway, None, None]:
        """A gateway by the environment, which reads by what is known now."""
        certificates = os.environ.get("KASSA_ROOT_CERTIFICATES")
        with kassa.Gateway(
            os.environ["KASSA_URL"],
            kassa.Credentials(os.environ["KASSA_LOGIN"], os.environ["KASSA_PASSWORD"]),
            dialect=(proposal or self.proposal).dialect,
            status_query=form,
            proxy=_proxy(os.environ.get("KASSA_PROXY")),
            extra_root_certificates=[Path(certificates).read_text(encoding="utf-8-sig")] if certificates else [],
        ) as gateway:
            yield gateway

    def _may(self, question: str) -> bool:
        block("")
        line(f"{question} [{'yes, by --yes' if self.plan.says_yes else 'y or N'}]")
        return self.plan.says_yes or sys.stdin.readline().strip().lower() in ("y", "yes")

    def _wait_for(self, what: str) -> bool:
        block("")
        line(what)
        return not self.plan.says_yes and sys.stdin.readline() != ""

    # The steps.

    def _reach(self) -> None:
        number = kassa.new_order_number()
        with self._gateway() as gateway:
            try:
                by_order: kassa.StatusReport | kassa.PaymentError = gateway.provider_status(
                    number, kassa.Provider.CARDS
                )
            except kassa.Unauthorized:
                raise CouldNotRun("the gateway does not accept the credentials: nothing was created") from None
            except (kassa.Misconfigured, kassa.Unavailable) as problem:
                # A reply of another form may be the gateway's all the same.
                if not (problem.body or "").lstrip().startswith("{"):
                    raise CouldNotRun(
                        self._scrubbed(f"the gateway cannot be asked, so nothing was created: {problem}")
                    ) from None
                by_order = problem
            except kassa.PaymentError as problem:
                by_order = problem
            by_number = _tried(lambda: gateway.payment_status(number))
        for endpoint, answer in (("provider_status", by_order), ("payment_status", by_number)):
            finding = self._look("a number that nobody has", endpoint, "the status of no payment", answer, Known())
            has_code = finding.raw is not None and self.proposal.found(endpoint, finding.raw, "code") is not None
            finding.problems = [
                text
                for text in finding.problems
                if not text.startswith(MISSING) and not (has_code and text.startswith(NO_ANSWER))
            ]
            if isinstance(answer, kassa.StatusReport):
                self.answers_about_anything = True
                told = f"it says {answer.status} of a payment that does not exist"
                (finding.problems if answer.status.is_final else finding.notes).append(told)
            self._keep(finding)

    def _mbank(self) -> None:
        order, amount = kassa.new_order_number(), self.plan.amount
        if not self._may(f"Create a mobile-bank payment of {amount} som for the test phone (order number {order})?"):
            return
        request = kassa.MbankPayment(
            order_number=order,
            phone=self.plan.phone,
            amount_som=amount,
            comment=DESCRIPTION,
            callback_url=self.plan.callback_url,
        )
        known, made = self._known(order), self._begin("mobile bank", request.payment_ref())
        with self._gateway() as gateway:
            answer = _tried(lambda: gateway.create_mbank_payment(request))
        finding = self._look(
            "mobile bank: create", "mbank_payment", f"{amount} som, order number {order}", answer, known
        )
        raw = finding.raw or ""
        payment = self._created(made, finding, answer, may_fail=False)
        if payment is None:
            return
        numbers = self._numbers_in("mbank_payment", raw, order)
        payment = made.payment = self._with_number("mbank_payment", payment, numbers, known)
        is_found = self._statuses("mobile bank, before the confirmation", payment, known)
        if not is_found and isinstance(answer, kassa.PaymentError):
            line("Skipped: mobile bank: confirm, as nothing is known of the payment")
            return
        confirmed = self._confirm(made, payment, numbers, known)
        self._follow("mobile bank: outcome", made, payment, must_end=confirmed is not None)
        self._accept_code("mbank_payment", raw, made)
        if confirmed and made.state.startswith("charged"):
            self._accept_code("mbank_confirm", confirmed, made)
        self._statuses("mobile bank, afterwards", payment, known)

    def _confirm(self, made: Made, payment: kassa.PaymentRef, numbers: list[Leaf], known: Known) -> str | None:
        """Confirms with the identifier in each of its places, one after the other, until one is accepted. The reply where the
        payment must come to an end."""
        for index, (words, asked_for, proposal) in enumerate(self._places(payment, numbers)):
            if not self._may(f"Confirm that payment by the test password, {words}?"):
                return None
            made.state = "OPEN: a confirmation was sent"
            with self._gateway(proposal) as gateway:
                answer = _tried(gateway.confirm_mbank_payment, asked_for, self.plan.otp)
            finding = self._look("mobile bank: confirm", "mbank_confirm", words, answer, known)
            is_accepted = not isinstance(answer, kassa.PaymentError)
            if not is_accepted:
                # An unknown outcome is no refusal: what the gateway reports of the payment decides.
                with self._gateway() as gateway:
                    verdict = _tried(gateway.check, payment)
                if not isinstance(verdict, kassa.PaymentError):
                    self._note(made, verdict)
                is_accepted = made.state.startswith("charged")
            if is_accepted and index > 0:
                finding.problems.append(f"it takes the confirmation {words}, and the given dialect sends another one")
            self._keep(finding)
            if is_accepted:
                self.proposal.adopt_identifier(proposal)
                return finding.raw or ""
            if made.state.startswith("rejected"):
                return ""
        self._problem("mobile bank: confirm", "mbank_confirm", "it accepts the identifier in none of its places")
        return None

    def _places(
        self, payment: kassa.PaymentRef, numbers: list[Leaf]
    ) -> Iterator[tuple[str, kassa.PaymentRef, Proposal]]:
        """As the dialect says first; then in a field of its own name, in the place of the order number, and nowhere."""
        asked_by = [leaf for leaf in numbers if leaf.text == payment.gateway_number]
        leaf = next(iter(asked_by + numbers), None)
        identifier, pointer = payment.confirm_identifier, None
        if identifier is None and leaf is not None:
            identifier, pointer = leaf.json, leaf.pointer
        first = self.proposal.confirm_field if payment.confirm_identifier is not None else None
        others = [] if identifier is None else [*([leaf.key] if leaf else []), "orderNumber"]
        told = self.proposal.has_identifier
        for index, name in enumerate(dict.fromkeys([first, *others, None])):
            proposal = self.proposal.copied()
            if index > 0 and (name is not None or told):
                proposal.set_identifier(pointer, name)
            place = "in the place of the order number" if name == "orderNumber" else f"in the field {name}"
            words = "without its identifier" if name is None else f"with its identifier {place}"
            yield words, replace(payment, confirm_identifier=None if name is None else identifier), proposal

    def _cards(self) -> None:
        for number in self.plan.cards:
            self._card(number)

    def _card(self, number: str) -> None:
        order, amount, label = kassa.new_order_number(), self.plan.amount, CARDS.get(number, "as given")
        what = f"card **** {number[-4:]} ({label})"
        if not self._may(f"Create a payment of {amount} KGS by test {what} (order number {order})?"):
            return
        request = kassa.CardPayment(
            order_number=order,
            description=DESCRIPTION,
            amount=amount,
            currency="KGS",
            card=kassa.Card(number, "12", date.today().year + 2, "123", "Test Payer"),
            language="en",
            return_url=self.plan.return_url,
            callback_url=self.plan.callback_url,
            ip="127.0.0.1",
        )
        known, made = self._known(order), self._begin(what, request.payment_ref())
        with self._gateway() as gateway:
            answer = _tried(lambda: gateway.create_card_payment(request))
        finding = self._look(f"{what}: create", "card_payment", f"{amount} KGS, order number {order}", answer, known)
        raw = finding.raw or ""
        payment = self._created(made, finding, answer, may_fail=label == WITHOUT_3DS)
        if payment is None:
            return
        numbers = self._numbers_in("card_payment", raw, order)
        payment = made.payment = self._with_number("card_payment", payment, numbers, known)
        page = self.proposal.found("card_payment", raw, "confirmation_url")
        if isinstance(answer, kassa.CardPaymentCreated):
            page = answer.next_step.url if isinstance(answer.next_step, kassa.OpenConfirmation) else None
        must_end = page is None or self._wait_for(
            f"Open {page} in a browser, confirm the payment there, then press Enter."
        )
        self._statuses(f"{what}: status", payment, known)
        self._follow(f"{what}: outcome", made, payment, must_end=must_end)
        self._accept_code("card_payment", raw, made)

    def _pay_form(self) -> None:
        if not self._may(f"Create a pay-form of {self.plan.amount} som?"):
            return
        request = kassa.PayForm(
            amount=self.plan.amount,
            service_name=DESCRIPTION,
            callback_url=self.plan.callback_url,
            return_url=self.plan.return_url,
        )
        made = self._begin("pay-form", request.payment_ref())
        with self._gateway() as gateway:
            answer = _tried(lambda: gateway.create_pay_form(request))
        finding = self._look("pay-form: create", "pay_form", f"{self.plan.amount} som", answer, self._known(None))
        payment = self._created(made, finding, answer, may_fail=False)
        self._accept_made("pay_form", "pay_form_url", finding.raw, made)
        if payment is not None and isinstance(answer, kassa.PayFormCreated):
            self._wait_for(f"Open {answer.pay_form_url} in a browser, pay there or look at it, then press Enter.")
            made.state = "OPEN: its number comes by a callback alone, so look into the gateway's dashboard"

    def _qr_image(self) -> None:
        begun = self._begin_qr("QR picture")
        if begun is None:
            return
        request, made = begun
        with self._gateway() as gateway:
            answer = _tried(lambda: gateway.create_qr_image(request))
        finding = self._look("QR picture: create", "qr_image", f"{request.sum_tyiyn} tyiyn", answer, Known())
        payment = self._created(made, finding, answer, may_fail=False)
        self._accept_made("qr_image", "image", finding.raw, made)
        if payment is not None:
            made.state = "OPEN: a picture has no number, and nobody has paid it"

    def _qr(self) -> None:
        begun = self._begin_qr("QR code")
        if begun is None:
            return
        request, made = begun
        with self._gateway() as gateway:
            answer = _tried(lambda: gateway.create_qr_data(request))
        finding = self._look("QR code: create", "qr_data", f"{request.sum_tyiyn} tyiyn", answer, Known())
        raw = finding.raw or ""
        text = self.proposal.found("qr_data", raw, "qr_payload")
        code = None if text is None else elqr(text)
        if code is not None:
            try:
                code.check(request.sum_tyiyn or 0)
                finding.notes.append("its text is ELQR, with a right checksum, the som and the amount")
            except kassa.PaymentError as problem:
                finding.problems.append(f"its text is ELQR, and not what was asked for: {problem}")
        elif text is not None:
            finding.notes.append("its text is no ELQR: its amount cannot be checked")
        payment = self._created(made, finding, answer, may_fail=False)
        self._accept_made("qr_data", "qr_payload", raw, made)
        if payment is None:
            return
        if payment.transaction_id is None:
            payment = self._with_transaction(payment, raw, code)
        made.payment = payment
        made.state = "OPEN: nobody has paid it: the test environment has no payment by QR"
        if payment.transaction_id is None:
            untold = (
                "no transaction is known, so nothing can ask for its status: name its place in qr_data.transaction_id"
            )
            self._problem("QR code: status", "qr_status", untold)
            return
        known, number = Known(order_number=payment.transaction_id), payment.transaction_id
        status = self._ask("qr_status", lambda gateway: gateway.qr_status(number), known)
        finding = self._look("QR code: status", "qr_status", f"the status of transaction {number}", status, known)
        if isinstance(status, kassa.PaymentError):
            finding.problems.append(f"it cannot be asked about by its transaction: {status}")
        self._keep(finding)

    # What the steps share.

    def _with_transaction(self, payment: kassa.PaymentRef, raw: str, code: kassa.Elqr | None) -> kassa.PaymentRef:
        """Asks by each number that the transaction may have: only one that the gateway knows is taken."""
        candidates = [(leaf.pointer, leaf.text) for leaf in self._numbers_in("qr_data", raw, "")]
        # Nothing is taken from a code whose amount the payer may change: nobody could say what was paid.
        if code is not None and code.amount_editable is not True:
            tags = {
                "32.11": code.transaction,
                "32.10": code.recipient,
                "33.00": code.merchant_id,
                "34": code.comment,
            }
            candidates += [(f"elqr:{tag}", text) for tag, text in tags.items() if text]
        with self._gateway() as gateway:
            unknown = _tried(lambda: gateway.qr_status(kassa.new_order_number()))
        # A gateway that answers about anything proves no number.
        for place, number in candidates if isinstance(unknown, kassa.PaymentError) else ():
            answer = self._ask("qr_status", _qr_status(number), Known())
            step = "QR code: which number is its transaction?"
            if self._is_one(step, "qr_status", place, answer, "its transaction", Known()):
                self.proposal.put("qr_data", "transaction_id", place)
                return replace(payment, transaction_id=number)
        return payment

    def _with_number(
        self, endpoint: str, payment: kassa.PaymentRef, numbers: list[Leaf], known: Known
    ) -> kassa.PaymentRef:
        """The same for the gateway's own number of a payment."""
        if payment.gateway_number is not None or self.answers_about_anything:
            return payment
        for leaf in numbers:
            answer = self._ask("payment_status", _payment_status(leaf.text), known)
            step = "which number is the gateway's?"
            known_here = replace(known, addresses=(leaf.text,))
            if self._is_one(step, "payment_status", leaf.pointer, answer, "the gateway's number", known_here):
                self.proposal.put(endpoint, "gateway_number", leaf.pointer)
                return replace(payment, gateway_number=leaf.text)
        return payment

    def _is_one(
        self,
        step: str,
        endpoint: str,
        place: str,
        answer: kassa.StatusReport | kassa.PaymentError,
        what: str,
        known: Known,
    ) -> bool:
        """A question that may well be about nothing: what is wrong with its answer says nothing."""
        finding = self._look(step, endpoint, f"the status of what stands at {place}", answer, Known())
        is_one = isinstance(answer, kassa.StatusReport)
        if isinstance(answer, kassa.StatusReport) and known.order_number is not None:
            # A report of another payment would not make it this one's.
            is_own = answer.order_number in (None, known.order_number, *known.addresses)
            is_one = is_own and (answer.amount is None or answer.amount in known.amounts)
        if not isinstance(answer, kassa.StatusReport):
            finding.notes, finding.problems = finding.notes + finding.problems, []
        if is_one:
            finding.problems.append(f"{what} stands at {place}, which the given dialect does not read")
        self._keep(finding)
        return is_one

    def _statuses(self, step: str, payment: kassa.PaymentRef, known: Known) -> bool:
        """Asks by each number of the payment, and by the gateway's in both forms of the question."""
        is_found = False
        order, provider, number = payment.order_number, payment.provider, payment.gateway_number
        if order is not None and provider is not None:
            answer = self._ask("provider_status", lambda gateway: gateway.provider_status(order, provider), known)
            is_found = self._status(step, "provider_status", "by the merchant's order number", answer, payment, known)
        forms: dict[str, bool] = {}
        if number is not None:
            self._ask("payment_status", lambda gateway: gateway.payment_status(number), known)
            for form in kassa.StatusQueryForm:
                with self._gateway(form=form) as gateway:
                    answer = _tried(gateway.payment_status, number)
                request = f"by the gateway's number {number}, as {form.value}"
                forms[form.value] = self._status(step, "payment_status", request, answer, payment, known)
        if forms == {"json_body": False, "query_string": True}:
            self._problem(step, "payment_status", "it answers only as query_string: set status_query")
        elif forms and not any(forms.values()) and is_found:
            self._problem(step, "payment_status", "it does not answer by the gateway's number, in neither form")
        is_found = is_found or any(forms.values())
        if not is_found:
            self._problem(step, "payment_status", "there is no number by which the gateway knows the payment")
        return is_found

    def _status(
        self,
        step: str,
        endpoint: str,
        request: str,
        answer: kassa.StatusReport | kassa.PaymentError,
        payment: kassa.PaymentRef,
        known: Known,
    ) -> bool:
        finding = self._look(step, endpoint, request, answer, known)
        if isinstance(answer, kassa.StatusReport):
            own = (None, payment.order_number, payment.gateway_number)
            if answer.order_number not in own and not self.proposal.takes_any_number(endpoint):
                finding.problems.append(
                    f"it names the number {answer.order_number}, which is none of the payment's own: where the gateway has "
                    "such numbers, set numbers to any for this endpoint"
                )
            if answer.amount is None:
                finding.notes.append("it names no amount, so none is compared")
            elif payment.amount is not None and answer.amount != payment.amount:
                finding.problems.append("it names another amount than was asked for")
        self._keep(finding)
        return isinstance(answer, kassa.StatusReport)

    def _follow(self, step: str, made: Made, payment: kassa.PaymentRef, *, must_end: bool) -> None:
        """Asks until the payment has ended, or for as long as the plan says."""
        end = time.monotonic() + self.plan.wait
        while True:
            with self._gateway() as gateway:
                verdict = _tried(gateway.check, payment)
            may_change = isinstance(verdict, kassa.Open | kassa.Unavailable)
            if not must_end or not may_change or time.monotonic() + PAUSE > end:
                break
            time.sleep(PAUSE)
        finding = Finding(step, "check", f"the verdict on {payment}", str(verdict))
        match verdict:
            case kassa.Charged(compared=compared):
                finding.answer = f"charged; compared: {', '.join(compared) or 'none'}"
            case kassa.Rejected():
                finding.answer = "rejected"
            case kassa.Open(report=report):
                finding.answer = f"open: {report.status}"
                if must_end:
                    finding.problems.append(
                        f"it has not ended: {report.status} is in none of the lists of words. Look into the gateway's "
                        "dashboard: if the payment is paid there, run again with --charged-word, if it is rejected, with "
                        "--rejected-word"
                    )
                else:
                    finding.notes.append("nobody confirmed it, so it stays open")
            case kassa.Contradicted(fields=names):
                finding.answer = f"contradicted in {', '.join(names)}"
                finding.problems.append("what the gateway reports contradicts what was asked for")
            case kassa.Unverifiable(why=why):
                finding.answer = f"unverifiable: {why}"
                finding.problems.append(f"nothing is proved: {why}")
            case _:
                finding.problems.append("the gateway does not say what became of the payment")
        if not isinstance(verdict, kassa.PaymentError):
            finding.raw = None if verdict.report is None else verdict.report.raw
            self._note(made, verdict)
        self._keep(finding)

    def _note(self, made: Made, verdict: kassa.Verdict) -> None:
        made.payment = verdict.payment
        match verdict:
            case kassa.Charged():
                made.state, made.is_known = "charged: the test money was taken", True
            case kassa.Rejected():
                made.state = "rejected: no money was taken"
            case kassa.Open():
                made.state = "OPEN: the gateway has not ended it"
                # Where it answers about anything, an open payment proves nothing.
                made.is_known = made.is_known or not self.answers_about_anything
            case _:
                made.state = f"OPEN: {verdict.kind}"

    def _look(self, step: str, endpoint: str, request: str, answer: object, known: Known) -> Finding:
        """Shows a reply beside what the given dialect reads in it, and learns from it."""
        error = answer if isinstance(answer, kassa.PaymentError) else None
        raw: str | None = error.body if error is not None else getattr(answer, "raw", None)
        finding = Finding(step, endpoint, request, _described(answer), raw)
        is_unclear = isinstance(error, kassa.OutcomeUnknown | kassa.Unexpected)
        if not (raw or "").strip():
            finding.raw = None
            if is_unclear:
                finding.problems.append("no reply came, or an empty one")
            return finding
        assert raw is not None  # noqa: S101 - for the type checkers
        read = self.given.explain(endpoint, raw)
        values = {found.name: found.value for found in read.fields}
        is_query = endpoint.endswith("_status")
        if is_unclear and read.problem is not None:
            finding.problems.append(f"{NO_ANSWER}: {read.problem}")
        if error is None or is_unclear:
            missing = (name for name in NEEDED.get(endpoint, ()) if name not in values)
            finding.problems.extend(f"{MISSING} {name}" for name in missing)
        if "code" in values and read.code_means is None and not is_query:
            is_no = error is not None and not is_unclear
            told = f"code {values['code']} is in no list of the given dialect"
            (finding.notes if is_no else finding.problems).append(told)
        if error is None or 200 <= (error.http_status or 0) < 300:
            self.learned += self.proposal.learn(endpoint, raw, known)
        finding.problems += self.learned
        self.learned = []
        means = self.proposal.dialect.explain(endpoint, raw).status_means
        if is_query and means not in (None, "open", read.status_means):
            finding.problems.append(f"the given dialect does not know that its status means {means}")
        finding.fields = [f"{found.name} = {found.value[:400]} at {found.pointer!r}" for found in read.fields]
        finding.unread = list(read.unread)
        return finding

    def _ask(
        self, endpoint: str, ask: Callable[[kassa.Gateway], kassa.StatusReport], known: Known
    ) -> kassa.StatusReport | kassa.PaymentError:
        """A question that was not understood is asked once more where its reply taught how to read it."""
        with self._gateway() as gateway:
            answer = _tried(lambda: ask(gateway))
        if isinstance(answer, kassa.Unexpected) and 200 <= (answer.http_status or 0) < 300 and answer.body:
            learned = self.proposal.learn(endpoint, answer.body, known)
            self.learned += learned
            if learned:
                with self._gateway() as gateway:
                    return _tried(lambda: ask(gateway))
        return answer

    def _accept_made(self, endpoint: str, wanted: str, raw: str | None, made: Made) -> None:
        if raw and self.proposal.found(endpoint, raw, wanted) is not None:
            made.is_known = True
        self._accept_code(endpoint, raw or "", made)

    def _accept_code(self, endpoint: str, raw: str, made: Made) -> None:
        """Lists the code of a reply as a success, where the gateway knows the payment, so that the request has succeeded."""
        code = self.proposal.found(endpoint, raw, "code") if raw and made.is_known else None
        if code is not None and self.proposal.dialect.explain(endpoint, raw).code_means is None:
            self.proposal.put(endpoint, "success_codes", code)

    def _numbers_in(self, endpoint: str, raw: str, order: str) -> list[Leaf]:
        """What a reply holds beside what is read, and looks like a number of the gateway's."""
        if not raw:
            return []
        unread = set(self.proposal.dialect.explain(endpoint, raw).unread)
        numbers = [
            leaf
            for leaf in leaves(raw)
            if leaf.pointer in unread and leaf.text != order and NUMBER.fullmatch(leaf.text)
        ]
        return numbers[:MOST_NUMBERS]

    def _known(self, order: str | None) -> Known:
        addresses = (self.plan.callback_url, self.plan.return_url)
        return Known(order, (Decimal(self.plan.amount),), addresses)

    def _begin(self, what: str, payment: kassa.PaymentRef) -> Made:
        """Before it is sent: a run that is broken off names it, too."""
        self.made.append(Made(what, payment))
        return self.made[-1]

    def _begin_qr(self, what: str) -> tuple[kassa.QrPayment, Made] | None:
        request = kassa.QrPayment(sum_tyiyn=self.plan.amount * 100, callback_url=self.plan.callback_url)
        if not self._may(f"Create a {what} of {request.sum_tyiyn} tyiyn? No money moves by it."):
            return None
        return request, self._begin(what, request.payment_ref())

    def _created(self, made: Made, finding: Finding, answer: object, *, may_fail: bool) -> kassa.PaymentRef | None:
        """Keeps the finding of a request that creates something; None where there is nothing to go on with."""
        payment: kassa.PaymentRef | None = None
        match answer:
            case kassa.OutcomeUnknown():
                payment, made.state = answer.payment, "OPEN: what came of it is not known"
            case kassa.Unexpected():
                made.state = "OPEN: it may have been made; no money moves by it alone"
                finding.problems.append(f"its reply is not understood: {answer}")
            case kassa.PaymentError():
                made.state = "not made: no money moved"
                (finding.notes if may_fail else finding.problems).append(f"nothing was made: {answer}")
            case _:
                payment, made.state = getattr(answer, "payment", None), "OPEN: it was accepted"
        if payment is not None:
            made.payment = payment
        self._keep(finding)
        return payment

    def _problem(self, step: str, endpoint: str, problem: str) -> None:
        self._keep(Finding(step, endpoint, "as above", "as above", problems=[problem]))

    def _keep(self, finding: Finding) -> None:
        clean = self._scrubbed
        kept = Finding(
            finding.step,
            finding.endpoint,
            clean(finding.request),
            clean(finding.answer),
            None if finding.raw is None else clean(finding.raw),
            [clean(text) for text in finding.fields],
            finding.unread,
            [clean(text) for text in finding.problems],
            [clean(text) for text in finding.notes],
        )
        block("")
        line(f"== {kept.step} ({kept.endpoint})")
        if kept.raw is not None:
            line(f"   reply     {kept.raw[:400]}")
        for name, text in kept.lines():
            line(f"   {name:<9} {text}")
        self.findings.append(kept)

    def _scrubbed(self, text: str) -> str:
        """The text without phones, cards and credentials: digits become stars one by one."""
        numbers = [re.sub(r"\D", "", number) for number in (*self.plan.cards, self.plan.phone)]
        patterns = [r"[ ()-]*".join(number) for number in (*numbers, numbers[-1][-9:]) if len(number) >= 9]
        for pattern in (*patterns, r"996(?:[ ()-]*\d){9}"):
            text = re.sub(pattern, lambda found: re.sub(r"\d", "*", found[0]), text)
        for word in (os.environ.get("KASSA_LOGIN", ""), os.environ.get("KASSA_PASSWORD", "")):
            if len(word) >= 4:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "***", text)
        return text


def _qr_status(transaction_id: str) -> Callable[[kassa.Gateway], kassa.StatusReport]:
    return lambda gateway: gateway.qr_status(transaction_id)


def _payment_status(number: str) -> Callable[[kassa.Gateway], kassa.StatusReport]:
    return lambda gateway: gateway.payment_status(number)


def _tried(ask: Callable[..., T], *given: object) -> T | kassa.PaymentError:
    try:
        return ask(*given)
    except kassa.PaymentError as problem:
        return problem


def _described(answer: object) -> str:
    match answer:
        case kassa.PaymentError():
            return str(answer)
        case kassa.StatusReport(status=status, amount=amount, order_number=number):
            return f"{status}, amount {amount}, number {number}"
        case kassa.QrImage(png=png):
            return f"a PNG of {len(png)} bytes"
        case _:
            code = getattr(answer, "code", None)
            return "accepted" if code is None else f"accepted, code {code}"


def _given_dialect() -> kassa.Dialect:
    given = os.environ.get("KASSA_DIALECT")
    if not given:
        return kassa.Dialect()
    if given in kassa.Dialect.names():
        return kassa.Dialect.named(given)
    return kassa.Dialect.from_json(Path(given).read_text(encoding="utf-8-sig"))


def _proxy(given: str | None) -> kassa.Proxy:
    if not given:
        return kassa.Proxy.direct()
    return kassa.Proxy.environment() if given == "environment" else kassa.Proxy.url(given)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
