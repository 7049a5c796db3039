"""Counts the tests in what test runners print."""

from __future__ import annotations

import re

# The line of each runner that says how many tests passed.
LINES = [
    re.compile(r"^test result: .*?(\d+) passed", re.MULTILINE),  # Rust
    re.compile(r"^(?:=+ )?(?:\d+ \w+, )*(\d+) passed.* in [\d.]+s", re.MULTILINE),  # pytest
    re.compile(r"^Tests run: (\d+)$", re.MULTILINE),  # scripts/kotlin/test-packages, from Surefire's reports
    re.compile(r"Test run with (\d+) tests? .*passed", re.MULTILINE),  # Swift Testing
]
# The conformance vectors are one test or many, by language. If a filter may have left none, the runner prints how many there were.
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
VECTORS = re.compile(r"^vectors: (\d+)$", re.MULTILINE)


def tests_in(text: str) -> int | None:
    """How many tests passed by these words of one runner or several; None where no runner has said anything."""
    plain = COLOURS.sub("", text)
    numbers = [int(number) for line in LINES for number in line.findall(plain)]
    return sum(numbers) if numbers else None


def nothing_ran(text: str) -> str | None:
    """What is wrong if a command that succeeded has run no test, or no vector of those it was asked for."""
    if not tests_in(text):
        return "no test was run"
    vectors = [int(number) for number in VECTORS.findall(COLOURS.sub("", text))]
    return "no vector was run" if vectors and not sum(vectors) else None
