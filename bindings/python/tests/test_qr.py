"""Pictures of QR codes, read back by a reader that is none of ours."""

from __future__ import annotations

import io

import pytest
import zxingcpp
from PIL import Image

import kassa

EMV = "00020101021132590015qr.example.kg/#0111QR-0000001712021113021252049999530341754051005059151234567890123456304"
TEXTS = [("https://pay.example.kg/q?id=17&" * 20)[:length] for length in (10, 30, 125, 500)] + [EMV, "Төлөм № 7"]


@pytest.mark.parametrize("level", list(kassa.QrLevel))
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{len(text)} characters")
@pytest.mark.parametrize("side", [400, 777])
def test_pictures_are_read_back(text: str, level: kassa.QrLevel, side: int) -> None:
    """Of every length, level and size."""
    with Image.open(io.BytesIO(kassa.QrCode.encode(text, level).png(side))) as picture:
        assert picture.size == (side, side)
        assert [code.text for code in zxingcpp.read_barcodes(picture)] == [text]
