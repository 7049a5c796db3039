"""kassa-certify on the example shops, which lose nothing, and on copies of them with one mistake each, which it finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest
from mutants import MUTANTS, Mutant

FOLDER = Path(__file__).parents[2]
DIRECT = Path(__file__).parent
CERTIFY = os.environ["KASSA_CERTIFY_BINARY"]
LIMIT = 900.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""A run takes two or three minutes; only a bug reaches this."""
ALL = os.environ.get("KASSA_CERTIFY_ALL") == "1"
"""Whether every shop and every mutant is played, as by night, or a few of them."""
EVERY_TIME = ("php", "direct")
TOOLS = {"python": sys.executable, "node": "node", "php": "php", "java": "java", "direct": sys.executable}
SLOW = ("paid-late/expired", "restored/real", "shop-killed", "event-late", "callback-late", "opening/slow")
"""Left out for mutants: these wait for long, and none of the mistakes needs them, except where one is named in `found_by`."""


class Run(NamedTuple):
    """How a run ended."""

    code: int
    output: str
    lost: dict[str, str]
    """Losses by scenario."""

    @property
    def kinds(self) -> set[str]:
        return {name.split("/")[0] for name in self.lost}


def certify(shop: str, folder: Path, *arguments: str) -> Run:
    """Runs the scenarios against the shop in a folder."""
    config = folder / ("direct.toml" if shop == "direct" else "certify.toml")
    report = folder / "junit.xml"
    ended = subprocess.run(
        [CERTIFY, "--config", str(config), "--junit", str(report), "--html", str(folder / "report.html"), *arguments],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    output = f"{ended.stdout[-8000:]}\n{ended.stderr[-2000:]}"
    lost = dict[str, str]()
    if report.exists():
        for case in ET.fromstring(report.read_text()).iter("testcase"):  # noqa: S314 (it is our own)
            failure = case.find("failure")
            if failure is not None:
                lost[case.attrib["name"]] = failure.attrib["message"]
        assert '<meta charset="utf-8">' in (folder / "report.html").read_text()
    return Run(ended.returncode, output, lost)


def copy(shop: str, folder: Path) -> Path:
    """A copy of a shop, with its dependencies."""
    if shop == "direct":
        for name in ("direct_shop.py", "direct.toml"):
            shutil.copy(DIRECT / name, folder)
        return folder / "direct_shop.py"
    for path in (FOLDER / shop).iterdir():
        if path.name == "node_modules":
            (folder / path.name).symlink_to(path)
        elif path.is_file():
            shutil.copy(path, folder)
    (program,) = [path for path in folder.iterdir() if path.suffix in (".py", ".js", ".php", ".java")]
    return program


def need(shop: str) -> None:
    if shutil.which(TOOLS[shop]) is None:
        assert os.environ.get("CI") != "true", f"{TOOLS[shop]} is missing"
        pytest.skip(f"{TOOLS[shop]} is missing")


@pytest.mark.parametrize("shop", list(TOOLS) if ALL else EVERY_TIME)
def test_example_shop_loses_nothing(shop: str, tmp_path: Path) -> None:
    need(shop)
    copy(shop, tmp_path)
    run = certify(shop, tmp_path)
    assert (run.code, run.lost) == (0, {}), run.output


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if ALL or mutant.in_every_run], ids=lambda mutant: mutant.name
)
def test_mutant_is_found(mutant: Mutant, tmp_path: Path) -> None:
    need(mutant.shop)
    program = copy(mutant.shop, tmp_path)
    text = program.read_text()
    assert text.count(mutant.old) == 1, f"{mutant.name}: the shop has changed"
    program.write_text(text.replace(mutant.old, mutant.new))
    left_out = [name for name in SLOW if name.split("/")[0] not in mutant.found_by]
    skipped = [word for name in left_out for word in ("--skip", f"{name}: slow")]
    run = certify(mutant.shop, tmp_path, "--wait", "2", "--jobs", "10", *skipped)
    assert run.code == 1, run.output
    missed = set(mutant.found_by) - run.kinds
    assert not missed, (missed, run.lost, run.output)
    allowed = {*mutant.found_by, *mutant.also_by}
    others = run.kinds - allowed
    assert "*" in allowed or not others, (others, run.lost)


def test_missing_settings_are_named(tmp_path: Path) -> None:
    config = tmp_path / "certify.toml"
    config.write_text('order = "http://127.0.0.1:1/orders"\njobs = 0\nskip = ["paid"]\n')
    ended = subprocess.run(
        [CERTIFY, "--config", str(config)], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert ended.returncode == 2
    for name in (
        "order must be",
        "events is needed",
        "state is needed",
        "delivered is needed",
        "jobs must be",
        "skip must be",
    ):
        assert f"kassa-certify: {name}" in ended.stderr, ended.stderr


def test_wrong_text_for_delivered_is_named(tmp_path: Path) -> None:
    copy("direct", tmp_path)
    run = certify("direct", tmp_path, "--delivered", "/state = open")
    assert run.code == 2
    assert "delivered: a new order already counts as delivered" in run.output


def test_shop_that_does_not_start_is_shown(tmp_path: Path) -> None:
    copy("direct", tmp_path)
    run = certify("direct", tmp_path, "--start", "echo no such table; exit 3")
    assert run.code == 2
    assert "start: the shop ended" in run.output
    assert "no such table" in run.output
