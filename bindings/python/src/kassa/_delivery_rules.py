"""What is delivered of a journal, and when: the rules that the blocking and the async gateway share."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import kassa

from . import _check
from .delivery import DeliverySummary
from .journal_entry import JournalEntry, JournalState, Unfinished, Unreadable
from .policies import RecoveryPolicy
from .settings import is_closed

log = logging.getLogger("kassa")

Result: TypeAlias = JournalEntry | Unreadable
Handler: TypeAlias = Callable[[Any], object]

ONE_RECOVERY = timedelta(days=1)
"""After which time the journal is read anew."""
FIRST_PAUSE = 1.0
LONGEST_PAUSE_OF_DELIVERY = 300.0
LONGEST_PAUSE_OF_RECOVERY = 60.0


class Task:
    """A result that is to be handled, at the first try or again."""

    __slots__ = ("attempts", "due", "is_handled", "is_reported", "result")

    def __init__(self, result: Result) -> None:
        self.result = result
        self.attempts = 0
        self.due = 0.0
        self.is_handled = False
        """The handler has returned: only the journal's mark is missing."""
        self.is_reported = True
        """By the recovery that runs. Only while that has the journal's lock may this process deliver."""

    def may_be_handled(self) -> bool:
        return self.is_reported or self.is_handled or not is_charged(self.result)


class Worker:
    """What is to be handled, and when. It never waits."""

    def __init__(
        self,
        gateway: kassa.Gateway | kassa.AsyncGateway,
        policy: RecoveryPolicy,
        deliver: Handler,
        otherwise: Handler | None,
    ) -> None:
        # Raises now if the gateway cannot recover. No query is sent.
        gateway.recover(policy).cancel()
        for name, handler in (("deliver", deliver), ("otherwise", otherwise)):
            if not callable(handler) and (handler is not None or name == "deliver"):
                raise _check.wrong(name, "a function", handler)
        self.gateway: Any = gateway
        self.policy = policy
        self.journal: Any = gateway.journal
        self.delivered = 0
        self._deliver = deliver
        self._otherwise = otherwise
        self._tasks: dict[str, Task] = {}
        self._reported: dict[str, str] = {}
        """The last handled result of each entry that needs a person: it is reported repeatedly, a rejection only once."""

    def is_closed(self) -> bool:
        return is_closed(self.gateway)

    def add(self, result: Result) -> None:
        """Adds a result of the recovery. The next recovery may report a result that is still being retried. Charged is final
        for a payment, even if its file cannot be read at the moment.
        """
        known = self._tasks.get(result.id)
        if known is not None and is_charged(known.result):
            known.is_reported |= is_charged(result)
        elif is_charged(result) or is_rejected(result):
            self._tasks[result.id] = Task(result)
        elif self._reported.get(result.id) != what(result):
            self._reported[result.id] = what(result)
            self._tasks[result.id] = Task(result)

    def delivered_tasks(self) -> list[Task]:
        """Delivered payments whose entries are not finished yet. They are finished before another process may deliver."""
        return [task for task in self._tasks.values() if task.is_handled]

    def recovery_ended(self) -> None:
        """Another process may deliver from now on. Charged payments are reported again; results that this recovery did not
        report were finished elsewhere.
        """
        self._tasks = {id_: task for id_, task in self._tasks.items() if task.may_be_handled()}
        for task in self._tasks.values():
            task.is_reported = False

    def due(self) -> list[Task]:
        """What is to be handled now: first what has not failed yet."""
        now = time.monotonic()
        due = [task for task in self._tasks.values() if task.may_be_handled() and task.due <= now]
        return sorted(due, key=lambda task: (task.attempts > 0, task.due))

    def until_next(self, otherwise: float) -> float:
        now = time.monotonic()
        waiting = (task.due - now for task in self._tasks.values() if task.may_be_handled())
        return max(0.0, min(waiting, default=otherwise))

    def call(self, task: Task) -> object:
        """Calls the handler; what it returns may have to be awaited."""
        if is_charged(task.result):
            return self._deliver(task.result)
        if self._otherwise is not None:
            return self._otherwise(task.result)
        reason = f": {task.result.reason}" if isinstance(task.result, JournalEntry) and task.result.reason else ""
        log.log(logging.INFO if is_rejected(task.result) else logging.WARNING, "%s%s", what(task.result), reason)
        return None

    def is_settled(self, task: Task) -> bool:
        """Whether the result is out of date: a person or another program has finished it, or it was charged after all."""
        if not isinstance(task.result, JournalEntry) or task.is_handled:
            return False
        entry = self.journal.entry(task.result.payment)
        return entry is None or entry.is_finished or (is_charged(entry) and not is_charged(task.result))

    def settled(self, task: Task) -> None:
        log.info("%s: it was finished elsewhere", what(task.result))
        self.forget(task)

    def done(self, task: Task) -> None:
        self.forget(task)
        self.delivered += is_charged(task.result)

    def forget(self, task: Task) -> None:
        if self._tasks.get(task.result.id) is task:
            del self._tasks[task.result.id]

    def failed(self, task: Task, error: BaseException) -> None:
        pause = min(FIRST_PAUSE * 2.0**task.attempts, LONGEST_PAUSE_OF_DELIVERY)
        task.attempts = min(task.attempts + 1, 30)
        task.due = time.monotonic() + pause
        log.warning("%s; again in %g s: %r", problem_of(task), pause, error, exc_info=error)

    def end(self) -> None:
        """Leaves charged payments to the next worker, unless only finishing is missing. Other results would not be reported
        again, so they are handled now; except those that failed before, because a retry may take any time.
        """
        for task in list(self._tasks.values()):
            if not task.is_handled and (is_charged(task.result) or task.attempts):
                self.forget(task)
            task.due = 0.0

    def summary(self, left_open: list[Unfinished] | None) -> DeliverySummary:
        summary = DeliverySummary(self.delivered, None if left_open is None else tuple(left_open))
        log.info("the delivery of payments ended: %s", summary)
        return summary


