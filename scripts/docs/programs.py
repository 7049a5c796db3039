"""Puts programs into the pages that show them: what a page shows is what the tests run or compile, as it stands in its file.

A line `--8<-- "FILE"` stands for a file of the repository, `--8<-- "FILE:SECTION"` for what is between comments `docs: begin SECTION` and
`docs: end SECTION` in it.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

SHOWN = re.compile(r'^([ \t]*)--8<-- "([^":]+)(?::([^"]+))?"$', re.MULTILINE)
MARK = re.compile(r"^\s*(?://|#|<!--) docs: (begin|end) ([a-z-]+)(?: -->)?$")


def with_programs(text: str, root: Path) -> str:
    """The text with the programs in it. What a page wants to show and is not there ends it with the page's own words."""

    def program(match: re.Match[str]) -> str:
        indent, name, section = match.groups()
        lines = (root / name).read_text().splitlines()
        if section:
            lines = _section(lines, section, name)
        kept = [line for line in lines if not MARK.search(line)]
        # What stands in a class is shown at the margin.
        shown = textwrap.dedent("\n".join(kept)).splitlines()
        return "\n".join((indent + line).rstrip() for line in shown)

    return SHOWN.sub(program, text)


def _section(lines: list[str], section: str, name: str) -> list[str]:
    marks = [(mark[1], number) for number, line in enumerate(lines) if (mark := MARK.search(line)) and mark[2] == section]
    if [kind for kind, _ in marks] != ["begin", "end"]:
        raise SystemExit(f"{name}: there is no one section {section}")
    (_, start), (_, end) = marks
    return lines[start + 1 : end]
