"""Kassa on the JVM."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

from ..foreign import ROOT, comparisons, setup
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
        queries = comparisons([*command, "queries", url])
        names = ("Kassa", "OkHttp", "java.net.http", "a bare socket")
        first = in_turn({name: partial(first_query, command, name, url) for name in names}, rounds=9)
    return Section(
        "Kotlin and Java",
        "Status queries over warm connections, on a thread that waits and in a coroutine 300 one after the other a round, and "
        "five times 100 at once; "
        "each client may hold 100 connections, and sends the same POST. QR codes as PNG, 400x400, error correction M, 10 a "
        "round. 31 rounds in one JVM after 10 that do not count; the first query in JVMs of its own, 9 rounds.",
        [
            *queries,
            Comparison("The first query of a new JVM, with the client's start", "ms", first, {"OkHttp": 0.5}),
            *comparisons([*command, "qr"]),
            jar_size(),
        ],
        why_missed=(
            "The first query of a new JVM: more than a quarter of it is JNA unpacking two native libraries out of their jars "
            "into files, a third is loading classes. A copy kept between two starts would have to be where "
            "nobody else can put one."
        ),
    )
