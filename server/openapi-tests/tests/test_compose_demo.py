"""The Compose file of a sandbox, a server and a shop: its fields, and its topology in a network of its own, without Docker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "server/packaging/compose.demo.yaml"
TEXT = FILE.read_text(encoding="utf-8")
DEMO: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = DEMO["services"]

# Of the Compose specification, what the file may use. A misspelt field is an error of Docker's.
FIELDS = {
    *("image", "build", "user", "init", "restart", "network_mode", "environment", "volumes", "command"),
    *("depends_on", "ports", "healthcheck", "stop_grace_period"),
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_known_fields(name: str) -> None:
    service = SERVICES[name]
    assert service.keys() <= FIELDS
    assert service["build"].keys() == {"context", "dockerfile_inline"}
    assert service["restart"] in ("no", "unless-stopped")
    # Text alone: Compose refuses other values, such as `yes`.
    assert all(isinstance(value, str) for value in service.get("environment", {}).values())
    assert all(isinstance(word, str) for word in service["command"])
    for needed, how in service.get("depends_on", {}).items():
        assert how.keys() == {"condition"}
        assert how["condition"] in CONDITIONS
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[needed]
        if how["condition"] == "service_completed_successfully":
            assert SERVICES[needed]["restart"] == "no"


def test_images_and_health() -> None:
    assert set(DEMO) == {"name", "services", "volumes", "x-program", "x-neighbor", "x-server"}
    assert {service["image"] for service in SERVICES.values()} == {"kassa-demo"}
    build = DEMO["x-program"]["build"]
    assert (FILE.parent / build["context"]).resolve() == ROOT
    for source in re.findall(r"^COPY (?!--from|\.)(\S+) ", build["dockerfile_inline"], re.MULTILINE):
        assert (ROOT / source).exists(), source
    programs = {"kassa-server", "kassa-sandbox", "axum-shop"}
    for program in programs:
        assert f"--bin {program}" in build["dockerfile_inline"]
        assert f"/source/target/release/{program}" in build["dockerfile_inline"]
    assert {name for name, service in SERVICES.items() if "healthcheck" in service} == {
        "kassa-server",
        "sandbox",
        "shop",
    }


def test_nothing_is_reachable_from_outside() -> None:
    owners = [name for name, service in SERVICES.items() if "ports" in service]
    assert owners == ["kassa-server"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["kassa-server"]["ports"])
    assert {service.get("network_mode") for service in SERVICES.values()} == {None, "none", "service:kassa-server"}
    assert all(service["user"] == "65532:65532" for service in SERVICES.values())


def test_secrets_are_made_and_not_written_here() -> None:
    made = set(re.findall(r"> ([a-z-]+)$", SERVICES["secrets"]["command"][2], re.MULTILINE))
    assert made == {"gateway-password", "events-secret", "admin-token", "api-key", "staff-key"}
    used = set(re.findall(r"cat ([a-z-]+)", TEXT)) | set(re.findall(r"_FILE: /srv/kassa-demo/(\S+)", TEXT))
    assert used == made
    assert not re.search(r"(PASSWORD|SECRET|TOKEN|KEY): ", TEXT), "a secret in the file"


def test_it_sells_in_a_network_of_its_own() -> None:
    """As root, on Linux: with a loopback and folders of its own, a payer buys, and again after a restart."""
    own = ["unshare", "--net", "--mount", "--propagation", "private"]
    inside = 'ip link set lo up; mount -t tmpfs tmpfs /srv; exec "$@"'
    command = [*own, "sh", "-euc", inside, "sh"]
    try:
        may = subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        may = False
    if not may:
        pytest.skip("no network of its own can be made here")
    programs = Path(os.environ["KASSA_STAGE_BINARY"]).parent
    runner = Path(__file__).with_name("compose.py")
    ran = subprocess.run(
        [*command, sys.executable, str(runner), str(FILE), str(programs)], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    assert ran.stdout.rstrip().endswith("both orders were delivered")
    assert ran.stdout.count("with the token whsec_") == 2
