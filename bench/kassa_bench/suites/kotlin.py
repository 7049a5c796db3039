"""Kassa on the JVM."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

from ..awake import both_ways
from ..foreign import ROOT, comparisons, findings, setup
from ..measure import in_turn
from ..results import Comparison, Figures, Section
from ..server import server


def first_query(command: list[str], name: str, url: str) -> float:
    output = subprocess.run([*command, "first", name, url], check=True, stdout=subprocess.PIPE, text=True)
    return float(output.stdout)


def jar_size() -> Figures:
    jar = next(Path(ROOT, "bindings/kotlin/kassa/target").glob("kassa-[0-9.]*[0-9].jar"))
    return Figures("The jar", [("with the library for this machine", f"{jar.stat().st_size / 1e6:.2f} MB", "")])


def run() -> Section:
    command = setup("kotlin/build-bench")
    with server() as url:
        queries = both_ways(lambda: findings([*command, "queries", url]))
        names = ("Kassa", "OkHttp", "java.net.http", "a bare socket")
        first = in_turn({name: partial(first_query, command, name, url) for name in names}, rounds=9)
    return Section(
        "Kotlin and Java",
        "Status queries over warm connections: 300 sequential ones per round, on a blocking thread and in a "
        "coroutine, and five times 100 concurrent ones. Each client may hold 100 connections, and sends the same "
        "POST. QR codes as PNG, 400x400, error correction M, 10 per round. 31 rounds in one JVM after 10 warm-up "
        "rounds; the first query in separate JVMs, 9 rounds.",
        [
            *queries,
            Comparison("The first query of a new JVM, with the client's start", "ms", first, {"OkHttp": 0.55}),
            *comparisons([*command, "qr"]),
            jar_size(),
        ],
        why_missed=(
            "Missed: a blocking query costs the core's own work, as in Python, where it is counted; OkHttp's also runs on "
            "the waiting thread. A query from a coroutine, and each of many at once, is handed to a thread of the "
            "core's and back, while OkHttp blocks one thread for each; a reactor in Kotlin would save that, as a second "
            "HTTP client. The first query of a new JVM: JNA needs more than a quarter of it to unpack two native "
            "libraries from their jars into files, and a third is class loading. To call the core without JNA takes a "
            "JNI function for each of its calls, constructors included."
        ),
    )
