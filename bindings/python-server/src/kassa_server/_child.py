"""The server as a child process. It never outlives the process that started it, however that one ends."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import StartError

START_PATIENCE = 60.0
"""The timeout of the start in seconds. It takes milliseconds; the rest is for an overloaded machine."""
STOP_PATIENCE = 15.0
"""Seconds to an end in order, which takes five at most."""
SHOWN = 4000
"""Characters of the log's end in the error of a start that failed."""


class Child:
    """A running server. It lives as long as the pipe to its standard input, and the system closes that with this process."""

    def __init__(self, program: Path, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        command = [str(program), *arguments, "--announce", "json", "--exit-with-stdin"]
        began = log.stat().st_size if log.exists() else 0
        try:
            with log.open("ab") as sink:
                # Ctrl-C is for the tests, which put things in order while the server still runs.
                self._process = subprocess.Popen(  # noqa: S603 - the server itself
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=sink,
                    env=dict(environment),
                    start_new_session=True,
                )
        except OSError as error:
            raise StartError(f"{program} cannot be started: {error.strerror or error}") from error
        _children.add(self)
        self.pid = self._process.pid
        try:
            self.url = self._announced(log, began)
        except BaseException:
            self.kill()
            raise

    def _announced(self, log: Path, began: int) -> str:
        deadline = threading.Timer(START_PATIENCE, self._process.kill)
        deadline.start()
        try:
            line = self._process.stdout.readline() if self._process.stdout else b""
        finally:
            deadline.cancel()
        if not line:
            status = self._process.wait()
            told = log.read_bytes()[began:].decode(errors="replace").strip()
            raise StartError("the server did not start", status, told[-SHOWN:])
        try:
            return str(json.loads(line)["url"])
        except (ValueError, KeyError, TypeError):
            raise StartError("this is not a server of the same version: its announcement cannot be read") from None

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self in _children and self._process.poll() is None

    def stop(self) -> None:
        """Shuts it down gracefully: running requests are answered first."""
        if self in _children:
            self._let_go()
            try:
                self._process.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._bury()

    def kill(self) -> None:
        """Ends it without giving it a chance to put anything in order."""
        if self in _children:
            self._process.kill()
            self._let_go()
            self._bury()

    def _let_go(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _bury(self) -> None:
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        _children.discard(self)

    def leave_to_the_parent(self) -> None:
        """In a forked process: closes its copy of the parent's pipe, and does nothing else."""
        self._let_go()
        # This process must not wait for it.
        self._process.returncode = 0


_children: weakref.WeakSet[Child] = weakref.WeakSet()


def _forked() -> None:
    for child in list(_children):
        child.leave_to_the_parent()
    _children.clear()


@atexit.register
def _stop_all() -> None:
    for child in list(_children):
        child.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
