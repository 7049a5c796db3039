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
        "Encoding and drawing, error correction M, 400x400, 5 per round, 101 rounds. The encoders draw no pictures: "
        "theirs are drawn at 1 bit per pixel and written by `png` with its default compression, which makes small "
        f"files, or its fastest; `image` has no 1-bit format. All {pictures} pictures were read back by rqrr and by "
        "zxing-cpp. The text of an ELQR code is a link followed by a code, whose Cyrillic letters are percent-encoded; "
        "1,000 per round, 101 rounds, the median.",
        found,
        remarks=(
            "Kassa needs no more modules than `qrcode`, whose segments and codewords it uses; it has its own mask "
            "search. `png` writes its pictures with the fastest compression, which saves most of the default's time "
            "and costs three to four times the bytes: still a few kilobytes."
        ),
    )
