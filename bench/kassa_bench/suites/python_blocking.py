"""A status query from Python, by callers that wait."""

from __future__ import annotations

from functools import partial

from ..awake import awake
from ..measure import in_turn, microseconds_each
from ..queries import BLOCKING
from ..results import Comparison, Section
from ..server import server

BARS = {"urllib3": 0.32, "httpx": 0.28, "pyreqwest": 1.0}


def one_by_one(title: str, url: str) -> Comparison:
    subjects = {name: partial(microseconds_each, query(url), times=300) for name, query in BLOCKING.items()}
    return Comparison(title, "us", in_turn(subjects, rounds=31), BARS)


def run() -> Section:
    with server() as url:
        parts = [one_by_one("One by one", url)]
        with awake():
            parts.append(one_by_one("One by one, processors kept awake", url))
    return Section(
        "Python: a status query, blocking",
        "Sequential queries over a warm connection, 300 per round, 31 rounds. Each peer sends the same JSON with the "
        "same credentials, and reads the status and the exact amount from the response.",
        parts,
        why_missed=(
            "Missed: as [counted](#python-instructions-of-a-status-query), more than a third of a query is Python, which puts "
            "the call together and reads the report field by field; two fifths are the HTTP client, which parses the URL "
            "of each request twice; the rest is Kassa's rules, its search for secrets, and a library built for size. 0.32 "
            "of urllib3 is hardly more than a bare socket needs."
        ),
        remarks="The waiting thread drives the connection itself, in the library and without the interpreter's lock.",
    )
