"""Every vector, blocking and with asyncio. ``pytest -k TEXT`` runs those with TEXT in their name or group."""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from . import sandboxes
from .in_python import INSTEAD
from .operations import PLAIN
from .printed import leaks
from .scenario import Ran, run
from .vectors import FILES, Vector, load, read
from .ways import Blocking, InLoop

VECTORS = load()
# Most vectors wait for sockets and pauses.
AT_ONCE = 16


def waits(vector: Vector) -> bool:
    return not all(step["do"] in PLAIN for step in vector.steps)


def starts(vector: Vector) -> bool:
    return any(step["do"] == "start" for step in vector.steps)


RUNS = {f"{vector.group}/blocking/{vector.name}": vector for vector in VECTORS} | {
    f"{vector.group}/asyncio/{vector.name}": vector for vector in VECTORS if waits(vector)
}


# Numbers that were made up, here or by the gateway: they have digits of any kind.
MADE_UP = re.compile("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Log(logging.Handler):
    """Everything that is logged, without times and numbers that were made up."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        details = dict(record.__dict__.get("kassa") or {})
        # A number that now and then is a forbidden one; the message has it, too.
        details.pop("duration_ms", None)
        self.lines.append(MADE_UP.sub("", f"{record.levelname} {record.name} {record.getMessage()} {details}"))


@pytest.fixture(scope="module")
def log() -> Iterator[Log]:
    log = Log()
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(log)
    root.setLevel(logging.NOTSET + 1)
    yield log
    root.setLevel(level)
    root.removeHandler(log)


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest, log: Log) -> Iterator[dict[str, Future[Ran]]]:
    """The vectors that were chosen, all under way, and all logged."""
    assert log in logging.getLogger().handlers
    chosen = chosen_of(request.session)
    in_loop = InLoop()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(run, RUNS[name], in_loop if "/asyncio/" in name else Blocking())
            for name in RUNS
            if name in chosen and not needs_main_thread(name)
        }
    in_loop.stop()
    sandboxes.stop_all()


def chosen_of(session: pytest.Session) -> set[str]:
    """The names of the vectors that are to be run."""
    own = [item for item in session.items if isinstance(item, pytest.Function) and item.originalname == "test_vector"]
    return {str(item.callspec.params["name"]) for item in own}


def needs_main_thread(name: str) -> bool:
    return "/blocking/" in name and starts(RUNS[name])


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler: a program that was started in the background begins with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


RAN: dict[str, Ran] = {}


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", RUNS, ids=RUNS)
def test_vector(name: str, running: dict[str, Future[Ran]]) -> None:
    RAN[name] = serve(RUNS[name]) if needs_main_thread(name) else running[name].result()
    problems = RAN[name].problems
    if RUNS[name].name in INSTEAD:
        problems = INSTEAD[RUNS[name].name](problems)
    assert not problems, "\n".join(problems)


def serve(vector: Vector) -> Ran:
    way = Blocking()
    with ThreadPoolExecutor(1) as steps:
        ran: Ran = way.serve(steps.submit(run, vector, way))
        return ran


def test_every_vector_of_every_file_was_run(request: pytest.FixtureRequest) -> None:
    if chosen_of(request.session) != RUNS.keys():
        pytest.skip("only some were requested")
    told = [
        (file["group"], vector["name"], len(vector.get("steps", [1])))
        for file in map(read, FILES)
        for vector in file.get("vectors", [])
    ]
    assert len(told) >= 250
    assert len({name for _, name, _ in told}) == len(told)
    for group, name, steps in told:
        assert RAN[f"{group}/blocking/{name}"].steps == steps
    for group in {group for group, _, _ in told}:
        with_gateway = [vector for vector in VECTORS if vector.group == group and waits(vector)]
        assert all(f"{group}/asyncio/{vector.name}" in RAN for vector in with_gateway)


def stands_in(log: str, text: str) -> bool:
    """A few digits have to be a word of their own: identifiers and addresses of objects have any digits in them."""
    if len(text) > 7 or not text.isdigit():
        return True
    return re.search(f"(?<![0-9A-Za-z]){text}(?![0-9A-Za-z])", log) is not None


def test_log_holds_no_secret(running: dict[str, Future[Ran]], log: Log) -> None:
    """Logs of all vectors run together, so what any of them forbids must not be there."""
    for ran in running.values():
        ran.result()
    text = "\n".join(log.lines)
    forbidden = {text for vector in VECTORS for text in vector.spec.get("forbidden", [])}
    assert [leaked for leaked in leaks(sorted(forbidden), text) if stands_in(text, leaked)] == []
    if len(running) > 1000:
        assert "DEBUG kassa responded" in text
        assert "WARNING kassa no response" in text
