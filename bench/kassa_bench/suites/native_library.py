"""What an app downloads and loads."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import kassa

from ..measure import in_turn
from ..results import Figures, Section
from ..server import server

LIBRARY_BAR = 3_400_000
FIRST_ANSWER_BAR = 2.0

# Nothing of Kassa's is loaded before the clock starts.
PROGRAM = """
import sys, time
started = time.perf_counter()
from kassa import Credentials, Gateway, Provider
loaded = time.perf_counter()
gateway = Gateway(sys.argv[1], Credentials("a", "b"))
gateway.provider_status("1", Provider.CARDS)
print((time.perf_counter() - loaded) * 1e3)
"""


def first_request(url: str) -> float:
    return float(subprocess.run([sys.executable, "-I", "-c", PROGRAM, url], check=True, capture_output=True).stdout)


def median_first_request() -> float:
    with server() as url:
        samples = in_turn({"first": lambda: first_request(url)}, rounds=15)["first"]
    return sorted(samples)[len(samples) // 2]


def verdict(figure: float, bar: float) -> str:
    return "met" if figure <= bar else "**missed**"


def run() -> Section:
    (library,) = Path(kassa.__file__).parent.glob("_native/*kassa_native*")
    size = library.stat().st_size
    packed = len(gzip.compress(library.read_bytes(), 9))
    first = median_first_request()
    rows = [
        (
            "the library, stripped, with HTTPS and QR inside",
            f"{size / 1e6:.2f} MB",
            f"{LIBRARY_BAR / 1e6:.2f} MB, {verdict(size, LIBRARY_BAR)}",
        ),
        ("the same, gzipped", f"{packed / 1e6:.2f} MB", ""),
        (
            "from the loaded library to the answer of the first query",
            f"{first:.2f} ms",
            f"{FIRST_ANSWER_BAR:.2f} ms, {verdict(first, FIRST_ANSWER_BAR)}",
        ),
    ]
    return Section(
        "The native library",
        "The library of the packages for this machine.",
        [Figures("The library", rows)],
        why_missed=(
            "Missed: the rest is TLS and its cryptography, the core, HTTP, and tables for unwinding and reporting "
            "panics. A library for apps with a `Checkout` alone, or one without the journal and the delivery worker, "
            "would be smaller, and one more thing to build, sign and test for each platform."
        ),
        remarks="[What takes how much of it, and what was tried](docs/adr/0009-kilobytes.md).",
    )
