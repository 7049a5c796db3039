"""How long a Python program waits before Kassa answers for the first time."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial

from ..measure import in_turn
from ..results import Comparison, Section
from ..server import server

PACKAGES = {
    "Kassa": "kassa",
    "urllib3": "urllib3",
    "requests": "requests",
    "httpx": "httpx",
    "httpx2": "httpx2",
    "aiohttp": "aiohttp",
    "pyreqwest": "pyreqwest.client",
    "primp": "primp",
    "wreq": "wreq",
    "pycurl": "pycurl",
}

# Each imports nothing but itself.
FIRST = {
    "Kassa": "import kassa; kassa.Gateway(url, kassa.Credentials('a', 'b')).provider_status('1', kassa.Provider.CARDS)",
    "urllib3": "import urllib3; urllib3.PoolManager().request('POST', url, body='{}').data",
    "requests": "import requests; requests.Session().post(url, json={}).content",
    "httpx": "import httpx; httpx.Client().post(url, json={}).content",
    "httpx2": "import httpx2; httpx2.Client().post(url, json={}).content",
    "pyreqwest": (
        "import pyreqwest.client as client; "
        "client.SyncClientBuilder().build().post(url).body_json({}).build().send().bytes()"
    ),
    "primp": "import primp; primp.Client().post(url, json={}).content",
    "wreq": "import wreq.blocking; wreq.blocking.Client().post(url, json={}).bytes()",
    "pycurl": (
        "import io, pycurl; c = pycurl.Curl(); c.setopt(pycurl.URL, url); c.setopt(pycurl.POSTFIELDS, '{}'); "
        "c.setopt(pycurl.WRITEDATA, io.BytesIO()); c.perform()"
    ),
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
    imports = {name: f"import {module}" for name, module in PACKAGES.items()} | {"Python alone": "pass"}
    imported = in_turn({name: partial(milliseconds, program) for name, program in imports.items()}, rounds=15)
    with server() as url:
        first = in_turn(
            {name: partial(milliseconds, f"url = {url!r}; {program}") for name, program in FIRST.items()}, rounds=15
        )
    return Section(
        "Python: the start",
        "The duration of a whole process, 15 rounds.",
        [
            Comparison("import", "ms", imported, {"httpx": 0.55}),
            Comparison("import, load the library, and make a first query", "ms", first, {"urllib3": 0.45}),
        ],
        why_missed=(
            "Missed: `import kassa` imports almost nothing, and a name what it needs. Of the first query, Python's own "
            "start is a fifth; most of the rest are its modules for C functions, decimals and enums, and "
            "the creation of the classes of Kassa's values."
        ),
    )
