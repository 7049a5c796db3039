"""Holds what was measured of a working copy against what was measured of an earlier commit, and tells what became slower.

Both were measured in turn. A figure counts as slower or faster where its median moved by more than a tenth, and each single
measurement moved in the same direction: what only sometimes moves is noise.
"""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .results import Comparison, Figures

MOVED = 1.1
"""By how much a figure has to move."""

Row = tuple[str, str]
"""The title of a table, and the subject of a figure in it."""


@dataclass(frozen=True)
class Figure:
    """A number with its unit."""

    value: float
    unit: str
    more_is_better: bool

    def __str__(self) -> str:
        return f"{self.value:{',.0f' if self.value >= 1000 else '.4g'}} {self.unit}"


@dataclass(frozen=True)
class Change:
    """A row, then and now."""

    row: Row
    then: Figure
    now: Figure
    ratios: list[float]
    """How many times as much it needs now, by each pair of measurements. Above 1 it became slower."""

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def verdict(self) -> str:
        if self.ratio > MOVED and min(self.ratios) > 1:
            return "**slower**"
        if self.ratio < 1 / MOVED and max(self.ratios) < 1:
            return "faster"
        return ""

    def line(self) -> str:
        title, subject = self.row
        spread = f"{self.ratio:.2f} ({min(self.ratios):.2f} to {max(self.ratios):.2f})"
        return f"| {title} | {subject} | {self.then} | {self.now} | {spread} | {self.verdict} |"


def figures(findings: Path) -> Mapping[Row, Figure]:
    """Kassa's own figures in a file of findings."""
    found = [json.loads(line) for line in findings.read_text().splitlines()]
    parts = [Figures(**one) if "rows" in one else Comparison(**one) for one in found]
    return {row: figure for part in parts for row, figure in of_part(part)}


def of_part(part: Comparison | Figures) -> Iterator[tuple[Row, Figure]]:
    if isinstance(part, Comparison):
        value = statistics.median(part.samples[part.ours])
        yield (part.title, part.ours), Figure(value, part.unit, more_is_better=is_a_rate(part.title, part.unit))
        return
    for what, text, _ in part.rows:
        if number := re.match(r"([\d,]*\.?\d+)\s*(.*)", text):
            more_is_better = is_a_rate(part.title, what, number[2])
            yield (part.title, what), Figure(float(number[1].replace(",", "")), number[2], more_is_better)


def is_a_rate(*words: str) -> bool:
    """Whether what is called so is the better the more it is."""
    return bool(re.search(r"\ba second\b|^kept\b", "\n".join(words), re.IGNORECASE | re.MULTILINE))


def changes(folder: Path) -> list[Change]:
    """All rows that both have, the one that became slowest first. Those of one alone are told."""
    then, now = ([figures(file) for file in sorted(folder.glob(f"{when}-*"))] for when in ("then", "now"))
    known = {row: None for one in (*then, *now) for row in one}
    rows = [row for row in known if all(row in one for one in (*then, *now))]
    for title, subject in (row for row in known if row not in rows):
        print(f"only then, or only now: {title}: {subject}", file=sys.stderr)
    if not rows:
        sys.exit("nothing can be compared")
    return sorted((change(row, [one[row] for one in then], [one[row] for one in now]) for row in rows), key=by_ratio)


def change(row: Row, then: list[Figure], now: list[Figure]) -> Change:
    ratios = [needs(one, other) for one, other in zip(then, now, strict=True)]
    return Change(row, median(then), median(now), ratios)


def needs(then: Figure, now: Figure) -> float:
    if not then.value or not now.value:
        return 1.0
    return then.value / now.value if now.more_is_better else now.value / then.value


def median(several: list[Figure]) -> Figure:
    return dataclasses.replace(several[0], value=statistics.median(figure.value for figure in several))


def by_ratio(change: Change) -> float:
    return -change.ratio


def main() -> None:
    found = changes(Path(sys.argv[1]))
    print("| table | row | then | now | now / then: median (least to most) | |", "|---|---|---|---|---|---|", sep="\n")
    print("\n".join(change.line() for change in found))
    sys.exit(any(change.verdict == "**slower**" for change in found))


if __name__ == "__main__":
    main()
