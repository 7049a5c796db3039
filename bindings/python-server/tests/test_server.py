"""The server and a sandbox in one call: paid, asked, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import PATIENCE, Order
from kassa_sandbox import Sandbox, TestCard, TestPhone, cards, phones

from kassa_server import NotRunning, Refused, ServerError, StartError, TooLate
from kassa_server.testing import KassaServer

LONG = timedelta(seconds=PATIENCE)


def test_payer_pays_and_the_shop_is_told(kassa_server: KassaServer, order: Order) -> None:
    back = kassa_server.pay_by_form(order.page_url)
    assert back.startswith("http://127.0.0.1:9/paid?")
    paid = kassa_server.wait_for("checkout.paid", reference=order.reference, timeout=LONG)
    assert (paid.reference, paid.data["amount"], paid.data["checkout_state"]) == (order.reference, "390", "paid")
    assert paid.checkout == kassa_server.checkout(order.reference)["id"]
    kinds = [event.kind for event in kassa_server.events(reference=order.reference)]
    assert kinds == ["payment.created", "payment.accepted", "payment.charged", "checkout.paid"]
    assert paid in kassa_server.events("checkout.paid")
    assert kassa_server.sandbox.ledger()[-1].times_charged == 1


def page_of(server: KassaServer, reference: str) -> str:
    order = {"reference": reference, "amount": "390", "description": "Honey", "return_url": "http://127.0.0.1:9/paid"}
    page_url: str = server.request("POST", "/v1/checkouts", order)["page_url"]
    return page_url


@pytest.mark.parametrize("payer", [phones.MBANK_APPROVED, cards.APPROVED], ids=["wallet", "card"])
def test_payer_pays_on_the_page(kassa_server: KassaServer, payer: TestCard | TestPhone) -> None:
    reference = f"page-{payer.outcome}-{payer.otp}"
    page_url = page_of(kassa_server, reference)
    assert kassa_server.pay_on_page(page_url, payer).startswith(f"{page_url}/back?")
    kassa_server.wait_for("checkout.paid", reference=reference, timeout=LONG)
    with pytest.raises(ServerError, match="no way to pay"):
        kassa_server.pay_on_page(page_url)
    assert kassa_server.sandbox.ledger()[-1].times_charged == 1


def test_declined_payer_stays_at_the_gateway(kassa_server: KassaServer) -> None:
    assert kassa_server.pay_on_page(page_of(kassa_server, "page-declined"), phones.MBANK_DECLINED) == ""
    assert kassa_server.checkout("page-declined")["state"] == "open"


def test_what_never_happens_is_not_waited_for(kassa_server: KassaServer, order: Order) -> None:
    kassa_server.pay_by_form(order.page_url, phones.MEGAPAY_DECLINED)
    with pytest.raises(TooLate, match=r"checkout\.paid.*" + order.reference):
        kassa_server.wait_for("checkout.paid", reference=order.reference, timeout=timedelta(milliseconds=1))


def test_refusals_name_the_field(kassa_server: KassaServer, order: Order) -> None:
    with pytest.raises(Refused) as refused:
        kassa_server.request("POST", "/v1/checkouts", {"reference": "", "amount": "0", "return_url": "x"})
    assert (refused.value.http_status, refused.value.kind) == (400, "invalid")
    assert {field for field, _ in refused.value.violations} >= {"reference", "amount", "description", "return_url"}
    assert "amount" in str(refused.value)
    with pytest.raises(Refused) as unauthorized:
        kassa_server.request("GET", "/v1/events", key=order.token)
    assert unauthorized.value.http_status == 401


def test_events_are_listed_beyond_one_page(kassa_server: KassaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    Order(kassa_server)
    asked = kassa_server.request
    pages: list[str] = []

    def few(method: str, path: str) -> object:
        pages.append(path)
        return asked(method, path.replace("limit=1000", "limit=1"))

    expected = kassa_server.events()
    monkeypatch.setattr(kassa_server, "request", few)
    assert kassa_server.events() == expected
    assert len(pages) == len(expected) + 1


def test_crash_loses_nothing() -> None:
    with KassaServer() as server:
        order, address, key = Order(server), server.url, server.api_key
        server.kill()
        assert not server.is_running
        with pytest.raises(NotRunning):
            server.events()
        # The payer goes on without the server.
        server.pay_by_form(order.page_url)
        server.restart()
        assert (server.url, server.api_key) == (address, key)
        # What a shop does when the payer is back.
        server.request("POST", f"/v1/checkouts/{server.checkout(order.reference)['id']}/check")
        server.wait_for("checkout.paid", reference=order.reference, timeout=LONG)
        assert "serving" in server.log()


def test_sandbox_that_runs_already_is_taken_and_left(kassa_sandbox: Sandbox) -> None:
    kassa_sandbox.switches.change(acts_as="other")
    with KassaServer(sandbox=kassa_sandbox) as server:
        server.pay_by_form(Order(server).page_url)
        server.wait_for("checkout.paid", timeout=LONG)
        assert server.sandbox is kassa_sandbox
    assert kassa_sandbox.ledger()[-1].is_charged


def test_keys_are_many(kassa_server: KassaServer) -> None:
    another = kassa_server.new_api_key("another")
    assert another != kassa_server.api_key
    assert kassa_server.request("GET", "/v1/events", key=another)["events"] is not None


def test_start_that_fails_says_why() -> None:
    server = KassaServer(settings={"token_lifetime": "a year"})
    with pytest.raises(StartError, match="token_lifetime") as failed, server:
        pass
    assert failed.value.exit_code == 1
    assert not server.sandbox.is_running
    with pytest.raises(NotRunning):
        _ = server.url


def test_settings_of_another_server_do_not_concern_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KASSA_SERVER_POLL_WORKERS", "none")
    monkeypatch.setenv("KASSA_SERVER_CONFIG", "/nowhere")
    binary = os.environ.get("KASSA_SERVER_BINARY")
    with KassaServer() as server:
        assert server.events() == ()
    assert os.environ.get("KASSA_SERVER_BINARY") == binary


PARENT = """
import os, signal, sys
from kassa_server.testing import KassaServer
server = KassaServer().start()
print(server.pid, server.sandbox.pid, flush=True)
if sys.argv[1] == "fork":
    if os.fork() == 0:
        server.stop()
        sys.exit()
    os.wait()
    server.events()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("way", ["killed", "fork"])
def test_nothing_is_left_of_a_process_that_was_killed(way: str) -> None:
    parent = subprocess.run(
        [sys.executable, "-c", PARENT, way], capture_output=True, text=True, check=False, timeout=2 * PATIENCE
    )
    assert parent.returncode == -signal.SIGKILL, parent.stderr
    deadline = time.monotonic() + PATIENCE
    for pid in map(int, parent.stdout.split()):
        while runs(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def runs(pid: int) -> bool:
    """Whether there is such a process, apart from a zombie that nobody waits for."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        # It has gone just now, or this system has no such files.
        return True
    return stat.rpartition(")")[2].split()[0] != "Z"
