"""The shop as a process of its own, which a test may kill and start again."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import TracebackType

import kassa_sandbox

FOLDER = Path(__file__).parents[1]


class ShopProcess:
    """A shop that pays with a sandbox, or brings its own."""

    def __init__(self, data: Path, sandbox: kassa_sandbox.Sandbox | None, **environment: str) -> None:
        own = {name: text for name, text in os.environ.items() if not name.startswith(("SHOP_", "KASSA_LOGIN"))}
        if sandbox is not None:
            own |= {
                "KASSA_URL": sandbox.base_url,
                "KASSA_LOGIN": sandbox.login,
                "KASSA_PASSWORD": sandbox.password,
                "KASSA_DIALECT": str(FOLDER.parent / "sandbox-dialect.json"),
            }
        self._environment = own | {"SHOP_DATA": str(data), "SHOP_POLL_SECONDS": "0.2", **environment}
        self._data = data
        self._log = data / "shop.log"
        self._port = "0"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> ShopProcess:
        """Starts it; it is ready when this returns. After the first time, on the same port."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shop"],
                cwd=FOLDER,
                env={**self._environment, "SHOP_PORT": self._port},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        first_line = self._process.stdout.readline()
        assert "http://" in first_line, f"{first_line}{self.log()}"
        self._port = first_line.strip().rpartition(":")[2]
        return self

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    def payment_ids(self) -> list[str]:
        """Its own references of the payments, oldest first."""
        with closing(sqlite3.connect(self._data / "shop.db")) as database:
            return [payment_id for (payment_id,) in database.execute("SELECT id FROM payments ORDER BY number")]

    def hints(self) -> list[str]:
        """What told it about a payment: callbacks, and returns that named a number."""
        with closing(sqlite3.connect(self._data / "shop.db")) as database:
            return [kind for (kind,) in database.execute("SELECT kind FROM hints")]

    def log(self) -> str:
        """What it has logged."""
        return self._log.read_text()

    def kill(self) -> None:
        """Ends it as a crash would."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def stop(self) -> int:
        """Ends it in order, where it runs; its exit status."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.terminate()
        status = self._process.wait()
        self._process.stdout.close()
        return status

    def __enter__(self) -> ShopProcess:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
