"""Findings of requests, and the payments that the probe created."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import kassa


@dataclass
class Finding:
    """One request to the gateway, its response, and what the dialect reads in it."""

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
        """The lines to show, each with its label."""
        yield "sent", self.request
        yield "answer", self.answer
        yield from (("reads", text) for text in self.fields)
        if self.unread:
            yield "not read", " ".join(self.unread)
        yield from (("note", text) for text in self.notes)
        yield from (("PROBLEM", text) for text in self.problems)

    def mapped(self, change: Callable[[str], str]) -> "Finding":
        """A copy with every text changed."""
        return replace(
            self,
            request=change(self.request),
            answer=change(self.answer),
            raw=None if self.raw is None else change(self.raw),
            fields=[change(text) for text in self.fields],
            unread=[change(text) for text in self.unread],
            problems=[change(text) for text in self.problems],
            notes=[change(text) for text in self.notes],
        )

    def excuse(self) -> None:
        """Without problems, for a query whose number may not exist: a bad response is expected."""
        self.notes, self.problems = self.notes + self.problems, []


@dataclass
class CreatedPayment:
    """A payment, a pay-form or a code, and what happened to its money."""

    what: str
    payment: kassa.PaymentRef
    state: str = "PENDING: it was sent"
    is_known: bool = False
    """The gateway reports the payment, or its response had what was requested: the request succeeded."""

    @property
    def is_charged(self) -> bool:
        """Whether the gateway reports that the money was taken."""
        return self.state.startswith("charged")

    @property
    def is_rejected(self) -> bool:
        """Whether the gateway reports that the payment ended without taking money."""
        return self.state.startswith("rejected")

    def text(self) -> str:
        """One line: what it is, its numbers, and what happened to the money."""
        numbers = {
            "order number": self.payment.order_number,
            "gateway number": self.payment.gateway_number,
            "transaction": self.payment.transaction_id,
        }
        named = ", ".join(f"{name} {number}" for name, number in numbers.items() if number is not None)
        return f"{self.what} ({named or 'no number'}): {self.state}"


def described(answer: object) -> str:
    """The SDK's result for a response, in words."""
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
