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
        "JSON with the same credentials, and reads status and exact amount from the response. What is allocated is counted "
        "on all threads, at one query after the other.",
        found,
        remarks=(
            "A query runs in the task that asks, over a connection of that task's runtime, as reqwest's does. What Kassa "
            "does beside is the deadline, the rules, the search for secrets in the response, and the response kept as text. "
            "Where the machine falls asleep between two queries, times of each have two heights, and the ratio of a round "
            "may be of one with the other: a round takes some 30 us a query or some 90, for every client, as the "
            "runtime's two workers happen to share a connection and who asks over it or not. So the first table says "
            "little by one run: in six, on nearly the same code, its median beside reqwest was 0.90, 1.15, 1.18, 1.32, "
            "1.49 and 3.32."
        ),
    )
