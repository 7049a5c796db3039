"""What it costs that no payment is forgotten."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..foreign import ROOT, rust
from ..results import Section


def run() -> Section:
    # On the disk of the project, and not in a folder that may be in memory.
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        found = rust("journal", Path(folder))
    return Section(
        "Rust: the journal",
        "A mobile-bank payment with an in-memory gateway that responds at once, with and without a journal, 20 per "
        "round, 51 rounds. The peer is two appends of 200 bytes to one file, each flushed (`fdatasync`), on the same "
        "disk. The listed entries are of one day, and in the system's cache; memory is as the allocator counts it.",
        found,
        remarks=(
            "A journal creates a file for each payment and flushes the file and its folder, while the bare writer "
            "flushes one file twice. The entries of a day are read some thousands at a time, to sort them."
        ),
    )
