"""The report in Markdown, for the maintainer of the dialect. Text of the gateway cannot inject Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import kassa

from ..output import visible
from .finding import Finding

LONGEST_RESPONSE = 4000
ESCAPES = str.maketrans(
    {"\\": "\\\\", "`": "\\`", "|": "\\|", "[": "\\[", "]": "\\]", "<": "&lt;", "&": "&amp;"},
)


def report(
    findings: Sequence[Finding], *, summary: Iterable[str], money: Iterable[str], advice: Iterable[str], dialect: str
) -> str:
    """The whole report, from texts in which all secrets are masked."""
    problems = [f"{prose(one.step)} ({code(one.endpoint)}): {prose(text)}" for one in findings for text in one.problems]
    parts = ["# Probe of a gateway's test environment", f"By kassa {kassa.__version__} for Python."]
    parts += _section("Summary", map(prose, summary))
    parts += _section("Problems", problems)
    parts += _section("What happened to the money", map(prose, money))
    parts += _section("Advice on the dialect", map(prose, advice))
    parts += ["## The dialect that fits", fenced("json", dialect.rstrip())]
    parts.append("## What was sent and answered")
    for one in findings:
        parts.append(f"### {prose(one.step)} ({code(one.endpoint)})")
        parts.append("\n".join(_lines(one)))
        if one.raw is not None:
            parts.append(fenced("", _cut(one.raw)))
    return "\n\n".join(parts) + "\n"


def _section(heading: str, entries: Iterable[str]) -> list[str]:
    lines = "\n".join(f"- {entry}" for entry in entries)
    return [f"## {heading}", lines or "None."]


def _lines(one: Finding) -> Iterator[str]:
    for name, text in one.lines():
        shown = ", ".join(map(code, one.unread)) if name == "not read" else prose(text)
        yield f"- {name}: {shown}"


def prose(text: str) -> str:
    """The text in one line, escaped so that it starts no line, cell, code, link or tag."""
    return visible(_cut(text)).translate(ESCAPES)


def code(text: str) -> str:
    """The text as code inside a line, between more backticks than it has in a row."""
    text, fence = visible(text), "`"
    while fence in text:
        fence += "`"
    space = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{space}{text}{space}{fence}"


def fenced(language: str, text: str) -> str:
    """A code block with a fence that the text does not contain. Of invisible characters only line feeds stay."""
    text, fence = "\n".join(visible(line.rstrip("\r")) for line in text.split("\n")), "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_RESPONSE else f"{text[:LONGEST_RESPONSE]}…"
