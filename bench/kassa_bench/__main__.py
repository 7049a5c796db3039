"""Runs suites, stores what they found, and writes BENCHMARKS.md."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import sys
from pathlib import Path

from . import page
from .results import Section

SUITES = [
    "native_library",
    "python_start",
    "python_blocking",
    "python_asyncio",
    "python_instructions",
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


def main() -> None:
    arguments = argparse.ArgumentParser(prog="scripts/ci/run-benchmarks", description=__doc__)
    arguments.add_argument("suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(SUITES)}; default: all")
    arguments.add_argument(
        "--findings", metavar="FILE", type=Path, help="adds what was found to this file, as JSON; changes nothing else"
    )
    given = arguments.parse_args()
    chosen: list[str] = given.suites
    if unknown := set(chosen) - set(SUITES):
        arguments.error(f"no suite {', '.join(sorted(unknown))}")
    for name in chosen or SUITES:
        print(f"measuring: {name}", file=sys.stderr)
        section: Section = importlib.import_module(f".suites.{name}", __package__).run()
        result = page.of_section(section)
        print("\n".join(result.text()), flush=True)
        if given.findings:
            with given.findings.open("a") as file:
                file.writelines(f"{json.dumps(dataclasses.asdict(part))}\n" for part in section.parts)
        else:
            page.save(name, result)
    if not given.findings:
        page.write(SUITES)
        print(f"written: {page.FILE.name}", file=sys.stderr)


main()
