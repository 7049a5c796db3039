"""The journal of a vector: a folder of its own, and the steps that look into it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Folder:
    """One that the journal makes, inside a temporary one."""

    def __init__(self) -> None:
        self._root = tempfile.TemporaryDirectory()
        self.path = Path(self._root.name) / "journal"

    def write(self, path: str, text: str) -> None:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

    def text(self) -> str:
        return "".join(file.read_text(encoding="utf-8") for file in self.path.rglob("*") if file.is_file())

    def lose(self) -> None:
        shutil.rmtree(self.path)

    def remove(self) -> None:
        self._root.cleanup()


STEPS: dict[str, Callable[[Folder, Any], Any]] = {
    "write_in_journal": lambda folder, given: folder.write(given["path"], given["text"]),
    "lose_journal": lambda folder, _: folder.lose(),
    "journal_text": lambda folder, _: folder.text(),
}
