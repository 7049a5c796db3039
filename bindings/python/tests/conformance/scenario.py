"""Runs one vector: its steps one after the other, then what it says about the requests and about what was printed."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, cast

import kassa

from . import inputs, journals, operations, printed, sandboxes
from .compare import differences
from .in_python import expected_in_python
from .journals import Folder
from .operations import Came, came
from .server import Received, Server
from .vectors import Vector
from .ways import Started, Way


class Ran:
    """What came of a vector."""

    def __init__(self) -> None:
        self.steps = 0
        self.problems: list[str] = []


def run(vector: Vector, way: Way) -> Ran:
    scenario = Scenario(vector.spec, way)
    try:
        return scenario.run(vector)
    finally:
        # First the sandbox: the server is where its callbacks go.
        if scenario.sandbox is not None:
            sandboxes.give_back(vector.spec["sandbox"], scenario.sandbox)
        scenario.server.stop()
        if scenario.journal is not None:
            scenario.journal.remove()


class Scenario:
    """What the steps of one vector share."""

    def __init__(self, spec: Any, way: Way) -> None:
        self.server = Server(spec.get("responses", []))
        self.sandbox = sandboxes.borrow(spec["sandbox"], spec["config"]) if "sandbox" in spec else None
        self.journal = Folder() if spec.get("journal") else None
        self._kept: dict[str, Any] = {}
        self._spec = spec
        self._way = way
        self._made: Any = None
        self.watch: Any = None
        self.started: tuple[str, Started]
        self._printed = ""

    def run(self, vector: Vector) -> Ran:
        ran = Ran()
        started = time.monotonic()
        for step in vector.steps:
            ran.steps += 1
            brought = self._step(step["do"], self._placed(step.get("input") or {}))
            self._printed += f"{brought.printed}\n"
            if "expect" in step:
                expected = expected_in_python(self._placed(step["expect"]))
                ran.problems += (
                    f"step {ran.steps} ({step['do']}) {found}" for found in differences(expected, brought.result)
                )
            for name, path in step.get("keep", {}).items():
                self._kept[name] = functools.reduce(lambda part, key: part[key], path, brought.result)
        took = (time.monotonic() - started) * 1000
        if took < self._spec.get("took_at_least_ms", 0):
            ran.problems.append(f"took only {took} ms")
        ran.problems += self._request_problems()
        ran.problems += printed.problems(self._spec, self._printed)
        return ran

    def _placed(self, value: Any) -> Any:
        """With a sandbox: the addresses and what was kept, where they are named."""
        if self.sandbox is None:
            return value
        match value:
            case str():
                return value.replace("{sandbox}", self.sandbox.base_url).replace("{server}", self.server.url)
            case list():
                return [self._placed(item) for item in cast("Iterable[Any]", value)]
            case {"$kept": name}:
                return self._kept[name]
            case dict():
                return {key: self._placed(item) for key, item in cast("dict[str, Any]", value).items()}
            case _:
                return value

    def _step(self, name: str, given: Any) -> Came:
        if name == "finish":
            return self._finish()
        return came(name, lambda: self._answer(name, given))

    def _answer(self, name: str, given: Any) -> Any:
        """What a step gives, or raises."""
        if name in operations.PLAIN:
            return operations.PLAIN[name](given)
        if name in _OWN:
            return _OWN[name](self, given)
        if self.sandbox is not None and name in sandboxes.STEPS:
            return sandboxes.STEPS[name](self.sandbox, given)
        if self.journal is not None and name in journals.STEPS:
            return journals.STEPS[name](self.journal, given)
        return self._way.run(self._ready(name, given))

    def the_gateway(self) -> Any:
        if self._made is None:
            settings = inputs.settings(self._placed(self._spec["config"]), self.server.url)
            journal = None if self.journal is None else self.journal.path
            self._made = self._way.gateway(**settings, journal=journal)
            self._printed += printed.forms(self._made)
        return self._made

    def watch_of(self, given: Any) -> Any:
        gateway, given = inputs.within(self.the_gateway(), given)
        self.watch = gateway.watch(inputs.payment_ref(given["payment"]), inputs.policy(given))
        return self.watch

    def received(self, number: int) -> str:
        return self.server.received[number - 1].body

    def _ready(self, name: str, given: Any) -> Any:
        """What waits, made ready to be called."""
        if name == "next":
            return lambda: self._way.next(self.watch)
        if name == "outcome":
            return lambda: self.watch.outcome()
        if name == "unfinished":
            return lambda: self._way.all(self.the_gateway().unfinished())
        if name == "finish_entry":
            return lambda: self.the_gateway().finish(given["id"])
        gateway, given = inputs.within(self.the_gateway(), given)
        return operations.call(gateway, name, given)

    def recover(self, given: Any) -> tuple[list[Any], kassa.PaymentError | None]:
        return self.all_of(self.the_gateway().recover(inputs.recovery_policy(given)))

    def all_of(self, items: Any) -> tuple[list[Any], kassa.PaymentError | None]:
        """Everything until the end, and the error that ended it, if one did."""
        came: list[Any] = []
        try:
            while (item := self._way.run(lambda: self._way.next(items))) is not None:
                came.append(item)
        except kassa.PaymentError as error:
            return came, error
        return came, None

    def entry(self, given: Any) -> kassa.JournalEntry | None:
        journal: kassa.Journal = self.the_gateway().journal
        return journal.entry(inputs.payment_ref(given["payment"]))

    def new_process(self) -> None:
        """The gateway ends, and the next step has another one, as a program has that is started again."""
        if self._made is not None:
            self._way.run(self._made.close)
            self._made = None

    def start(self, given: Any) -> None:
        self.started = given["do"], self._way.start(self._ready(given["do"], given.get("input") or {}))

    def _finish(self) -> Came:
        name, started = self.started
        return came(name, started.finish)

    def _request_problems(self) -> Iterator[str]:
        """Closing waits for payments on their way. A request whose caller gave up may still have to be read."""
        self.server.release()
        if self._made is not None:
            self._way.run(lambda: self._made.close())
        expected = self._spec.get("requests")
        count = self._spec.get("sent") if expected is None else len(expected)
        self.server.wait_for_requests(count or 0)
        received = self.server.received
        if count is not None and count != len(received):
            yield f"{len(received)} requests were sent, not {count}"
        for number, (wanted, request) in enumerate(zip(expected or [], received, strict=False), 1):
            yield from (f"request {number} {found}" for found in _problems_of(wanted, request))


# The steps that are the scenario's own.
_OWN: dict[str, Callable[[Scenario, Any], Any]] = {
    "new_gateway": lambda scenario, _: scenario.the_gateway(),
    "wait_for_requests": lambda scenario, given: scenario.server.wait_for_requests(given["count"]),
    "release": lambda scenario, _: scenario.server.release(),
    "sent": lambda scenario, _: len(scenario.server.received),
    "answered": lambda scenario, _: scenario.server.answered,
    "received": lambda scenario, given: scenario.received(given["number"]),
    "start": lambda scenario, given: scenario.start(given),
    "abandon": lambda scenario, _: scenario.started[1].abandon(),
    "watch": lambda scenario, given: scenario.watch_of(given),
    "check_now": lambda scenario, _: scenario.watch.check_now(),
    "cancel": lambda scenario, _: scenario.watch.cancel(),
    "all": lambda scenario, _: scenario.all_of(scenario.watch),
    "recover": lambda scenario, given: scenario.recover(given),
    "entry": lambda scenario, given: scenario.entry(given),
    "new_process": lambda scenario, _: scenario.new_process(),
}


def _problems_of(wanted: Any, request: Received) -> Iterator[str]:
    for key in ("method", "target", "body"):
        if key in wanted:
            yield from differences(wanted[key], getattr(request, key), key)
    for name, header in wanted.get("headers", {}).items():
        yield from differences(header, request.headers.get(name), f"header {name}")
    for name, number in wanted.get("numbers", {}).items():
        found = re.search(rf'"{re.escape(name)}":([^,}}]*)[,}}]', request.body)
        if found is None or Decimal(found[1]) != Decimal(number):
            yield f"number {name}: expected {number}, body {request.body}"