class SingleRun(Worker):
    """What one recovery reports, each result handled once. What fails is left to the next run."""

    def add_new(self, result: Result) -> Task:
        task = self._tasks[result.id] = Task(result)
        return task

    def failed(self, task: Task, error: BaseException) -> None:
        left = "; it stays unfinished, and the next delivery brings it again" if is_charged(task.result) else ""
        log.warning("%s%s: %r", problem_of(task), left, error, exc_info=error)
        if not task.is_handled:
            self.forget(task)


class Pauses:
    """Backoff between recoveries."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE
        self._began = 0.0

    def begin(self) -> None:
        self._began = time.monotonic()

    def after(self, error: Exception | None) -> float:
        """How long to wait after a recovery that has ended."""
        if error is None or time.monotonic() - self._began > LONGEST_PAUSE_OF_RECOVERY:
            self._next = FIRST_PAUSE
        pause, self._next = self._next, min(2 * self._next, LONGEST_PAUSE_OF_RECOVERY)
        if error is not None:
            log.warning("the recovery ended, and begins again in %g s: %s", pause, error)
        return pause


def is_charged(result: Result) -> bool:
    return isinstance(result, JournalEntry) and result.state is JournalState.CHARGED


def is_rejected(result: Result) -> bool:
    return isinstance(result, JournalEntry) and result.state is JournalState.REJECTED


def problem_of(task: Task) -> str:
    if not is_charged(task.result):
        did = "could not be handled"
    elif task.is_handled:
        did = "was delivered, and could not be finished in the journal"
    else:
        did = "was not delivered"
    return f"{what(task.result)} {did}"


def what(result: Result) -> str:
    """A result in a log line."""
    if isinstance(result, Unreadable):
        return f"the journal's file {result.id} {result.why}"
    order = result.payment.order_number or result.id
    return f"payment {order}{f' ({result.note})' if result.note else ''}, {result.state}"


def policy_of(interval: timedelta | float, at_once: int) -> RecoveryPolicy:
    return RecoveryPolicy(interval, ONE_RECOVERY, at_once, follow_new=True)
