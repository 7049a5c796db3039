"""From a text to a picture of its QR code, in Rust."""

from __future__ import annotations

import tempfile
from pathlib import Path

import zxingcpp
from PIL import Image

from ..foreign import rust
from ..results import Section


def read_back(folder: Path) -> int:
    """How many pictures a second reader read as what was written; it is an error where it read something else."""
    pictures = sorted(folder.glob("*.png"))
    for picture in pictures:
        with Image.open(picture) as image:
            texts = [code.text for code in zxingcpp.read_barcodes(image)]
        if texts != [picture.with_suffix(".txt").read_text()]:
            raise ValueError(f"{picture.name} was read as {texts}")
    return len(pictures)


def run() -> Section:
    with tempfile.TemporaryDirectory() as folder:
        found = rust("qr", folder)
        pictures = read_back(Path(folder))
    return Section(
        "Rust: a QR code as PNG",
        "Encoding and drawing, error correction M, 400x400, 5 a round, 101 rounds. The encoders have no pictures of their own: "
        "theirs are drawn at 1 bit a pixel and written by `png` in its usual way, which makes small files, or in its fastest; "
        f"`image` has no 1-bit form. All {pictures} pictures were read back by rqrr and by zxing-cpp. The text of an "
        "ELQR code is a link with a code behind it, whose Cyrillic letters are percent-encoded; 1,000 a round, 101 rounds, "
        "their median.",
        found,
        remarks=(
            "Kassa needs no more modules than `qrcode`, whose segments and codewords it uses; the mask is chosen by its own "
            "search. Its pictures are written by `png` in its fastest way, which saves most of the time that its usual way "
            "takes, and costs three to four times the bytes: still a few kilobytes."
        ),
    )
