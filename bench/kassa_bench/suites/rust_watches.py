"""Many pending watches in one process."""

from __future__ import annotations

from ..foreign import rust
from ..results import Section


def run() -> Section:
    return Section(
        "Rust: pending watches",
        "Each watch on a task of its caller's, asking every 10 s, over a gateway in memory that answers at once; their starts "
        "are spread over the 10 s, and figures are taken over the 10 s after the last one started. Memory is what a process "
        "holds beyond an idle one that has asked once, the caller's task and the last report of each included. A poll is due "
        "10 s after the one before.",
        rust("watches"),
        remarks=(
            "What the system counts comes in whole pages, and with few watches the allocator's own stock is most of it. A poll "
            "is late where it waits for a processor: on a busy machine it is the machine's queue that is measured."
        ),
    )
