"""A platform that the package has no library for: the import of a name says so, and what to do."""

from __future__ import annotations

import json
import os
import platform
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.patience import PATIENCE

import kassa
from kassa._codec import tables
from kassa._no_library import why_not_loaded

# Twice: a program may try again, and is told the same.
PROGRAM = """
import json
for _ in range(2):
    try:
        from kassa import Gateway
    except ImportError as error:
        assert isinstance(error.__cause__, OSError)
        assert error.name == "kassa._native.kassa"
        print(json.dumps(str(error)))
"""

NO_LIBRARY = b"what another system calls a library"
# An ELF header as long as it has to be, of 64 bits: a shared library for a processor of long ago (EM_M32).
ANOTHER_PROCESSORS = struct.pack(
    "<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 3, 1, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Where the library of a copy of the package would be; the copy has none."""
    own = Path(tables.__file__).parent
    shutil.copytree(
        Path(kassa.__file__).parent, tmp_path / "kassa", ignore=shutil.ignore_patterns("__pycache__", "*kassa_native*")
    )
    [name] = (file.name for file in own.glob("*kassa_native*"))
    return tmp_path / "kassa" / own.name / name


def said(folder: Path) -> str:
    """What the import of the copy in this folder says."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-B", "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    first, again = map(json.loads, ran.stdout.splitlines())
    assert again == first
    return str(first)


def assert_it_helps(text: str) -> None:
    where = f"Kassa's native library cannot be loaded on {platform.system()} on {platform.machine()}"
    assert text.startswith(f"{where} with " if platform.system() == "Linux" else where)
    for wheels in ("manylinux", "musllinux", "universal2", "Windows on x86-64"):
        assert wheels in text
    assert text.endswith("build the package from its source distribution, which takes Rust.")


def test_package_without_a_library_says_so(library: Path) -> None:
    text = said(library.parents[2])
    assert_it_helps(text)
    assert f"The package has none in {library.parent}. The system says: " in text


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(NO_LIBRARY, id="no-library"),
        # glibc says of it that there is no such file.
        pytest.param(
            ANOTHER_PROCESSORS,
            id="another-processors",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="ELF is Linux's"),
        ),
    ],
)
def test_library_that_the_system_does_not_take_is_named(library: Path, content: bytes) -> None:
    library.write_bytes(content)
    text = said(library.parents[2])
    assert_it_helps(text)
    assert f"The package has {library}, which this system does not take: " in text
    assert "another system, processor or C library. The system says: " in text


def test_library_by_the_name_of_another_system_is_named(library: Path) -> None:
    """A folder that was copied from another machine: what this system looks for is not there at all."""
    stranger = library.with_name("kassa_native.of-another-system")
    stranger.write_bytes(NO_LIBRARY)
    text = said(library.parents[2])
    assert_it_helps(text)
    assert f"The package has {stranger}, which" in text


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (("glibc", "2.12"), "on Linux on sparc64 with glibc 2.12. "),
        (("musl", "1.2.5"), "on Linux on sparc64 with musl 1.2.5. "),
        # What Pythons say that do not know musl.
        (("", ""), "on Linux on sparc64 with a C library that is not glibc (musl, as in Alpine?). "),
        (("libc", ""), "on Linux on sparc64 with a C library that is not glibc (musl, as in Alpine?). "),
    ],
)
def test_c_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, known: tuple[str, str], told: str) -> None:
    for function, answer in (("system", "Linux"), ("machine", "sparc64"), ("libc_ver", known)):
        monkeypatch.setattr(platform, function, lambda answer=answer: answer)
    assert told in why_not_loaded(tmp_path, OSError("no"))
