"""The same server for everyone who is measured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

PATH = "/api/v1.1.0/get-status"


@contextmanager
def server(*arguments: str) -> Generator[str, None, None]:
    """Gives the address of a server that answers every request with the same status report."""
    with server_process(*arguments) as (url, _):
        yield url


@contextmanager
def server_process(*arguments: str) -> Generator[tuple[str, int], None, None]:
    """The same, and the process that it is."""
    child = subprocess.Popen(
        [os.environ["KASSA_BENCH_SERVER"], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the server has no pipes")
        yield child.stdout.readline().strip(), child.pid
        child.stdin.close()
