"""Keeps the processors awake while something short is measured.

A processor that falls asleep between two queries needs longer to wake than the query takes, and ratios of such times say
nothing. So short waits are measured twice: as the machine is, and with a program on each processor that only runs where nothing
else does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from .results import Comparison, Figures

SPINNER = """
import os, sys
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.sched_setaffinity(0, {int(sys.argv[1])})
print(flush=True)
parent = os.getppid()
while os.getppid() == parent:
    pass
"""


@contextmanager
def awake() -> Generator[None, None, None]:
    """Nothing, where the system has no such priority."""
    if not hasattr(os, "SCHED_IDLE"):
        yield
        return
    with ExitStack() as stack:
        for processor in sorted(os.sched_getaffinity(0)):
            child = subprocess.Popen(
                [sys.executable, "-I", "-c", SPINNER, str(processor)], stdout=subprocess.PIPE, text=True
            )
            stack.enter_context(child)
            stack.callback(child.kill)
            if child.stdout is not None:
                child.stdout.readline()
        yield


def both_ways(measure: Callable[[], list[Comparison | Figures]]) -> list[Comparison | Figures]:
    """Measures on the machine as it is, and once more with its processors kept awake."""
    found = measure()
    with awake():
        again = measure()
    return found + [
        replace(one, title=f"{one.title}, processors kept awake") for one in again if isinstance(one, Comparison)
    ]
