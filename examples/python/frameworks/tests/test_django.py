"""Tests of the shop on Django, as a user writes them, and what its system checks find."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from shop_process import FOLDER

SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSBzaG9wJ3MgdGVzdHM="
RIGHT = {
    "server": {
        "KASSA_SERVER_URL": "http://127.0.0.1:9",
        "KASSA_API_KEY": "ak_test",
        "KASSA_EVENTS_SECRET": SECRET,
    },
    "gateway": {
        "KASSA_URL": "http://127.0.0.1:9",
        "KASSA_LOGIN": "shop",
        "KASSA_PASSWORD": "secret",
        "SHOP_CALLBACK_SECRET": "a secret of 32 bytes or more, ok",
    },
}
SETTINGS = {"server": "django_shop.settings", "gateway": "django_shop.settings_direct"}


def django(command: str, way: str, variables: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of Django's, in a process of its own: Django has one set of settings in each."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("KASSA_", "SHOP_", "DJANGO_"))}
    own = {
        "DJANGO_SETTINGS_MODULE": SETTINGS[way],
        "SHOP_DATABASE": str(folder / "shop.db"),
        "SHOP_JOURNAL": str(folder / "payments"),
        "SHOP_SECRET_KEY": "test",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "django", *command.split()],
        cwd=FOLDER,
        env={**others, **own, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("way", RIGHT)
def test_right_settings_pass_the_checks(way: str, tmp_path: Path) -> None:
    checked = django("check", way, RIGHT[way], tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(("way", "name"), [(way, name) for way, right in RIGHT.items() for name in right])
def test_check_names_a_missing_setting(way: str, name: str, tmp_path: Path) -> None:
    checked = django("check", way, {each: value for each, value in RIGHT[way].items() if each != name}, tmp_path)
    assert checked.returncode == 1
    assert name in checked.stderr
    assert "ERRORS" in checked.stderr


def test_check_finds_a_malformed_secret(tmp_path: Path) -> None:
    checked = django("check", "server", RIGHT["server"] | {"KASSA_EVENTS_SECRET": "planted"}, tmp_path)
    assert "kassa.E002" in checked.stderr
    assert "planted" not in checked.stderr


def test_migration_is_current(tmp_path: Path) -> None:
    checked = django("makemigrations --check --dry-run", "server", RIGHT["server"], tmp_path)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("way", RIGHT)
def test_shops_own_tests_pass(way: str, tmp_path: Path) -> None:
    tests = {"server": "django_shop.tests.test_events", "gateway": "django_shop.tests.test_callbacks"}
    run = django(f"test {tests[way]}", way, RIGHT[way], tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Ran 2 tests" in run.stderr, run.stderr
