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
        "A mobile-bank payment over a gateway in memory that answers at once, with a journal and without, 20 a round, "
        "51 rounds; beside "
        "it two appends of 200 bytes to one file, each flushed (`fdatasync`), on the same disk. The entries that are "
        "listed are of one day, "
        "and in the system's cache; memory is what the allocator counts.",
        found,
        remarks=(
            "A journal makes a file of its own for each payment and flushes that and its folder, where the bare writer "
            "flushes one file "
            "twice. The entries of a day are read some thousands at a time, to be put into order."
        ),
    )
