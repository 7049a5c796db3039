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
        "Each watch runs in a task of its caller and polls a server in another process every 10 s (a million "
        "watches: every 100 s) over persistent connections. Their starts are spread over one interval, and the "
        "figures are from the interval after the last start. Memory is what the process holds beyond an idle one "
        "that has sent one query, including the caller's task and the last report of each watch. A poll's lateness "
        "is the time between two reports minus the interval.",
        found,
        why_missed=(
            "Missed: a poll wakes a thread of Kassa's for its response and a thread of the caller's for the report, and with "
            "few concurrent polls none of them is awake. Of 100,000 watches some always have a query in flight, which needs "
            "memory, as do the lists of a gateway's watches, which grow by doubling."
        ),
        remarks=(
            "The system counts whole pages, and with few watches the allocator's reserve is most of them. A poll is "
            "late if it waits for a processor: on a busy machine, this measures the machine's run queue."
        ),
    )
