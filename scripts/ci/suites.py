"""The suites that scripts/ci/run-suites runs, and the groups that `make` names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()


@dataclass(frozen=True)
class Suite:
    """One command, with what the scheduler has to know of it.

    The order of the table is the order in which suites start. One that finds no room is waited for, so that small ones do not keep a large
    one waiting for ever.
    """

    name: str
    command: str
    cores: float
    """How many processors it keeps busy on average. A suite that mostly waits shares one with others."""
    needs: tuple[str, ...] = ()
    """Suites that have to pass first; they are run with it."""
    after: tuple[str, ...] = ()
    """Suites that must not run beside it, and come first if they are run at all."""
    alone: tuple[str, ...] = ()
    """Names of locks: two suites with the same one do not run at the same time."""
    has_tests: bool = True
    """Whether it runs tests. If it ran none, it has failed."""


# Rust's test programs that have a suite of their own, and how many processors they use. `rust-others` runs all the rest, so a new
# program is never left out.
RUST = [
    ("server-processes", "kassa-server/processes", 0.6),
    ("server", "kassa-server/server", 0.7),
    ("conformance-rust", "kassa-conformance/checkout kassa-conformance/conformance", 0.3),
    ("core-gateway", "kassa/gateway", 0.9),
    ("server-program", "kassa-server/program kassa-server/http", 0.4),
    ("core", "kassa/lib", 1.2),
    ("sandbox", "kassa-sandbox", 1.0),
    ("examples-rust", "kassa-checkout kassa-server-demo", 0.5),
]


def python(name: str, folder: str, cores: float, arguments: str = "") -> Suite:
    """The tests of one folder. Ruff, mypy and pyright look at all folders in a suite of their own."""
    command = f"scripts/python/test-packages --tests {folder} -- {arguments}".removesuffix(" -- ")
    return Suite(name, command, cores, ("python",))


def task(name: str, command: str, cores: float, needs: tuple[str, ...] = (), after: tuple[str, ...] = (), alone: str = "") -> Suite:
    """A suite without tests."""
    return Suite(name, command, cores, needs, after, (alone,) if alone else (), has_tests=False)


TOOLS = "git cargo cc python3 libpython chromium javac mvn node npm php curl strip aapt2 postgres ip nginx caddy"

SUITES = [
    # What is downloaded comes while cargo compiles.
    task("tools", f"scripts/ci/ensure-tools {TOOLS}", 0.3),
    task("build", "scripts/ci/rust-tests build && scripts/ci/build-workspace", 1.7),
    task("environments", "scripts/python/make-env && scripts/shops/prepare && scripts/swift/find-root", 0.3, ("tools",)),
    task("python", "scripts/python/install-packages", 1.0, ("build", "environments")),
    # The order is the priority. First the longest chain: these use Maven's output folders, one after the other.
    Suite("kotlin", "scripts/kotlin/test-packages", 1.0, ("build", "tools"), alone=("maven",)),
    task("jars", "make --no-print-directory jars", 1.0, ("build", "environments"), ("kotlin",), "maven"),
    task("docs", "make --no-print-directory docs", 1.0, ("build", "python"), ("kotlin", "swift", "jars"), "maven"),
    python("shop-failures", "examples/python", 0.2, "tests/test_failures.py"),
    python("pages-server-waits", "server/browser-tests", 0.2, "test_rarely_seen.py test_states.py"),
    Suite("swift", "scripts/swift/test-packages", 1.0, ("build", "environments")),
    task("wheels", "make --no-print-directory wheel sdist", 1.1, ("build", "environments")),
    task("lint", "make --no-print-directory lint", 1.4, ("build",), alone="cargo"),
    python("pages-sandbox", "sandbox/browser-tests", 0.5),
    python("python-vectors", "bindings/python", 0.4, "tests/conformance"),
    python("pages-server", "server/browser-tests", 0.5, "--ignore=test_rarely_seen.py --ignore=test_states.py"),
    python("shop", "examples/python", 0.3, "--ignore=tests/test_failures.py"),
    python("frameworks", "examples/python/frameworks", 0.4),
    python("python-package", "bindings/python", 0.6, "--ignore=tests/conformance"),
    *(Suite(name, f"scripts/ci/rust-tests run {programs}", cores, ("build",), ("tools",)) for name, programs, cores in RUST),
    Suite(
        "postgres-newest",
        "KASSA_POSTGRES_BIN=$(scripts/ci/find-postgres) scripts/ci/rust-tests run kassa-server/server -- postgres",
        0.4,
        ("build", "tools"),
    ),
    python("python-others", "bindings/python-sandbox bindings/python-server sandbox/openapi-tests server/openapi-tests", 0.9),
    Suite("shops", "scripts/shops/test", 0.6, ("build", "environments")),
    Suite("certify", "scripts/shops/certify", 0.5, ("build", "environments")),
    Suite("rust-others", f"scripts/ci/rust-tests run-others {' '.join(programs for _, programs, _ in RUST)}", 0.9, ("build",)),
    Suite("rust-documentation", "cargo test --locked --workspace --doc", 1.0, ("build",), alone=("cargo",)),
    # A phone's build: no sandbox, no bindings.
    task("core-alone", "cargo check --locked -p kassa --no-default-features", 1.2, ("build",), alone="cargo"),
    task("python-lint", "scripts/python/test-packages --lint", 1.2, ("python",)),
    task("filters", "scripts/ci/check-filters", 0.5, ("build",)),
]

MORE = ("lint", "wheels", "jars", "docs")
TEST = [suite.name for suite in SUITES if suite.name not in MORE]
GROUPS = {
    "test": TEST,
    "check": [*TEST, *MORE],
    "packages": ["wheels", "jars"],
    "rust": [
        *("core", "core-gateway", "conformance-rust", "sandbox", "examples-rust"),
        *("rust-others", "rust-documentation", "core-alone"),
    ],
    "server": ["server-processes", "server", "server-program", "postgres-newest"],
    "python": [name for name in TEST if name.startswith(("python", "pages")) or name in ("shop", "shop-failures", "frameworks")],
}
