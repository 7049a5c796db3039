"""How many instructions a status query takes from Python: a figure that no noise touches."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import partial

from ..queries import ASYNC, BLOCKING
from ..results import Comparison, Section
from ..server import server

WARM, MORE = 200, 1000
PROGRAM = """
import asyncio, sys
from kassa_bench import queries

kind, name, url, times = sys.argv[1:]

async def ask_on_a_loop():
    client = queries.ASYNC[name](url)
    for _ in range(int(times)):
        await client.ask()
    await client.close()

if kind == "asyncio":
    asyncio.run(ask_on_a_loop())
else:
    ask = queries.BLOCKING[name](url)
    for _ in range(int(times)):
        ask()
"""


def instructions(kind: str, name: str, url: str, times: int) -> int:
    """Of a whole process on all of its threads, as callgrind counts them."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", PROGRAM]
    run = subprocess.run([*command, kind, name, url, str(times)], check=True, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", run.stderr)
    if counted is None:
        raise RuntimeError(f"callgrind counted nothing: {run.stderr}")
    return int(counted[1])


def of_a_query(kind: str, name: str, url: str) -> float:
    """In thousands: what more queries take more, so that the start does not count."""
    count = partial(instructions, kind, name, url)
    return (count(WARM + MORE) - count(WARM)) / MORE / 1e3


def run() -> Section:
    if shutil.which("valgrind") is None:
        sys.exit(
            "python_instructions needs valgrind, which is not installed; name the other suites to measure them alone"
        )
    parts = []
    with server() as url:
        for title, kind, clients in (("Blocking", "blocking", BLOCKING), ("asyncio, one by one", "asyncio", ASYNC)):
            samples = {name: [of_a_query(kind, name, url)] for name in clients}
            parts.append(Comparison(title, "thousand instructions", samples))
    return Section(
        "Python: instructions of a status query",
        f"Counted by callgrind on all threads of the process, interpreter included: {WARM + MORE} sequential queries less "
        f"{WARM}, by {MORE}. Times depend on the machine's sleep and its neighbours; these figures do not.",
        parts,
    )
