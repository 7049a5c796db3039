"""The shop as a process of its own, which a test may kill and start again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import astuple
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from kassa_server.testing import KassaServer
from standardwebhooks import Webhook

from client import form, post
from patience import PATIENCE
from shop.standing import Event

FOLDER = Path(__file__).parents[1]
OWN = ("SHOP_", "KASSA_SERVER_URL", "KASSA_API_KEY", "KASSA_EVENTS_SECRET")


class ShopProcess:
    """A shop that is paid by a server, or brings its own."""

    def __init__(self, data: Path, port: int, server: KassaServer | None) -> None:
        self._environment = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
        if server is not None:
            self._environment |= {
                "KASSA_SERVER_URL": server.url,
                "KASSA_API_KEY": server.api_key,
                "KASSA_EVENTS_SECRET": server.events_secret,
            }
        self._environment |= {"SHOP_DATA": str(data), "SHOP_PORT": str(port)}
        self._secret = server.events_secret if server else ""
        self._database = data / ("shop.db" if server else "shop-tried-out.db")
        self._log = data / "shop.log"
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{port}"
        self.told = ""
        """What it has printed at its start."""

    def start(self) -> ShopProcess:
        """Starts it; it is ready when this returns."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shop"],
                cwd=FOLDER,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        self.told = ""
        while "Ctrl-C" not in self.told:
            line = self._process.stdout.readline()
            if not line:
                self.stop()
                raise AssertionError(f"{self.told}{self.log()}")
            self.told += line
        return self

    # What is in it

    def order(self, jars: int = 1) -> str:
        """Orders without a browser; the order's reference."""
        status, page_url = post(f"{self.url}/orders", form(quantity=str(jars)))
        assert (status, "/pay/" in page_url) == (303, True), self.log()
        return self.orders()[-1]

    def orders(self) -> list[str]:
        """The references of all orders, the newest last."""
        return self._read("SELECT reference FROM orders ORDER BY number")

    def checkouts(self, order: str) -> list[str]:
        """The references of an order's checkouts, the newest last."""
        return self._read("SELECT reference FROM checkouts WHERE order_reference = ? ORDER BY number", order)

    def page_urls(self, order: str) -> list[str]:
        """The pages where an order is paid."""
        return self._read("SELECT page_url FROM checkouts WHERE order_reference = ? ORDER BY number", order)

    def keep(self, event: Event) -> None:
        """Takes an event, and dies before anybody was told."""
        with closing(sqlite3.connect(self._database, timeout=PATIENCE)) as database, database:
            database.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(event))

    def _read(self, sql: str, *values: str) -> list[str]:
        with closing(sqlite3.connect(self._database, timeout=PATIENCE)) as database:
            return [first for (first,) in database.execute(sql, values)]

    def page_of(self, order: str) -> str:
        """The address of an order's page."""
        return f"{self.url}/orders/{order}"

    # Who tells it something

    def tell(
        self,
        checkout: str,
        kind: str,
        event_id: str,
        *,
        version: int = 1000,
        secret: str | None = None,
        age: timedelta = timedelta(0),
        also: str = "",
        **data: Any,
    ) -> int:
        """Sends an event as the server would, or as somebody who would like to be it; the status of the answer."""
        about = {"reference": checkout, "version": version, "amount": "390.00", "currency": "KGS", **data}
        body = json.dumps({"id": event_id, "type": kind, "data": about})
        at = datetime.now(tz=timezone.utc) - age
        signature = Webhook(secret or self._secret).sign(event_id, at, body)
        headers = {
            "content-type": "application/json",
            "webhook-id": event_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": also + signature,
        }
        return self.deliver(body.encode(), headers)

    def deliver(self, body: bytes, headers: dict[str, str]) -> int:
        """Sends whatever it is to where events are taken; the status of the answer."""
        status, _ = post(f"{self.url}/events", body, headers)
        return status

    # Its life

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
