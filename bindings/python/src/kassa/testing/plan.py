"""What happens to the fake gateway's payments automatically."""

from datetime import timedelta
from typing import ClassVar, Literal, get_args

from .. import _check
from .._codec import write_as
from .._dataclass import dataclass

_Kind = Literal["stay_pending", "charge", "reject"]


@dataclass(frozen=True, slots=True, repr=False)
class FakePlan:
    """What happens automatically to payments created from now on.

    >>> FakePlan.charge(after=45)
    FakePlan.charge(after=datetime.timedelta(seconds=45))
    """

    kind: _Kind
    """What happens to them."""
    after: timedelta | None = None
    """How long after their creation, if they end."""

    STAY_PENDING: ClassVar["FakePlan"]
    """They stay open until the test acts as the payer. A mobile-bank or MegaPay payment is paid by its
    confirmation."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(_Kind) or (self.kind == "stay_pending") != (self.after is None):
            raise ValueError("a plan is stay_pending, or charge or reject with a time")
        object.__setattr__(self, "after", _check.optional_duration("after", self.after))

    @classmethod
    def charge(cls, after: timedelta | float = 0) -> "FakePlan":
        """Their payers pay, after that time (a `timedelta`, or a number of seconds) on the fake gateway's clock. A
        mobile-bank or MegaPay payment is still paid by its confirmation."""
        return cls("charge", _check.duration("after", after))

    @classmethod
    def reject(cls, after: timedelta | float = 0) -> "FakePlan":
        """Their payers decline, after that time (a `timedelta`, or a number of seconds) on the fake gateway's clock. Not those
        of mobile-bank and MegaPay payments."""
        return cls("reject", _check.duration("after", after))

    def __repr__(self) -> str:
        return "FakePlan.STAY_PENDING" if self.after is None else f"FakePlan.{self.kind}(after={self.after!r})"


FakePlan.STAY_PENDING = FakePlan("stay_pending")


write_as("FakePlan", lambda plan: ("StayPending",) if plan.after is None else (plan.kind.capitalize(), plan.after))
