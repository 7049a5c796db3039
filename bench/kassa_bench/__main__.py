"""Runs the suites and writes BENCHMARKS.md."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib
import json
import os
import platform
import sys
from pathlib import Path

from .results import Section

SUITES = [
    "native_library",
    "python_start",
    "python_blocking",
    "python_asyncio",
    "python_qr",
    "kotlin",
    "swift",
    "rust_qr",
    "rust_query",
    "rust_watches",
    "rust_journal",
    "sandbox",
    "server",
    "fleet",
]
FILE = Path(__file__).parents[2] / "BENCHMARKS.md"


def preface() -> str:
    now = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, CPython {platform.python_version()}"
    return f"""# Measurements

Every table comes from one run on one machine: {now}, {machine}. The subjects of a table take turns in each round, and
ratios are computed within a round, so read the ratios, not the times. A ratio under 1 means that Kassa needs less. Repeat
with `make bench`, which installs the peers into a separate folder. `scripts/ci/run-benchmarks NAME` prints only one suite.
"""


def main() -> None:
    arguments = argparse.ArgumentParser(prog="scripts/ci/run-benchmarks", description=__doc__)
    arguments.add_argument("suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(SUITES)}; all unless given")
    arguments.add_argument("--findings", metavar="FILE", type=Path, help="writes what was found into a file, as JSON")
    given = arguments.parse_args()
    chosen: list[str] = given.suites
    if unknown := set(chosen) - set(SUITES):
        arguments.error(f"no suite {', '.join(sorted(unknown))}")
    sections = []
    for name in chosen or SUITES:
        print(f"measuring: {name}", file=sys.stderr)
        section: Section = importlib.import_module(f".suites.{name}", __package__).run()
        print("\n".join(section.text()), flush=True)
        sections.append("\n".join(section.text()))
        if given.findings:
            with given.findings.open("a") as file:
                file.writelines(f"{json.dumps(dataclasses.asdict(part))}\n" for part in section.parts)
    if not chosen:
        FILE.write_text("\n".join([preface(), *sections]))
        print(f"written: {FILE.name}", file=sys.stderr)


main()
