"""The merchant's server over PostgreSQL: what a fleet of servers reaches, and what its peers take on the same one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..foreign import ROOT, rust, setup
from ..results import Section
from .sandbox import build
from .server import allow_files


def run() -> Section:
    allow_files()
    os.environ["KASSA_BENCH_SANDBOX"] = str(build())
    os.environ["KASSA_BENCH_RIVER"] = " ".join(setup("ci/build-river-bench"))
    os.environ["KASSA_BENCH_GRAPHILE"] = " ".join(setup("ci/build-graphile-bench"))
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        parts = rust("server", Path(folder), "postgres")
    return Section(
        "The merchant's server as a fleet, on PostgreSQL",
        "A cluster of the machine's PostgreSQL, started for this, with `fsync` and `synchronous_commit` on, "
        "`shared_buffers` of 2 GB and `max_wal_size` of 8 GB; servers, callers, the gateway and PostgreSQL share the "
        "processors, so a second process adds only what the first left unused, not a second machine. Each "
        "measurement has a copy of one database with a million open payments, spread evenly over three days. A lease "
        "is a claim of the whole server: it finds due payments, takes from the fleet's token bucket, leases, and "
        "reads the payments. Each peer has a database in the same cluster, with a million due jobs, and takes turns "
        "with Kassa, 20,000 per round, seven rounds after one warm-up round. The sandbox is in memory.",
        parts,
        remarks=(
            "Intents and answers are one transaction each, with two or three round trips and up to a dozen "
            "statements; on two cores the limit is the computation of PostgreSQL and the server, not the disk. "
            "SQLite groups the commits of many callers and has no round trips. A job of River or graphile-worker "
            "writes one row; Kassa stores each query with the gateway's response, and locks the payment and its "
            "checkout."
        ),
        why_missed=(
            "Recorded charges that miss their rate: each writes the payment, its checkout, two events and their "
            "stream to random places of tables and indexes, so after a checkpoint most writes are whole pages."
        ),
    )
