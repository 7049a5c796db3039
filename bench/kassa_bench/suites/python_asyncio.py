"""A status query from Python, on an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from ..awake import awake
from ..measure import in_turn_async
from ..queries import ASYNC, AT_ONCE
from ..results import Comparison, Section
from ..server import server

Ask = Callable[[], Awaitable[object]]


async def one_by_one(ask: Ask) -> float:
    started = time.perf_counter()
    for _ in range(200):
        await ask()
    return (time.perf_counter() - started) / 200 * 1e6


async def at_once(ask: Ask) -> float:
    started = time.perf_counter()
    for _ in range(5):
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    return (time.perf_counter() - started) / (5 * AT_ONCE) * 1e6


WAYS = (
    ("One by one", one_by_one, {"aiohttp": 0.9, "pyreqwest": 1.0}),
    (f"{AT_ONCE} at once", at_once, {"aiohttp": 0.45, "wreq": 1.1}),
)


async def measure(url: str, circumstance: str = "") -> list[Comparison]:
    clients = {name: client(url) for name, client in ASYNC.items()}
    parts = []
    for title, how, bars in WAYS:
        subjects = {name: partial(how, client.ask) for name, client in clients.items()}
        samples = await in_turn_async(subjects, rounds=31)
        parts.append(Comparison(title + circumstance, "us each", samples, bars))
    for client in clients.values():
        await client.close()
    return parts


def run() -> Section:
    with server() as url:
        parts = asyncio.run(measure(url))
        with awake():
            parts += asyncio.run(measure(url, ", processors kept awake"))
    return Section(
        "Python: a status query, asyncio",
        "Over warm connections: 200 sequential queries per round, and five times 100 concurrent ones; 31 rounds. "
        "Each peer may hold 100 connections.",
        parts,
        why_missed=(
            "Missed: sequential queries mostly wait: Kassa's network has its own threads, so each query wakes a thread and "
            "is woken by one, while aiohttp's stays on the event loop's thread. On a machine that sleeps in between, "
            "these wake-ups are most of the time."
        ),
    )
