"""The sandbox as a child process. It never outlives the process that started it, however that process ends."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ._log import Log, LogReader, close, opened
from .errors import StartError

START_PATIENCE = 60.0
"""The timeout of the start in seconds. It takes milliseconds; the rest is for an overloaded machine."""
STOP_PATIENCE = 15.0
"""The timeout of a graceful stop in seconds: the sandbox drops open requests after a few."""


class Child:
    """A running sandbox. The child lives as long as the pipe to its standard input, and only this process holds that.

    The system closes the pipe when this process ends, by SIGKILL too. Processes that are started from here do not
    inherit it, and a forked one closes its copy at once (`_forked`). Asking the system to kill the child together with its
    parent (``PR_SET_PDEATHSIG``) would not do: it means the parent's *thread*, which may end long before the tests.
    """

    is_mine = True
    """False in a process that was forked from the one that started it."""

    def __init__(self, program: Path, arguments: Sequence[str], environment: Mapping[str, str], log: Log) -> None:
        command = [str(program), *arguments, "--announce", "json", "--exit-with-stdin"]
        try:
            sink = opened(log)
        except OSError as error:
            raise StartError(f"the log {log} cannot be written: {error.strerror or error}") from error
        try:
            with _forking:
                self._process, self._life = start(command, environment)
                _children.add(self)
        except OSError as error:
            close(sink)
            raise StartError(f"{program} cannot be started: {error.strerror or error}") from error
        self.pid = self._process.pid
        self._log = LogReader(piped(self._process.stderr), sink)
        try:
            self.url = self._wait_until_ready(self._process)
        except BaseException:
            self.kill()
            raise

    def _wait_until_ready(self, process: subprocess.Popen[str]) -> str:
        deadline = threading.Timer(START_PATIENCE, process.kill)
        deadline.start()
        try:
            line = piped(process.stdout).readline()
        finally:
            deadline.cancel()
        if not line:
            process.wait()
            raise StartError("the sandbox did not start", process.returncode, self._log.finish())
        try:
            return str(json.loads(line)["url"])
        except (ValueError, KeyError, TypeError):
            raise StartError("this is not a sandbox of the same version: its announcement cannot be read") from None

    @property
    def is_running(self) -> bool:
        """Whether it runs, as a child of this process."""
        return self.is_mine and self._process.poll() is None

    def stop(self) -> None:
        """Shuts it down gracefully: running requests are answered first."""
        if self.is_mine:
            self._life.close()
            try:
                self._process.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._bury()

    def kill(self) -> None:
        """Kills it without a graceful shutdown."""
        if self.is_mine:
            self._process.kill()
            self._life.close()
            self._bury()

    def _bury(self) -> None:
        self._process.wait()
        piped(self._process.stdout).close()
        self._log.finish()
        _children.discard(self)

    def leave_to_the_parent(self) -> None:
        """In a forked process: closes its copy of the parent's pipe, and does nothing else."""
        self.is_mine = False
        self._life.close()
        # This process must not wait for it.
        self._process.returncode = 0


def start(command: Sequence[str], environment: Mapping[str, str]) -> tuple[subprocess.Popen[str], IO[bytes]]:
    """Starts a program; returns it, and the pipe that keeps it alive. The pipe is unbuffered, so a fork can copy no lock."""
    standard_input, life = os.pipe()
    alive = open(life, "wb", buffering=0)  # noqa: PTH123, SIM115 - not a path, and open for longer than this
    try:
        process = subprocess.Popen(  # noqa: S603 - the sandbox itself
            command,
            stdin=standard_input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            encoding="utf-8",
            errors="replace",
            # Ctrl-C must only reach the tests, which clean up while the sandbox still runs.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except BaseException:
        alive.close()
        raise
    finally:
        os.close(standard_input)
    return process, alive


def piped(stream: IO[str] | None) -> IO[str]:
    """A stream that was requested."""
    if stream is None:
        raise StartError("the sandbox was started without a pipe")
    return stream


_children: weakref.WeakSet[Child] = weakref.WeakSet()
_forking = threading.RLock()
"""Held while a child is started, so that no fork copies its pipe before it is registered."""


def _forked() -> None:
    try:
        for child in list(_children):
            child.leave_to_the_parent()
        _children.clear()
    finally:
        _forking.release()


@atexit.register
def _stop_all() -> None:
    for child in list(_children):
        child.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_forking.acquire, after_in_parent=_forking.release, after_in_child=_forked)
