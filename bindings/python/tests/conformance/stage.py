"""What the vectors of a checkout are played on: the program ``kassa-stage``, which plays everybody around the app."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from .vectors import DIRECTORY
from .ways import LONGEST

_BUILT = DIRECTORY.parents[1] / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/kassa-stage"
# Not by a proxy that the environment names.
_DIRECT = build_opener(ProxyHandler({}))


@dataclass(frozen=True)
class Scene:
    """One vector's server, its gateway, its network."""

    url: str
    server_url: str
    client_token: str

    def step(self, name: str, given: Any = None) -> Any:
        """What somebody around the app does, and what comes of it."""
        return _request("POST", f"{self.url}/steps", {"do": name, "input": given})

    def new_token(self) -> str:
        return str(self.step("new_token"))

    def close(self) -> None:
        _request("DELETE", self.url, None)


class Stage:
    """The program; it lives as long as its standard input."""

    def __init__(self) -> None:
        program = os.environ.get("KASSA_STAGE_BINARY") or str(_BUILT)
        self._program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._program.stdout is not None
        self._url = self._program.stdout.readline().strip()

    def open(self, plan: Any = None) -> Scene:
        """Sets a scene up, as the ``scene`` of a vector says."""
        opened = _request("POST", f"{self._url}/scenes", plan or {})
        return Scene(f"{self._url}/scenes/{opened['scene']}", opened["server_url"], opened["client_token"])

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.communicate()


def _request(method: str, url: str, body: Any) -> Any:
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method)
    with _DIRECT.open(request, timeout=LONGEST) as answer:
        return json.load(answer)
