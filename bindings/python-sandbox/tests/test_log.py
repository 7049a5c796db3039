"""The sandbox's log goes where it is wanted, and never holds the sandbox up."""

from __future__ import annotations

import logging
import threading
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import PATIENCE

from kassa_sandbox import Sandbox


@pytest.fixture(autouse=True)
def nothing_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUST_LOG", raising=False)


def knock(sandbox: Sandbox, times: int = 1) -> None:
    """Asks an endpoint without credentials; each is a line in the log."""
    connection = HTTPConnection(urlsplit(sandbox.base_url).netloc, timeout=PATIENCE)
    for _ in range(times):
        connection.request("POST", "/api/v1.1.0/payment")
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 401
    connection.close()


def test_it_goes_to_pythons_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), Sandbox() as sandbox:
        knock(sandbox)
    lines = [record for record in caplog.records if "/api/v1.1.0/payment" in record.getMessage()]
    assert [(line.name, line.levelno) for line in lines] == [("kassa_sandbox", logging.INFO)]
    assert lines[0].getMessage().startswith("request ")
    assert "status=401" in lines[0].getMessage()


def test_it_goes_to_a_file_across_restarts(tmp_path: Path) -> None:
    file = tmp_path / "sandbox.log"
    with Sandbox(log=file) as sandbox:
        knock(sandbox)
        sandbox.restart()
        knock(sandbox)
    assert file.read_text().count("/api/v1.1.0/payment") == 2


def test_it_can_be_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), Sandbox(log=None) as sandbox:
        knock(sandbox)
    assert not [record for record in caplog.records if record.name == "kassa_sandbox"]


def test_handler_that_stands_still_does_not_hold_up_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.Logger("stuck")
    go_on = threading.Event()
    handled: list[str] = []

    class Stuck(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert go_on.wait(PATIENCE)
            handled.append(record.getMessage())

    logger.addHandler(Stuck())
    # All of them are waited for, however busy the machine is.
    monkeypatch.setattr("kassa_sandbox._log.HANDING_ON_PATIENCE", PATIENCE)
    with Sandbox(log=logger) as sandbox:
        # Far more than the pipe between the two holds.
        knock(sandbox, 1500)
        go_on.set()
    assert len(handled) >= 1500
