"""The site for language models, as llmstxt.org proposes: `llms.txt` lists the pages with what each is about, and `llms-full.txt` holds
the text of all of them but those about the project itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

INTRODUCTION = """\
Kassa accepts payments (cards with 3DS, MBank, MegaPay, the gateway's pay-form, dynamic QR codes), and always says what happened
to the money. It is an SDK for Rust, Python, Kotlin, Java and Swift, a server for the merchant, and a sandbox that simulates the gateway.

What holds for code that uses it:

- A payment whose call ended in `OutcomeUnknown` is never sent again. Watch it by its `PaymentRef`.
- Goods are delivered only for the verdict `Charged`, or for the server's event `checkout.paid`. A callback, a return and an answer to a
  request that creates a payment prove nothing.
- Amounts are exact decimals. `amount_som` is in som, `sum_tyiyn` in hundredths of it.
- Secrets (password, card numbers, one-time passwords) go into no log, no command line and no app.
- Nothing is in a package registry until the first release. Names found there are not Kassa's.
"""


class _Loader(yaml.SafeLoader):
    """Reads MkDocs' settings, whose own tags say nothing here."""


_Loader.add_multi_constructor("", lambda _loader, _tag, _node: None)


def llms_texts(root: Path, pages: Path) -> dict[str, str]:
    settings = yaml.load((root / "mkdocs.yml").read_text(), _Loader)  # noqa: S506 - a safe loader's kind
    outline = [f"# {settings['site_name']}", "", f"> {settings['site_description']}", "", INTRODUCTION]
    whole = list(outline)
    for section in settings["nav"]:
        ((title, entries),) = section.items()
        is_optional = title == "Project"
        outline += [f"## {'Optional' if is_optional else title}", ""]
        for page in _pages(entries):
            text = (pages / page).read_text()
            outline.append(f"- [{_title(text)}]({_address(page)}): {_about(text)}")
            if not is_optional:
                whole += [f"<!-- {page} -->", text, ""]
        outline.append("")
    return {"llms.txt": "\n".join(outline), "llms-full.txt": "\n".join(whole)}


def _pages(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from _pages(value)
            else:
                yield value


def _address(page: str) -> str:
    """Where MkDocs puts it."""
    name = re.sub(r"(^|/)(index|README)\.md$", r"\1", page)
    return name.removesuffix(".md") + "/" if name.endswith(".md") else name or "."


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else "?"


def _about(text: str) -> str:
    """The first sentence of the first paragraph."""
    for paragraph in re.split(r"\n{2,}", text):
        if (paragraph and paragraph[0].isalnum()) or paragraph.startswith(("**", "`")):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.:])\s", words)[0].strip("*").rstrip(":")
    return ""
