"""The child's log: read continuously, so that the child never waits for a reader, and passed to a logger or a file."""

from __future__ import annotations

import logging
import queue
import re
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO

LINE = re.compile(r"\S+\s+(?P<level>TRACE|DEBUG|INFO|WARN|ERROR)\s+(?P<text>.*)")
LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
}
KEPT_LINES = 50
"""The last lines of the log, for the error of a failed start."""
WAITING_LINES = 10_000
"""The buffer for a slow logging handler. If it is full, further lines are dropped."""
READING_PATIENCE = 60.0
"""The timeout for reading the rest of an ended child's log, in seconds."""
HANDING_ON_PATIENCE = 5.0
"""The timeout for logging the rest after that, in seconds."""

Log = logging.Logger | Path | None
"""The target of the log."""


Sink = logging.Logger | IO[str] | None
"""The opened target of the log."""


def opened(log: Log) -> Sink:
    """Opens a file; anything else is open already."""
    return log.open("a", encoding="utf-8", buffering=1) if isinstance(log, Path) else log


def close(sink: Sink) -> None:
    """Closes a file; a logger stays open."""
    if sink is not None and not isinstance(sink, logging.Logger):
        with suppress(OSError):
            sink.close()


class LogReader:
    """Reads a child's log on a thread of its own until the child ends."""

    def __init__(self, stream: IO[str], sink: Sink) -> None:
        self._stream = stream
        self._last: deque[str] = deque(maxlen=KEPT_LINES)
        self._file = None if isinstance(sink, logging.Logger) else sink
        self._lines: queue.Queue[str | None] | None = None
        self._is_read = threading.Event()
        self._handing_on: threading.Thread | None = None
        if isinstance(sink, logging.Logger):
            # A handler may block, so the reading thread does not call it.
            self._lines = queue.Queue(WAITING_LINES)
            self._handing_on = threading.Thread(
                target=hand_on_lines, args=(self._lines, sink), name="kassa-sandbox-logging", daemon=True
            )
            self._handing_on.start()
        threading.Thread(target=self._read, name="kassa-sandbox-log", daemon=True).start()

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                self._take(line.rstrip())
        close(self._file)
        self._is_read.set()
        if self._lines is not None:
            self._lines.put(None)

    def _take(self, line: str) -> None:
        self._last.append(line)
        # A full disk costs the lines, never the child.
        if self._file is not None:
            with suppress(OSError):
                self._file.write(f"{line}\n")
        if self._lines is not None:
            with suppress(queue.Full):
                self._lines.put_nowait(line)

    def finish(self) -> str:
        """Waits until everything was logged; returns the last lines."""
        self._is_read.wait(READING_PATIENCE)
        # A handler may be the caller that ends the sandbox.
        if self._handing_on is not None and self._handing_on is not threading.current_thread():
            self._handing_on.join(HANDING_ON_PATIENCE)
        return "\n".join(self._last)


def hand_on_lines(lines: queue.Queue[str | None], logger: logging.Logger) -> None:
    """Logs each line at its level until there are no more."""
    while (line := lines.get()) is not None:
        found = LINE.fullmatch(line)
        level = LEVELS[found["level"]] if found else logging.INFO
        logger.log(level, "%s", found["text"] if found else line)
