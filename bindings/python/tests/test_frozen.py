"""Programs that PyInstaller has packed up, as one folder and as one file, with no settings for Kassa."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from raw_gateway import CHARGED, CREATED, RawGateway

PROGRAM = """
import asyncio, json, os, sys
import kassa

payment = kassa.MbankPayment(order_number="o-1", phone="996700000001", amount_som=250, comment="Tea")
credentials = kassa.Credentials("shop", "secret")
dialect = kassa.Dialect.from_json(os.environ["DIALECT"])

async def status():
    async with kassa.AsyncGateway(sys.argv[1], credentials) as gateway:
        return await gateway.provider_status("o-1", kassa.Provider.MBANK)

with kassa.Gateway(sys.argv[1], credentials, dialect=dialect) as gateway:
    created = gateway.create_mbank_payment(payment)
report = asyncio.run(status())
print(json.dumps({
    "created": str(created.payment),
    "status": str(report.status),
    "png": kassa.QrCode("tea").png()[1:4].decode(),
    "version": kassa.__version__,
    "is_inside": os.path.commonpath([kassa.__file__, sys._MEIPASS]) == sys._MEIPASS,
}))
"""

# Both forms of one analysis, which takes most of the time.
SPEC = """
analysis = Analysis(["shop.py"], optimize=0)
pure = PYZ(analysis.pure)
collected = (analysis.binaries, analysis.datas)
folder = EXE(pure, analysis.scripts, exclude_binaries=True, name="in-folder", strip=True)
COLLECT(folder, *collected, name="folder", strip=True)
EXE(pure, analysis.scripts, *collected, name="in-file", strip=True)
"""


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both forms."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "shop.py").write_text(PROGRAM)
    (folder / "shop.spec").write_text(SPEC)
    built = subprocess.run(
        [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN", "shop.spec"],
        cwd=folder,
        env={**os.environ, "PYINSTALLER_CONFIG_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / "dist"


@pytest.mark.parametrize("program", ["folder/in-folder", "in-file"])
def test_packed_up_program_takes_a_payment(frozen: Path, program: str, raw: RawGateway, tmp_path: Path) -> None:
    raw.answers(CREATED, CHARGED)
    ran = subprocess.run(
        [frozen / program, raw.url],
        # Nothing of this environment, nor of this folder.
        cwd=tmp_path,
        env={"PATH": os.defpath, "TMPDIR": str(tmp_path), "DIALECT": "{}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer.pop("version")
    assert answer == {
        "created": "kassa1:kind=mbank&order=o-1&provider=MBank&amount=250&currency=KGS",
        "status": "charged",
        "png": "PNG",
        "is_inside": True,
    }
