"""The child's log: read without pause, so that the child never waits for a reader, and handed on."""

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
"""Of the end of the log, for the error of a start that failed."""
WAITING_LINES = 10_000
"""For a logging handler that is slow. Where it stands still, further lines are lost."""
READING_PATIENCE = 60.0
"""Seconds that an ended child's log may take to be read: whoever reads waits for nobody."""
HANDING_ON_PATIENCE = 5.0
"""Seconds that it may then take to be handed on."""

Log = logging.Logger | Path | None
"""Where the log goes."""


Sink = logging.Logger | IO[str] | None
"""Where the log goes, opened."""


def opened(log: Log) -> Sink:
    """Opens a file; anything else is open already."""
    return log.open("a", encoding="utf-8", buffering=1) if isinstance(log, Path) else log


def close(sink: Sink) -> None:
    """Closes a file; anything else is not ours."""
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
            # A handler may wait for whatever it likes, so it is not called by the one who reads.
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
        """Waits until all was handed on; the end of the log."""
        self._is_read.wait(READING_PATIENCE)
        # A handler may be the one who ends the sandbox.
        if self._handing_on is not None and self._handing_on is not threading.current_thread():
            self._handing_on.join(HANDING_ON_PATIENCE)
        return "\n".join(self._last)


def hand_on_lines(lines: queue.Queue[str | None], logger: logging.Logger) -> None:
    """Logs each line at its level until there are no more."""
    while (line := lines.get()) is not None:
        found = LINE.fullmatch(line)
        level = LEVELS[found["level"]] if found else logging.INFO
        logger.log(level, "%s", found["text"] if found else line)
