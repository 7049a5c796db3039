"""BENCHMARKS.md: what was measured last by each suite, with all goals on top."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .results import Goal, Section, Table

ROOT = Path(__file__).parents[2]
FILE = ROOT / "BENCHMARKS.md"
RESULTS = ROOT / "bench" / "results"


@dataclass(frozen=True)
class Result:
    """What a suite measured, on which day, and on what machine."""

    measured: str
    machine: str
    title: str
    about: str
    tables: Sequence[Table]
    remarks: str
    why_missed: str

    def text(self) -> list[str]:
        lines = [f"## {self.title}", "", f"Measured on {self.measured}: {self.machine}.", "", self.about, ""]
        for table in self.tables:
            lines += table.text()
        missed = any(not goal.is_met for table in self.tables for goal in table.goals)
        notes = [self.why_missed if missed else "", self.remarks]
        return lines + [line for text in notes if text for line in (text, "")]

    def goals(self) -> list[Goal]:
        return [goal for table in self.tables for goal in table.goals]


def of_section(section: Section) -> Result:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, CPython {platform.python_version()}"
    return Result(
        datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        machine,
        section.title,
        section.about,
        [part.table() for part in section.parts],
        section.remarks,
        section.why_missed,
    )


def save(suite: str, result: Result) -> None:
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(dataclasses.asdict(result), indent=1, ensure_ascii=False)
    (RESULTS / f"{suite}.json").write_text(text + "\n", encoding="utf-8")


def saved(suite: str) -> Result:
    found = json.loads((RESULTS / f"{suite}.json").read_text(encoding="utf-8"))
    tables = [
        Table(one["title"], one["head"], one["rows"], [Goal(**goal) for goal in one["goals"]])
        for one in found.pop("tables")
    ]
    return Result(tables=tables, **found)


PREFACE = """# Measurements

Most figures are shares of what a peer needs: 0.50 means that Kassa needs half of it. A goal is the most that a figure may be,
unless it says "at least". The subjects of a table take turns in each round, and a share is the median of the rounds' shares, so
read the shares, not the times. Tables can be of different days and machines; each says its own.

`make bench` measures everything again, on an idle machine, and installs the peers into a separate folder.
`scripts/ci/run-benchmarks SUITE...` measures some suites. Both store what they find in `bench/results`, from which this page is
written. What was tried, and what did not help, is in the [decisions](docs/adr/README.md).
"""


def write(suites: Sequence[str]) -> None:
    results = [saved(suite) for suite in suites if (RESULTS / f"{suite}.json").exists()]
    goals = [goal for result in results for goal in result.goals()]
    missed = sum(not goal.is_met for goal in goals)
    lines = [
        "## All goals",
        "",
        f"{len(goals) - missed} of {len(goals)} goals are met.",
        "",
        "| | Kassa | goal | |",
        "|---|---|---|---|",
    ]
    for result in results:
        if goals := result.goals():
            lines.append(f"| [**{result.title}**](#{anchor(result.title)}) | | | |")
        for goal in goals:
            verdict = "met" if goal.is_met else "**missed**"
            lines.append(f"| {goal.what} | {goal.figure} | {goal.goal} | {verdict} |")
    lines.append("")
    for result in results:
        lines += result.text()
    FILE.write_text("\n".join([PREFACE, *lines]), encoding="utf-8")


def anchor(title: str) -> str:
    """As code hosts make it from a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
