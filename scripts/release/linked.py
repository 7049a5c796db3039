"""What is linked into a product, as cargo resolves it for that crate alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def linked(crate: str, *, own: bool = False) -> set[tuple[str, str]]:
    """Names and versions of the crates in a product on any system; this project's are among them where ``own`` is true."""
    selected = ["--package", crate, "--edges", "normal,no-proc-macro", "--target", "all"]
    command = ["cargo", "tree", "--locked", *selected, "--prefix", "none", "--format", "{p}"]
    tree = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = (line for line in tree.splitlines() if line and (own or "(/" not in line))
    return {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, lines)}
