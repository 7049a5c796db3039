"""How a watch and a recovery poll."""

from datetime import timedelta

from . import _check
from ._codec import record
from ._dataclass import dataclass


@record("PollPolicy")
@dataclass(frozen=True, slots=True, init=False)
class PollPolicy:
    """The polling policy of a watch. Each time is given as a `timedelta` or as a number of seconds, longer than zero, and
    read as a `timedelta`.

    >>> PollPolicy(interval=2.5).interval
    datetime.timedelta(seconds=2, microseconds=500000)
    """

    interval: timedelta = timedelta(seconds=10)
    """The time from the start of one query to the start of the next."""
    deadline: timedelta = timedelta(minutes=20)
    """The time limit while the payment is pending, from the first query."""

    def __init__(
        self,
        interval: timedelta | float = timedelta(seconds=10),
        deadline: timedelta | float = timedelta(minutes=20),
    ) -> None:
        # Written by hand, because what is given and what is read have different types.
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "deadline", deadline)
        self.__post_init__()

    def __post_init__(self) -> None:
        for name in ("interval", "deadline"):
            object.__setattr__(self, name, _check.positive_duration(name, getattr(self, name)))


@record("RecoveryPolicy")
@dataclass(frozen=True, slots=True, init=False)
class RecoveryPolicy:
    """The polling policy of ``recover``. Each time is given as a `timedelta` or as a number of seconds, longer than zero, and
    read as a `timedelta`.

    >>> once_at_a_start = RecoveryPolicy(deadline=30)
    >>> once_at_a_start.interval, once_at_a_start.at_once
    (datetime.timedelta(seconds=10), 8)
    """

    interval: timedelta = timedelta(seconds=10)
    """The time from the start of one query of a payment to the start of the next, while the payment is younger than 20
    minutes. Older payments are queried less often: until 2 hours of age a sixth as often, until a day a sixtieth, until three
    days every 360th time, then daily."""
    deadline: timedelta = timedelta(minutes=20)
    """The time limit. Without `follow_new`, the time in which your code handles a result does not count."""
    at_once: int = 8
    """How many payments are queried concurrently."""
    follow_new: bool = False
    """Whether it also polls payments that begin later, for a back-end worker: it reads the journal again after each interval
    and runs until its deadline, even if nothing is left. **Then only the recovery must deliver**: code that created such a
    payment and also watches it would deliver it twice."""

    def __init__(
        self,
        interval: timedelta | float = timedelta(seconds=10),
        deadline: timedelta | float = timedelta(minutes=20),
        at_once: int = 8,
        follow_new: bool = False,
    ) -> None:
        # Written by hand, because what is given and what is read have different types.
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "deadline", deadline)
        object.__setattr__(self, "at_once", at_once)
        object.__setattr__(self, "follow_new", follow_new)
        self.__post_init__()

    def __post_init__(self) -> None:
        for name in ("interval", "deadline"):
            object.__setattr__(self, name, _check.positive_duration(name, getattr(self, name)))
        _check.count("at_once", self.at_once)
        _check.flag("follow_new", self.follow_new)
