"""A status query in Rust, and what it allocates."""

from __future__ import annotations

from ..foreign import rust
from ..results import Section
from ..server import server


def run() -> Section:
    with server() as url:
        found = rust("query", url)
    return Section(
        "Rust: a status query",
        "One query after the other over a warm connection, 200 a round, and 100 at once; 51 rounds. Everybody sends the same "
        "JSON with the same credentials, and reads status and exact amount from the reply. What is allocated is counted on all "
        "threads, at one query after the other.",
        found,
        remarks=(
            "Kassa's network has threads of its own, so that a payment on its way outlives its caller, on whatever executor "
            "that runs. A query goes there and back, and each way wakes a thread. A task that calls reqwest stays on its "
            "thread, and so does its connection: that is most of the difference. From `main`, which is no thread of the "
            "runtime, every client has to wake one, and what is left is what Kassa does beside: the deadline, the rules, the "
            "search for secrets in the reply, and the reply kept as text."
        ),
    )
