"""Kassa in Swift."""

from __future__ import annotations

import subprocess
from functools import partial

from ..awake import both_ways
from ..foreign import ROOT, comparisons, findings, setup
from ..measure import in_turn
from ..results import Comparison, Section
from ..server import server


def first_query(command: list[str], name: str, url: str) -> float:
    output = subprocess.run([*command, "first", name, url], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return float(output.stdout)


def run() -> Section:
    command = setup("swift/build-bench")
    with server() as url:
        queries = both_ways(lambda: findings([*command, "queries", url]))
        names = ("Kassa", "URLSession", "a bare socket")
        first = in_turn({name: partial(first_query, command, name, url) for name in names}, rounds=15)
    return Section(
        "Swift",
        "Status queries over warm connections: 200 sequential ones per round, and five times 100 concurrent ones; "
        "both clients may hold 100 connections, and send the same POST. 31 rounds in one process; the first query in "
        "separate processes, 15 rounds.",
        [
            *queries,
            Comparison("The first query of a new process, with the client's start", "ms", first),
            *comparisons([*command, "qr"]),
        ],
    )
