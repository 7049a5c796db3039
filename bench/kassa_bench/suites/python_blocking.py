"""A status query from Python, by callers that wait."""

from __future__ import annotations

from functools import partial

from ..measure import in_turn, microseconds_each
from ..queries import BLOCKING
from ..results import Comparison, Section
from ..server import server


def run() -> Section:
    with server() as url:
        subjects = {name: partial(microseconds_each, query(url), times=300) for name, query in BLOCKING.items()}
        samples = in_turn(subjects, rounds=31)
    bars = {"urllib3": 1.0, "httpx": 0.5}
    return Section(
        "Python: a status query, blocking",
        "One query after the other over a warm connection, 300 a round, 31 rounds. Each peer sends the same JSON with the same "
        "credentials, and reads status and exact amount from the reply.",
        [Comparison("One by one", "us", samples, bars)],
        why_missed=(
            "Kassa's network has threads of its own, so each query wakes a thread and is woken by one; the peers wait on the "
            "socket itself. On a machine that falls asleep in between, these wake-ups are most of the time."
        ),
    )
