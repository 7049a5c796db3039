"""The error on platforms without a native library. Imported only if the library cannot be loaded.

A package gets to such a system without the installer: its folder was copied (into a container, into an archive for a cloud
function), or it was installed for another platform on purpose.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

# The targets of scripts/release/build-target (docs/releasing.md).
_WHEELS = (
    "Wheels are made for Linux on x86-64 and aarch64 (manylinux: glibc 2.17 or later; musllinux: musl 1.2 or later), "
    "macOS on both its processors (universal2), and Windows on x86-64."
)


def why_not_loaded(folder: str | Path, error: OSError) -> str:
    """The text, for a package whose native library should be in the folder."""
    said = str(error).rstrip(".")
    bits = "" if sys.maxsize > 2**32 else ", in a Python of 32 bits"
    return (
        f"Kassa's native library cannot be loaded on {platform.system()} on {platform.machine()}{_c_library()}{bits}. "
        f"{_what_is_there(Path(folder))} The system says: {said}. {_WHEELS} "
        "Install the wheel for the system that runs it; if there is none, build the package from its source distribution, "
        "which takes Rust."
    )


def _what_is_there(folder: Path) -> str:
    # The loader's message does not distinguish these: glibc reports "No such file" for a library of another processor, too.
    found = next(iter(sorted(folder.glob("*kassa_native*"))), None)
    if found is None:
        return f"The package has none in {folder}."
    return f"The package has {found}, which this system does not take: it may be for another system, processor or C library."


def _c_library() -> str:
    if platform.system() != "Linux":
        return ""
    try:
        name, version = platform.libc_ver()
    except OSError:
        name = version = ""
    # Older Pythons do not know musl, and return nothing or a name without a version.
    return f" with {name} {version}" if version else " with a C library that is not glibc (musl, as in Alpine?)"
