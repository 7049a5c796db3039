"""What an installed wheel must do with nothing else there: start, answer, and stop."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from kassa_sandbox import NotRunning, Sandbox

version = subprocess.run(
    [sys.executable, "-m", "kassa_sandbox", "--version"], check=True, capture_output=True, text=True
)
if programs := list(Path(sysconfig.get_path("scripts")).glob("kassa-certify*")):
    certify = subprocess.run([programs[0], "--version"], check=True, capture_output=True, text=True)
    assert certify.stdout.split()[1] == version.stdout.split()[1], (certify.stdout, version.stdout)
with Sandbox() as sandbox:
    assert sandbox.ledger() == ()
    assert sandbox.faults.add("response-lost", times=1).struck == 0
try:
    sandbox.ledger()
except NotRunning:
    sys.stdout.write(f"works:   {version.stdout.strip()} on Python {sys.version.split()[0]}\n")
else:
    raise SystemExit("it outlived its block")
