"""How long a Python program waits before Kassa answers for the first time."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial

from ..measure import in_turn
from ..results import Comparison, Section
from ..server import server

PACKAGES = ["kassa", "urllib3", "requests", "httpx", "aiohttp"]

# Each imports nothing but itself.
FIRST = {
    "Kassa": "import kassa; kassa.Gateway(url, kassa.Credentials('a', 'b')).provider_status('1', kassa.Provider.CARDS)",
    "urllib3": "import urllib3; urllib3.PoolManager().request('POST', url, body='{}').data",
    "requests": "import requests; requests.Session().post(url, json={}).content",
    "httpx": "import httpx; httpx.Client().post(url, json={}).content",
    "a bare socket": (
        "import socket; host, port = url.removeprefix('http://').split(':'); s = socket.create_connection((host, port)); "
        "s.sendall(b'POST / HTTP/1.1\\r\\ncontent-length: 0\\r\\n\\r\\n'); s.recv(4096)"
    ),
}


def milliseconds(program: str, *arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", program, *arguments], check=True)
    return (time.perf_counter() - started) * 1e3


def run() -> Section:
    imports = {name.capitalize() if name == "kassa" else name: f"import {name}" for name in PACKAGES}
    imports["Python alone"] = "pass"
    imported = in_turn({name: partial(milliseconds, program) for name, program in imports.items()}, rounds=15)
    with server() as url:
        asked = in_turn(
            {name: partial(milliseconds, f"url = {url!r}; {program}") for name, program in FIRST.items()}, rounds=15
        )
    return Section(
        "Python: the start",
        "The duration of a whole process, 15 rounds.",
        [
            Comparison("import", "ms", imported, {"httpx": 0.8}),
            Comparison("import, load the library, and make a first query", "ms", asked, {"urllib3": 1.0}),
        ],
        why_missed=(
            "Missed: a third of Kassa's import time is Python's own modules for data classes and types, another "
            "third is the creation of the classes of its values, and a tenth the generated code."
        ),
    )
