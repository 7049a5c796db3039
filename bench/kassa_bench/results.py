"""What a suite found out."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """A figure that has a goal."""

    what: str
    figure: str
    goal: str
    """The most that the figure may be, or the least where it says so."""
    is_met: bool


@dataclass(frozen=True)
class Table:
    """A finding as it stands on the page."""

    title: str
    head: list[str]
    rows: list[list[str]]
    goals: list[Goal]

    def text(self) -> list[str]:
        head, *rows = ["| " + " | ".join(row) + " |" for row in (self.head, *self.rows)]
        return [f"**{self.title}**", "", head, "|---" * len(self.head) + "|", *rows, ""]


@dataclass(frozen=True)
class Comparison:
    """Kassa and its peers: one figure per round, taken in turn, so that a disturbance affects all."""

    title: str
    unit: str
    samples: Mapping[str, Sequence[float]]
    """Kassa's first."""
    bars: Mapping[str, float] = field(default_factory=dict)
    """The most that Kassa's figure may be, as a part of the peer's."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """A remark beside a figure, such as the size of a file."""

    @property
    def ours(self) -> str:
        return next(iter(self.samples))

    def ratios(self, peer: str) -> list[float]:
        return sorted(mine / theirs for mine, theirs in zip(self.samples[self.ours], self.samples[peer], strict=True))

    def missed(self) -> list[str]:
        return [peer for peer, bar in self.bars.items() if statistics.median(self.ratios(peer)) > bar]

    def table(self) -> Table:
        remark = any(self.facts.values())
        head = ["", f"median, {self.unit}", "Kassa / peer: median (least to most)", "at most"]
        rows = []
        for subject, samples in self.samples.items():
            row = [subject, f"{statistics.median(samples):.4g}", self._ratio(subject), self._bar(subject)]
            rows.append(row + ([self.facts.get(subject, "")] if remark else []))
        missed = self.missed()
        goals = [
            Goal(
                f"{self.title}: Kassa / {peer}",
                f"{statistics.median(self.ratios(peer)):.2f}",
                f"{bar:.2f}",
                peer not in missed,
            )
            for peer, bar in self.bars.items()
        ]
        return Table(self.title, head + (["remark"] if remark else []), rows, goals)

    def _ratio(self, subject: str) -> str:
        if subject == self.ours:
            return ""
        ratios = self.ratios(subject)
        return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"

    def _bar(self, subject: str) -> str:
        if subject not in self.bars:
            return ""
        return f"{self.bars[subject]:.2f}, " + ("**missed**" if subject in self.missed() else "met")


@dataclass(frozen=True)
class Figures:
    """Figures that stand for themselves."""

    title: str
    rows: Sequence[tuple[str, str, str]]
    """Name, value, and the goal if any."""

    def table(self) -> Table:
        goals = [
            Goal(f"{self.title}: {what}", value, bar.rpartition(", ")[0], "missed" not in bar)
            for what, value, bar in self.rows
            if bar
        ]
        return Table(self.title, ["", "", "at most"], [list(row) for row in self.rows], goals)


@dataclass(frozen=True)
class Section:
    """What one suite measured, and how."""

    title: str
    about: str
    parts: Sequence[Comparison | Figures]
    remarks: str = ""
    """What else is worth knowing."""
    why_missed: str = ""
    """The reason for missed goals; shown only if a goal is missed."""
