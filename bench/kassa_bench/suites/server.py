"""The merchant's server: its program, its start, and what it does over SQLite on the disk of the project."""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from ..foreign import ROOT, rust
from ..results import Figures, Section
from .sandbox import build as build_sandbox

SIZE_BAR_MB = 15
START_BAR_MS = 150
ROUNDS = 15
# Each of 10,000 apps has a connection at both ends, in a process each.
FILES = 16_384
SETTINGS = """
listen = "127.0.0.1:0"
public_url = "http://127.0.0.1:8080"
database = "kassa.db"
log = "error"

[gateway]
url = "http://127.0.0.1:9"
login = "kassa"
password = "correct horse battery"
"""


def build() -> Path:
    """The program as it is released."""
    cargo = os.environ.get("CARGO", "cargo")
    subprocess.run([cargo, "build", "--quiet", "--locked", "--release", "-p", "kassa-server"], check=True, cwd=ROOT)
    return Path(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release/kassa-server")


def bar(figure: float, most: float, write: str) -> tuple[str, str]:
    """A figure and its bar, both written by the same hand."""
    return write.format(figure), f"{write.format(most)}, {'met' if figure <= most else '**missed**'}"


def megabytes(program: Path, folder: Path) -> float:
    stripped = folder / "kassa-server"
    shutil.copy(program, stripped)
    subprocess.run(["strip", stripped], check=True)
    return stripped.stat().st_size / 1e6


def milliseconds_to_answer(program: Path, folder: Path) -> float:
    """From the start of the process to its first answer, which the database has a part in."""
    command = [str(program), "serve", "--config", "kassa.toml", "--announce", "json", "--exit-with-stdin"]
    pipe = subprocess.PIPE
    begun = time.perf_counter()
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=folder) as child:
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the server has no pipes")
        connection = http.client.HTTPConnection(urlsplit(json.loads(child.stdout.readline())["url"]).netloc)
        connection.request("GET", "/readyz")
        if connection.getresponse().status != http.client.OK:
            raise RuntimeError("the server is not ready")
        took = (time.perf_counter() - begun) * 1e3
        connection.close()
        child.stdin.close()
    return took


def start(program: Path, folder: Path) -> list[float]:
    """With a new file, and with that file again."""
    settings = folder / "kassa.toml"
    settings.write_text(SETTINGS)
    settings.chmod(0o600)
    return [milliseconds_to_answer(program, folder) for _ in range(2)]


def the_program(folder: Path) -> Figures:
    program = build()
    starts = []
    for turn in range(ROUNDS):
        place = folder / f"start-{turn}"
        place.mkdir()
        starts.append(start(program, place))
    new, again = (statistics.median(times) for times in zip(*starts, strict=True))
    rows = [
        ("size, stripped", *bar(megabytes(program, folder), SIZE_BAR_MB, "{:.2f} MB")),
        ("start to first answer, with a new file", *bar(new, START_BAR_MS, "{:.1f} ms")),
        ("start to first answer, with a file that is there", *bar(again, START_BAR_MS, "{:.1f} ms")),
    ]
    return Figures("The program", rows)


def allow_files() -> None:
    """As many as the apps' connections need, for this process and those that it starts."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, max(most, FILES)))


def run() -> Section:
    allow_files()
    os.environ["KASSA_BENCH_SANDBOX"] = str(build_sandbox())
    # On the disk of the project, and not in a folder that may be in memory.
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        parts = [the_program(Path(folder)), *rust("server", Path(folder), "sqlite")]
    return Section(
        "The merchant's server",
        "Over SQLite in WAL with `synchronous=FULL`; callers, gateway and server share the processors. The gateway "
        "is in memory. The first payment: 51 rounds of 20 through the library, and of 20 times two appends of 200 "
        "bytes to one file, each flushed (`fdatasync`), on the same disk; the median of all. The bar is the median "
        "of the two appends plus 0.5 ms. The many open payments are spread evenly over three days and written by "
        "SQL, without their events; their file is in the system's cache. The memory of apps is the growth of the "
        "server's process when 10,000 of them wait.",
        parts,
        why_missed=(
            "Missed times and rates: a first payment is two commits, each of which flushes the log and changes pages of "
            "several tables, and the worker that looks for due work takes a tenth of a millisecond of it. A charged "
            "recorded answer writes the payment, its checkout, two events and their delivery, and SQLite has one writer. "
            "The program's size: three quarters of it is code, built for speed (`opt-level = 3`); it was 9.67 MB before the "
            'pages, telemetry, probe and MegaPay, and what `"s"` would save was not measured.'
        ),
    )
