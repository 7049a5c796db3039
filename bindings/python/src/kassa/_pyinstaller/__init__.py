"""PyInstaller: says where the hooks for this package are, by the entry point ``pyinstaller40``."""

from pathlib import Path


def hook_dirs() -> list[str]:
    """The folder of the hooks."""
    return [str(Path(__file__).parent)]
