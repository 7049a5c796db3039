"""The sandbox: its program, its start, and under load."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import requests

from ..foreign import ROOT, rust
from ..mocks import mocks
from ..results import Figures, Section

START_BAR_MS = 150
PAGE_BAR_MS = 50
FIGURE_BAR_MS = 20
DEMO = 100_000
# The invented history is of the last 90 days: a page half-way through it.
DEEP_PLACE = f"{round((time.time() - 45 * 86_400) * 1e3)}.0"
SEARCH = "/dashboard?q=coffee"
PAGES = {
    "the first page, transactions": ("/dashboard", PAGE_BAR_MS),
    "a page 45 days back": (f"/dashboard?after={DEEP_PLACE}", None),
    "search for a text that many have": (SEARCH, FIGURE_BAR_MS),
    "search for a text that nobody has": ("/dashboard?q=balalaika", FIGURE_BAR_MS),
    "search for a text, of charged ones": (f"{SEARCH}&status=CHARGE", None),
    "pending ones, the largest first": ("/dashboard?status=PENDING&sort=largest", None),
    "charts": ("/dashboard/charts", None),
    "analysis": ("/dashboard/analysis", FIGURE_BAR_MS),
    "analysis of all time": ("/dashboard/analysis?span=all", FIGURE_BAR_MS),
}
# The index of texts is filled in the background once somebody searches.
INDEXING_S = 60
ROUNDS = 15
QUESTION = json.dumps({"orderNumber": "NONE", "provider": "Cards"})


def build() -> Path:
    """The program as it is released."""
    cargo = os.environ.get("CARGO", "cargo")
    subprocess.run([cargo, "build", "--quiet", "--locked", "--release", "-p", "kassa-sandbox"], check=True, cwd=ROOT)
    return Path(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release/kassa-sandbox")


def size(program: Path, folder: Path) -> str:
    stripped = folder / "kassa-sandbox"
    shutil.copy(program, stripped)
    subprocess.run(["strip", stripped], check=True)
    return f"{stripped.stat().st_size / 1e6:.2f} MB"


@contextmanager
def started(program: Path, *options: str) -> Generator[dict[str, str], None, None]:
    """What a sandbox announces; it runs for as long."""
    command = [program, "--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin", *options]
    quiet = {**os.environ, "RUST_LOG": "warn"}
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=quiet)
    with child:
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the sandbox has no pipes")
        yield json.loads(child.stdout.readline())
        child.stdin.close()


def milliseconds_to_answer(program: Path, *options: str) -> float:
    """From the start of the process to the first answer of an endpoint."""
    begun = time.perf_counter()
    with started(program, *options) as sandbox:
        connection = http.client.HTTPConnection(urlsplit(sandbox["url"]).netloc)
        token = base64.b64encode(f"{sandbox['login']}:{sandbox['password']}".encode()).decode()
        connection.request("POST", "/api/v1.1.0/get-status", QUESTION, {"authorization": f"Basic {token}"})
        if not connection.getresponse().read():
            raise RuntimeError("the sandbox has nothing to say")
        took = (time.perf_counter() - begun) * 1e3
        connection.close()
    return took


def start(program: Path, folder: Path) -> list[tuple[str, str, str]]:
    rows = []
    for title, options in (("in memory", ()), ("with a new file", ("--db",))):
        arguments = [(*options, str(folder / f"start-{turn}.db")) if options else () for turn in range(ROUNDS)]
        took = statistics.median(milliseconds_to_answer(program, *each) for each in arguments)
        rows.append((f"start to first answer, {title}", f"{took:.1f} ms", bar(took, START_BAR_MS)))
    return rows


def bar(took: float, most: float) -> str:
    return f"{most} ms, {'met' if took <= most else '**missed**'}"


def logged_in(sandbox: dict[str, str]) -> requests.Session:
    """Somebody who looks at the dashboard."""
    session = requests.Session()
    session.trust_env = False
    form = session.get(f"{sandbox['url']}/dashboard/login").text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
    data = {**hidden, "login": sandbox["login"], "password": sandbox["password"]}
    session.post(f"{sandbox['url']}/dashboard/login", data).raise_for_status()
    return session


def milliseconds_to_page(session: requests.Session, url: str) -> float:
    begun = time.perf_counter()
    page = session.get(url, allow_redirects=False)
    took = (time.perf_counter() - begun) * 1e3
    if page.status_code != 200 or "Log in" in page.text:
        raise RuntimeError(f"{url} is not shown: {page.status_code}")
    return took


def is_indexed(database: Path) -> bool:
    """Whether every payment has been taken into the index of texts."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return bool(
            connection.execute("SELECT upto = (SELECT MAX(id) FROM payments) FROM payments_text_upto").fetchone()[0]
        )


def dashboard(program: Path, folder: Path) -> Figures:
    """Its pages over many payments, on disk."""
    rows = []
    with started(program, "--seed-demo", str(DEMO), "--db", str(folder / "demo.db")) as sandbox:
        session = logged_in(sandbox)
        first = milliseconds_to_page(session, sandbox["url"] + SEARCH)
        rows.append(("the first search, without an index", f"{first:.1f} ms", ""))
        began = time.monotonic()
        while not is_indexed(folder / "demo.db"):
            if time.monotonic() - began > INDEXING_S:
                raise RuntimeError("the index of texts is never filled")
            time.sleep(0.1)
        rows.append(("until the index is filled", f"{time.monotonic() - began:.1f} s", ""))
        for title, (path, most) in PAGES.items():
            took = statistics.median(milliseconds_to_page(session, sandbox["url"] + path) for _ in range(ROUNDS))
            rows.append((title, f"{took:.1f} ms", bar(took, most) if most else ""))
        session.close()
    return Figures(f"The dashboard, {DEMO} payments on disk", rows)


def run() -> Section:
    program = build()
    with tempfile.TemporaryDirectory() as folder:
        rows = [("size, stripped", size(program, Path(folder)), ""), *start(program, Path(folder))]
        pages = dashboard(program, Path(folder))
        with started(program) as sandbox, mocks(sandbox["url"], Path(folder)) as peers:
            load = rust("sandbox", program, peers)
    return Section(
        "The sandbox",
        "As a separate program; its clients share the processors with it. Under load: 16 connections, 5 rounds of "
        "1,000 queries and 400 creates of MBank payments each, the median of the rounds. Then compared with general "
        "mock servers, in memory, with 16 connections and 1,000 requests per round, after ten warm-up rounds: "
        "WireMock and Prism get the same requests and return configured responses, Prism from the sandbox's own "
        "OpenAPI description; stripe-mock gets charges, because it only knows Stripe's interface. WireMock keeps its "
        "request journal, as it does by default. None of them stores payments. The floor answers every request with "
        "the same bytes. Then 1,500 MBank payments through the SDK by 16 callers: created, confirmed and queried.",
        [Figures("The program", rows), pages, *load],
        remarks=(
            "The writes of concurrent requests are committed together, so on disk a create costs more the fewer run "
            "concurrently. Requests are written to the log within 10 ms, in batches."
        ),
    )
