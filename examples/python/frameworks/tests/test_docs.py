"""The commands on the pages are those that the tests start the shops with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import test_celery
import test_direct_shops
import test_gunicorn
import test_server_shops
from shop_process import Program

FOLDER = Path(__file__).parents[4] / "docs/frameworks"
PAGES = [FOLDER / f"{name}.md" for name in ("celery", "django", "fastapi", "flask", "gunicorn")]
"""The pages of Python; those of other languages are tested with their programs."""
OWN = {
    "--port",
    "{port}",
    "8000",
    "--bind",
    "127.0.0.1:{port}",
    "--no-control-socket",
    "--noreload",
    "--schedule",
    "{folder}/beat",
}
"""Options with which a test keeps shops apart."""


def programs() -> Iterator[Program]:
    """What the tests start."""
    yield from test_server_shops.SHOPS.values()
    yield from test_direct_shops.SHOPS.values()
    yield from test_gunicorn.SHOPS.values()
    yield test_gunicorn.django("sync")
    yield test_celery.PROGRAM


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_on_a_page_are_tested(page: Path) -> None:
    started = [command for program in programs() for command in (program.web, program.worker, program.before)]
    tested = {tuple(word for word in command if word not in OWN) for command in started}
    settings = {value for program in programs() for value in program.settings.values()}
    shown = [
        line for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL) for line in block.splitlines()
    ]
    assert shown
    for line in shown:
        words = [word for word in shlex.split(line, comments=True) if word not in OWN]
        if words[0] == "export":
            assert words[1].partition("=")[2] in settings, line
        else:
            assert tuple(words) in tested, line
