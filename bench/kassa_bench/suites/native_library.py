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

LIBRARY_BAR = 3_100_000
FIRST_ANSWER_BAR = 2.0

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

# Counted by hand, with `nm --size-sort` on cargo's library; what was tried, each in the order in which it was.
WHOSE = """### Binary size breakdown

Of 3.51 MB, on x86_64 Linux, November 2026, before queries ran where they are called:

| kB | whose |
|---|---|
| 548 | tables for unwinding (`.eh_frame` and its kin): without them a panic would end the host's process |
| 345 | ring, of which 152 are one table for P-256 |
| 333 | the core and the calls from other languages |
| 277 | rustls and its certificate verifier |
| 210 | reqwest, hyper, HTTP and URLs; tokio 68 more |
| 237 | exported functions: lifting arguments and lowering answers |
| 204 | tables of addresses, and of where they are put right when it is loaded |
| 136 | what the standard library prints backtraces with |
| 140 | Mozilla's roots |
| 118 | tables for host names in every script |
| 93 | PNG, QR codes, CRC |

What was tried, on the stripped library:

| bytes | what | kept |
|---|---|---|
| 3,864,096 | before | |
| -142,872 | `opt-level = "z"` in place of `"s"` | yes |
| -25,728 | equal functions merged by the linker (`--icf=all`) | yes |
| 0 | the linker's own `-O2` | no |
| -51,744 | Rust's blocking gateway not exported; no language called it | yes |
| -45,920 | no signers for client certificates | yes |
| -118,336 | no Unicode tables for hosts of URLs | no: it panics on a host that a response can hold, in builds with assertions |
| -110,592 | linked once more without UniFFI's metadata | yes |
| -27,272 | Swift's calls, outcomes and the start of an operation compiled once; no map that is collected | yes |
| +42,656 | `"s"` again for what each query goes through: 2 % more of the processor in place of 6 % | yes |
| -2,496 | log statements of dependencies compiled out | no: features unite, so the sandbox would fall silent, too |
| -106,392 | packed relative relocations (RELR) | no: glibc 2.36 or Android API 30 to load it; 10 kB gzipped |
| +212,000 | queries where they are called, with tokio's second scheduler; an index of responses | yes: no other thread wakes |
| -48,120 | no multi-threaded scheduler of tokio's | no: a disk that hangs would hold up the network |

[Why](docs/adr/0009-kilobytes.md)."""


def first_request(url: str) -> float:
    return float(subprocess.run([sys.executable, "-I", "-c", PROGRAM, url], check=True, capture_output=True).stdout)


def median_first_request() -> float:
    with server() as url:
        samples = in_turn({"first": lambda: first_request(url)}, rounds=15)["first"]
    return sorted(samples)[len(samples) // 2]


def verdict(figure: float, bar: float) -> str:
    return "kept" if figure < bar else "**missed**"


def run() -> Section:
    (library,) = Path(kassa.__file__).parent.glob("_native/*kassa_native*")
    size = library.stat().st_size
    packed = len(gzip.compress(library.read_bytes(), 9))
    first = median_first_request()
    rows = [
        (
            "the library, stripped, with HTTPS and QR inside",
            f"{size / 1e6:.2f} MB",
            f"3.10 MB, {verdict(size, LIBRARY_BAR)}",
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
            "panics."
        ),
        remarks=WHOSE,
    )
