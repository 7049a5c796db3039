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

LIBRARY_BAR = 2_700_000

# Nothing of Kassa's is loaded before the clock starts.
PROGRAM = """
import sys, time
started = time.perf_counter()
import kassa
loaded = time.perf_counter()
gateway = kassa.Gateway(sys.argv[1], kassa.Credentials("a", "b"))
gateway.provider_status("1", kassa.Provider.CARDS)
print((time.perf_counter() - loaded) * 1e3)
"""


def first_request(url: str) -> float:
    return float(subprocess.run([sys.executable, "-I", "-c", PROGRAM, url], check=True, capture_output=True).stdout)


def median_first_request() -> float:
    with server() as url:
        samples = in_turn({"first": lambda: first_request(url)}, rounds=15)["first"]
    return sorted(samples)[len(samples) // 2]


def run() -> Section:
    (library,) = Path(kassa.__file__).parent.glob("_native/*kassa_native*")
    size = library.stat().st_size
    packed = len(gzip.compress(library.read_bytes(), 9))
    verdict = "kept" if size < LIBRARY_BAR else "**missed**"
    rows = [
        ("the library, stripped, with HTTPS and QR inside", f"{size / 1e6:.2f} MB", f"2.70 MB, {verdict}"),
        ("the same, gzipped", f"{packed / 1e6:.2f} MB", ""),
        ("from the loaded library to the answer of the first query", f"{median_first_request():.2f} ms", ""),
    ]
    return Section(
        "The native library",
        "As it is in the packages for this machine.",
        [Figures("The library", rows)],
        why_missed=(
            "Missed: rustls and ring take 0.7 MB, what the standard library prints backtraces with and UniFFI's "
            "functions with their metadata 0.17 MB each, and the IDNA tables of URLs 0.1 MB. Optimised for nothing but "
            "size it is 0.1 MB smaller."
        ),
    )
