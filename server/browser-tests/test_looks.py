"""How a merchant looks whose settings say little."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser, expect

from buyer import Buyer
from shop import Shop

LOOKS: list[tuple[str, dict[str, str], str]] = [
    ("nothing", {}, "127.0.0.1"),
    ("light", {"merchant.colour": "#FFF6D0", "merchant.name": "A merchant with a long name, branch office Osh"}, "Osh"),
    ("dark", {"merchant.colour": "#101010"}, "127.0.0.1"),
]


@pytest.mark.parametrize(("name", "settings", "shown"), LOOKS, ids=[look[0] for look in LOOKS])
def test_any_look_can_be_read(
    browser: Browser, sandbox: Sandbox, site: Shop, name: str, settings: dict[str, str], shown: str
) -> None:
    with KassaServer(sandbox=sandbox, settings=settings) as server:
        hosts = {urlsplit(server.url).netloc}
        for dark in (False, True):
            buyer = Buyer(server, site.return_url, {}, browser, hosts, "en", size="small", dark=dark, scripts=True)
            buyer.open(buyer.page_url)
            expect(buyer.page.locator(".merchant")).to_contain_text(shown)
            buyer.look(f"look-{name}")
            buyer.close()
