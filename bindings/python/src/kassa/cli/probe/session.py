"""What the steps share: the gateway, the growing dialect, and the findings so far."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import kassa

from ..output import block, line
from ..proposal import Known, Leaf, Proposal, is_number, leaves, same_word
from .finding import CreatedPayment, Finding, described
from .plan import Plan
from .scrub import Scrubber

T = TypeVar("T")

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
"""What a response of an endpoint must have to be of use."""

MOST_NUMBERS = 6
MOST_SHOWN = 400


class Session:
    """Responses are shown as the given dialect reads them, and problems are those of that dialect. What the responses teach in
    addition is used at once, so that one run gets as far as possible."""

    def __init__(self, plan: Plan, given: kassa.Dialect) -> None:
        self.plan = plan
        self.given: kassa.Dialect = given
        self.proposal: Proposal = Proposal(given)
        for name, words in (("charged_words", plan.charged_words), ("rejected_words", plan.rejected_words)):
            for word in words:
                if not self.proposal.has_word(name, word):
                    self.proposal.put_word(name, word)
        self.findings: list[Finding] = []
        self.made: list[CreatedPayment] = []
        self.learned: list[str] = []
        self.skipped: list[str] = []
        self.unopened: list[str] = []
        self.unlisted: set[str] = set()
        self.answers_about_anything: bool = False
        # Words of the given dialect that were seen before money can have moved.
        self.distrusted: set[str] = set()
        secrets = (os.environ.get("KASSA_LOGIN", ""), os.environ.get("KASSA_PASSWORD", ""))
        self.scrubbed: Callable[[str], str] = Scrubber(plan, secrets).text

    @contextmanager
    def gateway(
        self, proposal: Proposal | None = None, form: kassa.StatusQueryForm = kassa.StatusQueryForm.JSON_BODY
    ) -> Generator[kassa.Gateway, None, None]:
        """A gateway from the environment, with the dialect as known so far."""
        certificates = os.environ.get("KASSA_ROOT_CERTIFICATES")
        hosts = os.environ.get("KASSA_PLAIN_HTTP_HOSTS", "")
        with kassa.Gateway(
            os.environ["KASSA_URL"],
            kassa.Credentials(os.environ["KASSA_LOGIN"], os.environ["KASSA_PASSWORD"]),
            dialect=(proposal or self.proposal).dialect,
            status_query=form,
            proxy=_proxy(os.environ.get("KASSA_PROXY")),
            extra_root_certificates=[Path(certificates).read_text(encoding="utf-8-sig")] if certificates else [],
            plain_http_hosts=[host for host in map(str.strip, hosts.split(",")) if host],
        ) as gateway:
            yield gateway

    def may(self, question: str) -> bool:
        """Asks for permission to create or confirm a payment."""
        block("")
        line(f"{self.scrubbed(question)} [{'yes, by --yes' if self.plan.says_yes else 'y or N'}]")
        return self.plan.says_yes or sys.stdin.readline().strip().lower() in ("y", "yes")

    def visit(self, of: str, task: str) -> bool:
        """Waits until a person has opened a page, and records a page that was not opened."""
        block("")
        line(task)
        was_opened = not self.plan.says_yes and sys.stdin.readline() != ""
        if not was_opened:
            self.unopened.append(of)
        return was_opened

    def skip(self, what: str) -> None:
        """Records that a step did not run to its end."""
        line(f"Skipped: {what}")
        self.skipped.append(what)

    def look(
        self, step: str, endpoint: str, request: str, answer: object, known: Known, *, teaches: bool = True
    ) -> Finding:
        """Shows a response next to what the given dialect reads in it, and learns from it unless it is about nothing."""
        error = answer if isinstance(answer, kassa.PaymentError) else None
        raw: str | None = error.body if error is not None else getattr(answer, "raw", None)
        finding = Finding(step, endpoint, request, described(answer), raw)
        is_unclear = isinstance(error, kassa.OutcomeUnknown | kassa.Unexpected)
        if raw is None or not raw.strip():
            finding.raw = None
            if is_unclear:
                finding.problems.append("no response came, or an empty one")
            return finding
        read = self.given.explain(endpoint, raw)
        values = {found.name: found.value for found in read.fields}
        is_query = endpoint.endswith("_status")
        if is_unclear and read.problem is not None:
            finding.problems.append(f"it is not an answer in the given dialect: {read.problem}")
        if error is None or is_unclear:
            missing = (name for name in NEEDED.get(endpoint, ()) if name not in values)
            finding.problems.extend(f"the dialect finds no {name}" for name in missing)
        if "code" in values and read.code_means is None and not is_query:
            is_no = error is not None and not is_unclear
            told = f"code {values['code']} is in no list of the given dialect"
            if is_no:
                self.unlisted.add(f"{values['code']} of {endpoint}")
            (finding.notes if is_no else finding.problems).append(told)
        if teaches and (error is None or 200 <= (error.http_status or 0) < 300):
            self.learned += self.proposal.learn(endpoint, raw, known)
        finding.problems += self.learned
        self.learned = []
        means = self.proposal.dialect.explain(endpoint, raw).status_means
        if is_query and means not in (None, "pending", read.status_means):
            finding.problems.append(f"the given dialect does not know that its status means {means}")
        finding.fields = [f"{found.name} = {found.value[:MOST_SHOWN]} at {found.pointer!r}" for found in read.fields]
        finding.unread = list(read.unread)
        return finding

    def query(
        self, endpoint: str, query: Callable[[kassa.Gateway], kassa.StatusReport], known: Known
    ) -> kassa.StatusReport | kassa.PaymentError:
        """Sends a query once more if its response was not understood and taught how to read it."""
        with self.gateway() as gateway:
            answer = tried(query, gateway)
        if isinstance(answer, kassa.Unexpected) and 200 <= (answer.http_status or 0) < 300 and answer.body:
            learned = self.proposal.learn(endpoint, answer.body, known)
            self.learned += learned
            if learned:
                with self.gateway() as gateway:
                    return tried(query, gateway)
        return answer

    def forget(self, before: Proposal) -> None:
        """Takes back what was learned from a response that turned out to be about nothing."""
        self.learned = []
        self.proposal = before

    def distrust(self, endpoint: str, finding: Finding) -> bool:
        """A status word that is seen before money can have moved does not mean charged: one that a person named is withdrawn,
        and one of the given dialect is a mismatch. Neither is proposed, in no list. True for the latter."""
        raw = finding.raw or ""
        word = self.proposal.found(endpoint, raw, "status") if raw else None
        if word is None or self.proposal.dialect.explain(endpoint, raw).status_means != "charged":
            return False
        is_named = any(same_word(named, word) for named in self.plan.charged_words)
        is_given = Proposal(self.given).has_word_at(endpoint, "charged_words", word)
        if is_named and not is_given and self.proposal.withdraw_word("charged_words", word):
            finding.problems.append(
                f'it says "{word}" before the payment can be paid, so this word does not mean charged: it is not proposed'
            )
            return False
        finding.problems.append(
            f'it says "{word}" before the payment can be paid, and the given dialect reads that as charged: ask the gateway '
            "what the word means"
        )
        self.distrusted.add(word)
        return True

    def proposed(self) -> Proposal:
        """What was learned, without the words of the given dialect that turned out not to mean charged. They count until the
        end of the run, so that no payment is confirmed that the given dialect reads as charged."""
        proposed = self.proposal.copied()
        for word in sorted(self.distrusted):
            proposed.withdraw_word("charged_words", word)
        return proposed

    def accept_made(self, endpoint: str, wanted: str, raw: str, made: CreatedPayment) -> None:
        """Lists the code of a response without a status as a success if the response has what was requested."""
        if raw and self.proposal.found(endpoint, raw, wanted) is not None:
            made.is_known = True
        self.accept_code(endpoint, raw, made)

    def accept_code(self, endpoint: str, raw: str, made: CreatedPayment) -> None:
        """Lists the code of a response as a success if the gateway knows the payment, so that the request succeeded."""
        code = self.proposal.found(endpoint, raw, "code") if raw and made.is_known else None
        if code is not None and self.proposal.dialect.explain(endpoint, raw).code_means is None:
            self.proposal.put_success_code(endpoint, code)

    def numbers_in(self, endpoint: str, raw: str, order: str) -> list[Leaf]:
        """Unread values of a response that look like a number of the gateway."""
        if not raw:
            return []
        unread = set(self.proposal.dialect.explain(endpoint, raw).unread)
        numbers = [
            leaf for leaf in leaves(raw) if leaf.pointer in unread and leaf.text != order and is_number(leaf.text)
        ]
        return numbers[:MOST_NUMBERS]

    def known(self, order: str | None) -> Known:
        """The values that a request sets for its payment."""
        return Known(order, (Decimal(self.plan.amount),), (self.plan.callback_url, self.plan.return_url))

    def begin(self, what: str, payment: kassa.PaymentRef) -> CreatedPayment:
        """Records it before sending, so that an interrupted run names it, too."""
        self.made.append(CreatedPayment(what, payment))
        return self.made[-1]

    def created(
        self, made: CreatedPayment, finding: Finding, answer: object, *, may_fail: bool
    ) -> kassa.PaymentRef | None:
        """Keeps the finding of a request that creates something; None if there is nothing to go on with."""
        payment: kassa.PaymentRef | None = None
        match answer:
            case kassa.OutcomeUnknown():
                payment, made.state = answer.payment, "PENDING: its outcome is unknown"
            case kassa.Unexpected():
                made.state = "PENDING: it may have been made; no money moves by it alone"
                finding.problems.append(f"its response is not understood: {answer}")
            case kassa.PaymentError():
                made.state = "not made: no money moved"
                (finding.notes if may_fail else finding.problems).append(f"nothing was made: {answer}")
            case _:
                payment, made.state = getattr(answer, "payment", None), "PENDING: it was accepted"
        if payment is not None:
            made.payment = payment
        self.keep(finding)
        return payment

    def note(self, made: CreatedPayment, verdict: kassa.Verdict) -> None:
        """Takes over the gateway's last report of a payment."""
        made.payment = verdict.payment
        match verdict:
            case kassa.Charged():
                made.state, made.is_known = "charged: the test money was taken", True
            case kassa.Rejected():
                made.state = "rejected: no money was taken"
            case kassa.Pending():
                made.state = "PENDING: the gateway has not ended it"
                # If the gateway answers about any number, a pending payment proves nothing.
                made.is_known = made.is_known or not self.answers_about_anything
            case _:
                made.state = f"PENDING: {verdict.kind}"

    def problem(self, step: str, endpoint: str, problem: str) -> None:
        """Records a problem that is not of a single response."""
        self.keep(Finding(step, endpoint, "as above", "as above", problems=[problem]))

    def keep(self, finding: Finding) -> None:
        """Shows a finding, and records it without secrets."""
        kept = finding.mapped(self.scrubbed)
        block("")
        line(f"== {kept.step} ({kept.endpoint})")
        if kept.raw is not None:
            line(f"   response  {kept.raw[:MOST_SHOWN]}{'…' if len(kept.raw) > MOST_SHOWN else ''}")
        for name, text in kept.lines():
            line(f"   {name:<9} {text}")
        self.findings.append(kept)


def tried(call: Callable[..., T], *given: object) -> T | kassa.PaymentError:
    """The answer, or the error in its place."""
    try:
        return call(*given)
    except kassa.PaymentError as problem:
        return problem


def _proxy(given: str | None) -> kassa.Proxy:
    if not given:
        return kassa.Proxy.direct()
    return kassa.Proxy.environment() if given == "environment" else kassa.Proxy.url(given)
