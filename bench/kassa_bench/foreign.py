"""Benchmarks written in other languages: they print one finding a line, as JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .results import Comparison, Figures

ROOT = Path(os.environ.get("KASSA_BENCH_COPY", Path(__file__).parents[2]))
"""The working copy that is measured."""


def findings(command: Sequence[str | Path]) -> list[Comparison | Figures]:
    """Runs a benchmark, and reads what it found out."""
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [Figures(**one) if "rows" in one else Comparison(**one) for one in found]


def comparisons(command: Sequence[str]) -> list[Comparison]:
    """Runs a benchmark that finds out nothing but comparisons."""
    return [found for found in findings(command) if isinstance(found, Comparison)]


def rust(bench: str, *arguments: str | Path) -> list[Comparison | Figures]:
    """Runs one of the benchmarks in `bench/rust`."""
    cargo = os.environ.get("CARGO", "cargo")
    return findings([cargo, "bench", "--quiet", "--locked", "-p", "kassa-bench", "--bench", bench, "--", *arguments])


def setup(script: str) -> list[str]:
    """Builds a benchmark, and gives the command that runs it."""
    built = subprocess.run([ROOT / "scripts" / script], check=True, stdout=subprocess.PIPE, text=True)
    return built.stdout.splitlines()[-1].split()
