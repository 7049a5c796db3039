"""The YAML files of the project, among them the packaged alerts: whoever reads a file that does not parse refuses all of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
LISTED = subprocess.run(["git", "ls-files", "*.yml", "*.yaml"], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607
ALERTS = "server/packaging/prometheus-alerts.yml"


@pytest.mark.parametrize("path", LISTED.stdout.splitlines())
def test_it_is_yaml(path: str) -> None:
    # Composed, not loaded: mkdocs.yml names Python objects.
    assert yaml.compose((ROOT / path).read_text(encoding="utf-8")) is not None


def test_each_alert_has_an_expression_and_a_summary() -> None:
    groups = yaml.safe_load((ROOT / ALERTS).read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert rules
    for rule in rules:
        assert rule["alert"].startswith("Kassa")
        assert rule["expr"].strip()
        assert rule["annotations"]["summary"].strip()
