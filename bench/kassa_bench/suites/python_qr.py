"""From a text to a picture of its QR code, in Python."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import kassa
import qrcode
import segno
import zxingcpp
from PIL import Image
from qrcode.constants import ERROR_CORRECT_M

from ..measure import in_turn, microseconds_each
from ..results import Comparison, Section

URL = "https://pay.example.kg/q?id=17&"
EMV = (
    "00020101021132590015qr.example.kg/#0111QR-00000017120211130212520499995303417540510050" + "59151234567890123456304"
)
TEXTS = {f"{length} bytes": (URL * 20)[:length] for length in (30, 125, 500)} | {f"EMV, {len(EMV)} bytes": EMV}


# A picture, and how many modules wide the code in it is; who wants to know that has to ask, because it is no part of drawing.
Drawn = tuple[bytes, Callable[[], int]]


def with_kassa(text: str) -> Drawn:
    code = kassa.QrCode.encode(text, kassa.QrLevel.MEDIUM)
    return code.png(400), lambda: len(code.modules())


def with_segno(text: str) -> Drawn:
    code = segno.make_qr(text, error="m", boost_error=False)
    modules = code.symbol_size(border=0)[0]
    file = io.BytesIO()
    code.save(file, kind="png", scale=400 // (modules + 8))
    return file.getvalue(), lambda: modules


def with_qrcode(text: str) -> Drawn:
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_M)
    code.add_data(text)
    code.make()
    code.box_size = 400 // (code.modules_count + 8)
    file = io.BytesIO()
    code.make_image().save(file)
    return file.getvalue(), lambda: code.modules_count


SUBJECTS: dict[str, Callable[[str], Drawn]] = {
    "Kassa": with_kassa,
    "segno": with_segno,
    "qrcode[pil]": with_qrcode,
}


def read_back(png: bytes) -> str:
    with Image.open(io.BytesIO(png)) as image:
        return "".join(code.text for code in zxingcpp.read_barcodes(image))


def compare(title: str, text: str) -> Comparison:
    subjects = {name: partial(microseconds_each, partial(draw, text), times=5) for name, draw in SUBJECTS.items()}
    drawn = {name: draw(text) for name, draw in SUBJECTS.items()}
    if unread := [name for name, (png, _) in drawn.items() if read_back(png) != text]:
        raise ValueError(f"{title}: not read back: {unread}")
    facts = {name: f"{modules()} modules, {len(png)} bytes" for name, (png, modules) in drawn.items()}
    bars = {"segno": 1 / 15}
    return Comparison(title, "us", in_turn(subjects, rounds=21), bars, facts)


def run() -> Section:
    return Section(
        "Python: a QR code as PNG",
        "Encoding and drawing, error correction M, about 400x400 (Kassa's exactly), 5 per round, 21 rounds. Each "
        "picture was read back by zxing-cpp.",
        [compare(title, text) for title, text in TEXTS.items()],
    )
