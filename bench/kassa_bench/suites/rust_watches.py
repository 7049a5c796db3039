"""Many pending watches in one process."""

from __future__ import annotations

from ..foreign import rust
from ..results import Section
from ..server import server


def run() -> Section:
    with server("pending") as url:
        found = rust("watches", url)
    return Section(
        "Rust: pending watches",
        "Each watch on a task of its caller's, asking a server in a process of its own every 10 s, a million of them every "
        "100 s, over connections that stay open. Their starts are spread over one interval, and figures are taken over the "
        "one after the last has started. Memory is what a process holds beyond an idle one that has asked once, the caller's "
        "task and the last report of each included. A poll is late by how much more than an interval passed between two "
        "reports.",
        found,
        why_missed=(
            "Missed: a poll goes from the caller's thread to Kassa's and back, and where few come at once each wakes a thread. "
            "Of 100,000 watches some are always asking, and hold a question each."
        ),
        remarks=(
            "What the system counts comes in whole pages, and with few watches the allocator's own stock is most of it. A poll "
            "is late where it waits for a processor: on a busy machine it is the machine's queue that is measured."
        ),
    )
