"""Programs of users' under gunicorn."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.patience import PATIENCE


@dataclass(frozen=True)
class WebServer:
    url: str
    master: subprocess.Popen[bytes]
    log: Path

    def get(self, query: str = "") -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/{query}", timeout=PATIENCE) as answer:
            return str(answer.read().decode())

    def stop(self) -> None:
        """Every worker ends by itself, and none of them had anything to complain about."""
        self.master.terminate()
        assert self.master.wait(PATIENCE) == 0
        log = self.log.read_text()
        assert not any(word in log for word in ("Traceback", "ERROR", "CRITICAL")), log


@contextmanager
def gunicorn(folder: Path, app: str, environment: Mapping[str, str], *options: str) -> Generator[WebServer]:
    """Workers of one process each, which share a socket. Each answers one request at a time."""
    (folder / "shop.py").write_text(app)
    log = folder / "log"
    with socket.create_server(("127.0.0.1", 0)) as listener, log.open("wb") as errors:
        options = (*options, f"--timeout={PATIENCE:.0f}", f"--bind=fd://{listener.fileno()}", "--no-control-socket")
        master = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *options, "shop:app"],
            cwd=folder,
            env={**os.environ, **environment},
            pass_fds=[listener.fileno()],
            stderr=errors,
        )
        try:
            yield WebServer(f"http://127.0.0.1:{listener.getsockname()[1]}", master, log)
        finally:
            # Its workers see that it is gone, and go.
            master.kill()
            master.wait()
