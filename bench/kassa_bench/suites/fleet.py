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
        "`shared_buffers` of 2 GB and `max_wal_size` of 8 GB; servers, callers, the gateway and PostgreSQL share "
        "the processors, so a second process brings what the first left unused, and no machine. Each measurement "
        "has a copy of one database with a million open payments, spread evenly over three days. A lease is a "
        "claim of the whole server: it looks what is due, takes out of the fleet's bucket, leases, and reads the "
        "payments. The peers have a database each in the same cluster, with a million jobs that are due, and take"
        " turns with Kassa, 20,000 a round, seven rounds after one that does not count. The sandbox is in memory.",
        parts,
        remarks=(
            "Intents and answers are a transaction each, of two or three round trips and up to a dozen "
            "statements; what PostgreSQL and the server compute for them is the limit on two cores, not the disk."
            " SQLite groups the commits of many callers and has no round trips. A job of River's or graphile-"
            "worker's writes one row; a question of Kassa's is put down with what the gateway said, beside the "
            "payment's and its checkout's locks."
        ),
        why_missed=(
            "Where recorded charges miss their rate: each writes the payment, its checkout, two events and "
            "their stream into tables and indexes at random places, so that after a checkpoint most writes are "
            "whole pages."
        ),
    )
