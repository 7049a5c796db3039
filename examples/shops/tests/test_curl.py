"""The checkout by curl, as somebody runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest
from kassa_sandbox import TestPhone, phones
from kassa_server.testing import KassaServer
from shop_process import FOLDER, PATIENCE


@pytest.fixture(scope="module")
def server() -> Iterator[KassaServer]:
    with KassaServer() as server:
        yield server


def buy(
    server: KassaServer, order: str, payer: TestPhone, otp: str | None = None, **changed: str
) -> subprocess.CompletedProcess[str]:
    """Runs the script, and types the code when it is asked for."""
    environment = {"KASSA_SERVER_URL": server.url, "KASSA_API_KEY": server.api_key, "no_proxy": "127.0.0.1"}
    return subprocess.run(
        [FOLDER / "curl/checkout.sh", order, payer.phone],
        env={**os.environ, **environment, **changed},
        input=f"{otp or payer.otp}\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_who_pays_by_curl_has_paid(server: KassaServer) -> None:
    bought = buy(server, "order-17", phones.MBANK_APPROVED)
    assert bought.returncode == 0, bought
    page, end = bought.stdout.splitlines()
    assert page.startswith(f'"page_url":"{server.url}/pay/')
    assert end == "The code from the SMS? paid"
    (payment,) = server.checkout("order-17")["payments"]
    assert payment["state"] == "charged"


def test_who_is_declined_is_told(server: KassaServer) -> None:
    bought = buy(server, "order-19", phones.MBANK_DECLINED)
    assert bought.stdout.endswith("not paid yet: the payment was rejected\n"), bought
    assert server.checkout("order-19")["state"] == "open"


def test_wrong_code_is_asked_for_again(server: KassaServer) -> None:
    bought = buy(server, "order-20", phones.MBANK_APPROVED, otp=f"000000\n{phones.MBANK_APPROVED.otp}")
    assert bought.stdout.endswith("The code from the SMS? The code from the SMS? paid\n"), bought
    (payment,) = server.checkout("order-20")["payments"]
    assert payment["state"] == "charged"


def test_refusal_ends_it_and_shows_what_is_wrong(server: KassaServer) -> None:
    refused = buy(server, "order-18", phones.MBANK_APPROVED, KASSA_API_KEY="ak_wrong")
    assert refused.returncode != 0
    assert "401" in refused.stderr
