"""How the shop starts and stops, and what it refuses to start with."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import phones
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser

from client import free_port, get, wait_until
from patience import PATIENCE
from payer import Payer
from shop.settings import Settings, WrongSettings
from shop_process import FOLDER, ShopProcess

SECRET = "whsec_c2VjcmV0"
REAL = {"KASSA_SERVER_URL": "https://pay.shop.example.kg/", "KASSA_API_KEY": "ak_1", "KASSA_EVENTS_SECRET": SECRET}
NEAR = REAL | {"KASSA_SERVER_URL": "http://127.0.0.1:9"}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ShopProcess]:
    """A shop that brings a server and a sandbox."""
    with ShopProcess(tmp_path / "data", free_port(3), None) as own:
        yield own


def told_addresses(shop: ShopProcess) -> list[str]:
    """Those that it prints to be opened."""
    return re.findall(r"http://[\d.:]+\S*(?<![:.])", shop.told)


def test_shop_brings_all_it_needs_and_goes_on_after_a_crash(browser: Browser, own: ShopProcess) -> None:
    printed = told_addresses(own)
    assert len(printed) == 3
    payer = Payer(browser, own.url, {urlsplit(url).netloc for url in printed})
    order_page = payer.order()
    # The merchant's name is on the server's page.
    assert "Honey from Ala-Too" in payer.page.content()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.sees_screen("enter-code")
    payer.give_the_page_up()
    own.kill()
    for url in printed:
        wait_until(lambda url=url: is_gone(url))  # type: ignore[misc]
    own.start()
    assert told_addresses(own) == printed
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    assert "Test mode" in payer.page.content()
    payer.goes_to_pay()
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    # A person looks at it with the key that was printed.
    payer.page.goto(printed[1])
    payer.page.locator("input[type=password]").fill(own.told.partition("log in with ")[2].split()[0])
    payer.page.get_by_role("button").first.click()
    payer.page.get_by_text(order_page.rpartition("/")[2]).first.wait_for()
    # What is still loading of the pages that were there before is no complaint.
    payer.complaints.clear()
    payer.close()


def is_gone(url: str) -> bool:
    try:
        get(url)
    except urllib.error.HTTPError:
        return False
    except urllib.error.URLError as error:
        return isinstance(error.reason, ConnectionRefusedError)
    except OSError:
        # It is about to go.
        return False
    return False


def test_shop_stops_with_all_its_processes(own: ShopProcess) -> None:
    printed = told_addresses(own)
    assert "Mountain honey" in get(own.url)
    assert own.stop() in (143, -signal.SIGTERM)
    assert all(is_gone(url) for url in printed)
    own.start()


def test_signal_in_a_finalizer_stops_the_shop(tmp_path: Path) -> None:
    script = """
import signal, sys, weakref
from shop import __main__ as shop

make_app = shop.make_app

def interrupted(*arguments, **named):
    class Dying: ...
    dying = Dying()
    reference = weakref.ref(dying, lambda _: signal.raise_signal(signal.SIGTERM))
    del dying
    return make_app(*arguments, **named)

shop.make_app = interrupted
sys.exit(shop.main())
"""
    environment = os.environ | NEAR | {"KASSA_EVENTS_SECRET": SECRET, "SHOP_DATA": str(tmp_path), "SHOP_PORT": "0"}
    ended = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=FOLDER,
        env=environment,
        capture_output=True,
        timeout=2 * PATIENCE,
    )
    assert ended.returncode == 128 + signal.SIGTERM, ended
    assert b"Exception ignored" in ended.stderr


def test_shop_with_a_server_elsewhere_needs_none_of_kassas_packages(tmp_path: Path, server: KassaServer) -> None:
    script = """
import sys
for name in ("kassa", "kassa_sandbox", "kassa_server"):
    sys.modules[name] = None
from shop import __main__
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=FOLDER)
    with ShopProcess(tmp_path / "data", free_port(), server) as shop:
        assert f"to {shop.url}/events" in shop.told
        assert server.api_key not in shop.told
        assert "Test mode" not in get(shop.url)


def test_port_that_is_taken_is_told(own: ShopProcess, tmp_path: Path) -> None:
    another = ShopProcess(tmp_path / "another", urlsplit(own.url).port or 0, None)
    with pytest.raises(AssertionError, match=r"The shop cannot start: .*in use"):
        another.start()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (REAL, "SHOP_PUBLIC_URL is needed"),
        (REAL | {"KASSA_API_KEY": ""}, "KASSA_API_KEY is needed"),
        (REAL | {"KASSA_EVENTS_SECRET": ""}, "KASSA_EVENTS_SECRET is needed"),
        (REAL | {"SHOP_PUBLIC_URL": "shop.example.kg"}, "SHOP_PUBLIC_URL must be"),
        (NEAR | {"KASSA_SERVER_URL": "ftp://pay.example.kg"}, "KASSA_SERVER_URL must be"),
        (NEAR | {"KASSA_EVENTS_SECRET": "secret"}, "KASSA_EVENTS_SECRET must be"),
        (NEAR | {"KASSA_EVENTS_SECRET": "whsec_?"}, "KASSA_EVENTS_SECRET must be"),
        (NEAR | {"SHOP_PORT": "a"}, "SHOP_PORT must be"),
        (NEAR | {"SHOP_PORT": "65536"}, "SHOP_PORT must be"),
    ],
)
def test_wrong_settings_are_named(given: dict[str, str], problem: str) -> None:
    with pytest.raises(WrongSettings, match=problem) as wrong:
        Settings.read(given)
    assert "secret" not in str(wrong.value).replace("the secret that", "")


def test_settings_never_show_a_secret() -> None:
    settings = Settings.read(REAL | {"SHOP_PUBLIC_URL": "https://shop.example.kg/"})
    assert settings.public_url == "https://shop.example.kg"
    assert "ak_1" not in repr(settings)
    assert SECRET not in repr(settings)
    assert Settings.read({}).server is None
