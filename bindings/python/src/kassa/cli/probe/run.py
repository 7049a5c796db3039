"""The run: connects to the gateway, runs the steps in order, and reports the results."""

from __future__ import annotations

from collections.abc import Callable

import kassa

from ..output import block, line
from ..proposal import Known
from . import mbank, pages, qr, status
from .finding import Finding
from .plan import STEPS, CouldNotRun, Plan
from .report import report
from .session import Session, tried

FLOWS: dict[str, Callable[[Session], None]] = {
    "mbank": mbank.play,
    "card": pages.play_cards,
    "pay-form": pages.play_pay_form,
    "qr-image": qr.play_image,
    "qr": qr.play_data,
}


class Probe:
    """Runs the flows of a plan against a test environment."""

    def __init__(self, plan: Plan, given: kassa.Dialect) -> None:
        self.plan = plan
        self.session: Session = Session(plan, given)
        # Steps that ran to their end, without an interrupted one.
        self.played: list[str] = []

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return self.session.findings

    @property
    def is_clean(self) -> bool:
        """Whether no finding has a problem, and no step was skipped."""
        return not any(finding.problems for finding in self.findings) and not self.session.skipped

    def run(self) -> None:
        """Runs the steps in order; raises `CouldNotRun` if nothing could be tried."""
        self._reach()
        if self.plan.status_query is not None:
            status.query(self.session, self.plan.status_query)
            return
        for step in STEPS:
            if step in self.plan.steps:
                FLOWS[step](self.session)
                self.played.append(step)

    def conclude(self) -> None:
        """Reports what happened to the money of each payment, also if the run was interrupted."""
        block("\n== What happened to the money")
        for text in self._money():
            line(text)
        block("")
        for text in self._summary():
            line(text)

    def dialect_file(self) -> str:
        """The dialect that fits, as the text of a file."""
        return self.session.proposed().file()

    def report(self) -> str:
        """The report in Markdown: no credentials, card numbers, phones or one-time passwords."""
        return report(
            self.findings,
            summary=self._summary(),
            money=self._money(),
            advice=[advice.text for advice in self.session.proposed().dialect.advice()],
            dialect=self.session.scrubbed(self.dialect_file()),
        )

    def _money(self) -> list[str]:
        lines = [self.session.scrubbed(made.text()) for made in self.session.made]
        return lines or ["Nothing was created, so no money moved."]

    def _summary(self) -> list[str]:
        """Says that everything was read, or lists what was not."""
        problems = sum(len(finding.problems) for finding in self.findings)
        unread: dict[str, set[str]] = {}
        for finding in self.findings:
            if finding.unread:
                unread.setdefault(finding.endpoint, set()).update(finding.unread)
        left_out = [step for step in STEPS if step not in self.played]
        lines = [f"Problems: {problems}. Something is unread, unknown or contradictory."] if problems else []
        lines += [f"Not read in responses of {name}: {' '.join(sorted(unread[name]))}" for name in sorted(unread)]
        if self.session.unlisted:
            lines.append(f"Codes of refusals in no list: {', '.join(sorted(self.session.unlisted))}")
        lines += [f"Skipped: {what}" for what in self.session.skipped]
        lines += [f"Not run to the end: {', '.join(left_out)}"] if left_out else []
        lines += [f"Nobody opened the page of {what}, so its end was not seen." for what in self.session.unopened]
        if not lines:
            lines = ["Everything was read: nothing is unread, unknown, contradictory or skipped."]
        elif not problems:
            lines.insert(0, "No problems. What was not read or not run:")
        return [self.session.scrubbed(text) for text in lines]

    def _reach(self) -> None:
        """Checks that the gateway is there and takes the credentials, and how it answers about an unknown number."""
        session, number = self.session, kassa.new_order_number()
        with session.gateway() as gateway:
            by_order = tried(gateway.provider_status, number, kassa.Provider.CARDS)
            if isinstance(by_order, kassa.Unauthorized):
                raise CouldNotRun("the gateway does not accept the credentials: nothing was created")
            # A response of another form may still be the gateway's.
            if isinstance(by_order, kassa.Misconfigured | kassa.Unavailable) and not _is_json_object(by_order.body):
                problem = f"the gateway cannot be queried, so nothing was created: {by_order}"
                raise CouldNotRun(session.scrubbed(problem))
            by_number = tried(gateway.payment_status, number)
        for endpoint, answer in (("provider_status", by_order), ("payment_status", by_number)):
            self._unknown_number(endpoint, answer)

    def _unknown_number(self, endpoint: str, answer: kassa.StatusReport | kassa.PaymentError) -> None:
        step, request = "a number that nobody has", "the status of a payment that does not exist"
        finding = self.session.look(step, endpoint, request, answer, Known(), teaches=False)
        # A response about an unknown number says nothing about other responses.
        finding.excuse()
        if isinstance(answer, kassa.StatusReport):
            self.session.answers_about_anything = True
            remark = f"it reports {answer.status} for a payment that does not exist"
            (finding.problems if answer.status.is_final else finding.notes).append(remark)
            self.session.distrust(endpoint, finding)
        self.session.keep(finding)


def _is_json_object(body: str | None) -> bool:
    return (body or "").lstrip().startswith("{")
