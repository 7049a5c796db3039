"""Records of Python's ``logging``, of the logger ``kassa``: who listens to them, and how an event of the core becomes one.

Imported only after the program has imported ``logging`` (see `_logs`).
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from ._core import native

LOGGER = logging.getLogger("kassa")
LOGGER.addHandler(logging.NullHandler())

_LEVELS = (
    (logging.DEBUG, native.LogLevel.DEBUG),
    (logging.INFO, native.LogLevel.INFO),
    (logging.WARNING, native.LogLevel.WARNING),
    (logging.ERROR, native.LogLevel.ERROR),
)
_LEVEL_OF = {theirs.name: ours for ours, theirs in _LEVELS}


def least() -> Any:
    """The lowest of the core's levels that is listened to, if any is."""
    if not _has_listeners():
        return None
    return next((theirs for ours, theirs in _LEVELS if LOGGER.isEnabledFor(ours)), None)


def _has_listeners() -> bool:
    """Without any, ``logging`` would print warnings itself; the null handler prevents that."""
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        for handler in logger.handlers:
            if not isinstance(handler, logging.NullHandler):
                return True
        logger = logger.parent if logger.propagate else None
    return False


def hand_on(kept: Any) -> None:
    """Passes an event to ``logging`` as a record."""
    level = _LEVEL_OF[kept.event.level.name]
    if not LOGGER.isEnabledFor(level):
        return
    extra = {"kassa": {**kept.fields, **kept.numbers}}
    record = LOGGER.makeRecord(LOGGER.name, level, "kassa", 0, kept.event.text, (), None, "kassa", extra)
    _happened_at(record, kept.at.timestamp())
    try:
        LOGGER.handle(record)
    except Exception:  # noqa: BLE001 (a handler's defect must not hide what a payment call has to say)
        if logging.raiseExceptions and sys.stderr is not None:
            import traceback

            traceback.print_exc()


def _happened_at(record: logging.LogRecord, moment: float) -> None:
    record.relativeCreated += (moment - record.created) * 1000
    record.created = moment
    record.msecs = moment % 1 * 1000
