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
    bars = {"urllib3": 0.65, "httpx": 0.45}
    return Section(
        "Python: a status query, blocking",
        "Sequential queries over a warm connection, 300 per round, 31 rounds. Each peer sends the same JSON with the "
        "same credentials, and reads the status and the exact amount from the response.",
        [Comparison("One by one", "us", samples, bars)],
        remarks=(
            "The waiting thread drives the connection itself, in the library and without the interpreter's lock. "
            "Apart from the network, the remaining time is the call through ctypes and the conversion of the report "
            "to Python values."
        ),
    )
