"""Code that documents show: each block is a copy of code in a file that tests run or compile.

A comment before a fenced block names its source:

    <!-- code: FILE -->                  the whole file
    <!-- code: FILE:SECTION,SECTION -->  what is between the comments `docs: begin SECTION` and `docs: end SECTION` in it

Of a section of a Markdown document the code is taken, without its fence.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

SOURCE = re.compile(r"^(\s*)<!-- code: ([^\s:]+)(?::([a-z,-]+))? -->$")
MARK = re.compile(r"^\s*(?://|#|<!--) docs: (begin|end) ([a-z-]+)(?: -->)?$")
FENCE = re.compile(r"^\s*```")


class ShownCodeError(Exception):
    """A block that cannot be written, with its place."""


@dataclass(frozen=True)
class ShownCode:
    """A document with all its blocks written anew."""

    text: str
    outdated: tuple[int, ...]
    """The lines of the comments whose blocks were not current."""


def with_current_code(path: Path, root: Path) -> ShownCode:
    lines = path.read_text().splitlines()
    written: list[str] = []
    outdated: list[int] = []
    at = 0
    while at < len(lines):
        written.append(lines[at])
        source = SOURCE.match(lines[at])
        at += 1
        if not source:
            continue
        place = f"{path.relative_to(root)}:{at}"
        indent, name, sections = source.groups()
        if at == len(lines) or not FENCE.match(lines[at]):
            raise ShownCodeError(f"{place}: no fenced block follows")
        end = next((number for number in range(at + 1, len(lines)) if lines[number] == f"{indent}```"), None)
        if end is None:
            raise ShownCodeError(f"{place}: the fenced block has no end")
        try:
            code = _code(root / name, sections.split(",") if sections else [], lines[at].strip().removeprefix("```"))
        except ShownCodeError as problem:
            raise ShownCodeError(f"{place}: {name}: {problem}") from None
        block = [(indent + line).rstrip() for line in code]
        if lines[at + 1 : end] != block:
            outdated.append(at)
        written += [lines[at], *block, lines[end]]
        at = end + 1
    return ShownCode("\n".join(written) + "\n", tuple(outdated))


def _code(file: Path, sections: list[str], language: str) -> list[str]:
    if not file.is_file():
        raise ShownCodeError("there is no such file")
    lines = file.read_text().splitlines()
    parts = [_section(lines, section) for section in sections] or [lines]
    if file.suffix == ".md":
        parts = [_without_fence(part) for part in parts]
    # Between top-level definitions Python has two empty lines.
    between = "\n\n\n" if language == "python" else "\n\n"
    code = between.join(textwrap.dedent("\n".join(line for line in part if not MARK.match(line))).strip("\n") for part in parts)
    if language == "php" and not code.startswith("<?php"):
        code = f"<?php\n{code}"  # without it, nothing is highlighted
    if "```" in code:
        raise ShownCodeError("a fenced block cannot hold the code, which has ``` in it")
    return code.splitlines()


def _section(lines: list[str], section: str) -> list[str]:
    marks = [(mark[1], number) for number, line in enumerate(lines) if (mark := MARK.match(line)) and mark[2] == section]
    if [kind for kind, _ in marks] != ["begin", "end"]:
        raise ShownCodeError(f"it needs one `docs: begin {section}`, and one `docs: end {section}` after it")
    (_, begin), (_, end) = marks
    return lines[begin + 1 : end]


def _without_fence(lines: list[str]) -> list[str]:
    if len(lines) < 2 or [number for number, line in enumerate(lines) if FENCE.match(line)] != [0, len(lines) - 1]:
        raise ShownCodeError("the section has to be one fenced block and nothing else")
    return lines[1:-1]
