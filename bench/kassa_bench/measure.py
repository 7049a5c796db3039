"""Taking figures in turn."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Mapping


def in_turn(subjects: Mapping[str, Callable[[], float]], *, rounds: int) -> dict[str, list[float]]:
    """Each subject's figure once a round, after one round that does not count."""
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, measure in subjects.items():
            gc.collect()
            figure = measure()
            if number:
                samples[name].append(figure)
    return samples


async def in_turn_async(
    subjects: Mapping[str, Callable[[], Awaitable[float]]], *, rounds: int
) -> dict[str, list[float]]:
    """The same, on an event loop."""
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, measure in subjects.items():
            gc.collect()
            figure = await measure()
            if number:
                samples[name].append(figure)
    return samples


def microseconds_each(work: Callable[[], object], *, times: int) -> float:
    """How long one of many takes."""
    started = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - started) / times * 1e6
