"""What axe-core finds on a page that keeps people out."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")
RUN = "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"


def check_accessible(page: Page, impacts: tuple[str, ...] = GRAVE) -> None:
    """Fails where axe-core finds something of these impacts on the page as it stands."""
    page.evaluate(AXE)
    violations: list[dict[str, Any]] = page.evaluate(RUN)
    grave = [_words(violation) for violation in violations if violation["impact"] in impacts]
    assert grave == [], f"{page.url}\n" + "\n".join(grave)


def _words(violation: dict[str, Any]) -> str:
    nodes = "\n".join(f"    {node['html']}\n    {node['failureSummary']}" for node in violation["nodes"])
    return f"{violation['impact']}: {violation['help']} ({violation['id']})\n{nodes}"
