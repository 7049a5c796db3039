"""A status query in Rust, and what it allocates."""

from __future__ import annotations

from ..awake import both_ways
from ..foreign import rust
from ..results import Section
from ..server import server


def run() -> Section:
    with server() as url:
        found = both_ways(lambda: rust("query", url))
    return Section(
        "Rust: a status query",
        "Sequential queries over a warm connection, 200 per round, and 100 concurrent ones; 51 rounds. All clients "
        "send the same JSON with the same credentials, and read the status and the exact amount from the response. "
        "Allocations are counted on all threads, for sequential queries.",
        found,
        remarks=(
            "A query runs in its caller's task, over a connection of that task's runtime, as with reqwest. In "
            "addition, Kassa handles the deadline, the rules, the search for secrets in the response, and the raw "
            "response text. If the machine sleeps between two queries, the times are bimodal, and a round's ratio "
            "can compare one mode with the other: a round takes about 30 us or about 90 us per query, for every "
            "client, depending on which of the runtime's two workers has the connection and the caller. So the tables "
            "with processors kept awake say more."
        ),
    )
