"""Draws QR codes."""

from __future__ import annotations

from enum import Enum
from typing import Any

from . import _check
from ._codec import flat_enum
from ._core import native

QR_PNG_SIDE = 400
"""The default side of a picture in pixels, as in the gateway's own."""


@flat_enum("QrLevel")
class QrLevel(Enum):
    """The error correction level: how much of a code may be unreadable. More needs more modules."""

    LOW = "low"
    """7 %."""
    MEDIUM = "medium"
    """15 %."""
    QUARTILE = "quartile"
    """25 %."""
    HIGH = "high"
    """30 %."""


class QrCode:
    """A QR code, the smallest that holds its text. It displays itself in notebooks.

    >>> QrCode("https://pay.example.kg/q/17")
    QrCode(29x29 modules)
    """

    __slots__ = ("_level", "_native", "_text")

    def __init__(self, text: str, level: QrLevel = QrLevel.MEDIUM) -> None:
        """Encodes a text.

        Raises `kassa.Invalid` if the text is empty or too long for a code of this level.
        """
        self._text = _check.text("text", text)
        self._level = _check.instance("level", level, QrLevel)
        self._native: Any = native.QrCode.encode(text, level)

    @classmethod
    def encode(cls, text: str, level: QrLevel = QrLevel.MEDIUM) -> QrCode:
        """The same as ``QrCode(text, level)``."""
        return cls(text, level)

    def modules(self) -> tuple[tuple[bool, ...], ...]:
        """The rows of modules, true for dark, without the light border."""
        rows: tuple[tuple[bool, ...], ...] = self._native.modules()
        return rows

    def png(self, px: int = QR_PNG_SIDE) -> bytes:
        """A black and white PNG of ``px`` by ``px`` pixels.

        All modules have the same whole number of pixels, and the white border is at least four modules wide, so that scanners
        can read it.

        Raises `kassa.Invalid` if ``px`` is too small for the code, or larger than 10,000.
        """
        png: bytes = self._native.png(_check.count("px", px))
        return png

    def svg(self) -> str:
        """An SVG picture."""
        svg: str = self._native.svg()
        return svg

    def text(self) -> str:
        """The code in half-block characters for a terminal with a dark background, including the border."""
        text: str = self._native.text()
        return text

    def __repr__(self) -> str:
        side = len(self._native.modules())
        return f"QrCode({side}x{side} modules)"

    def _repr_svg_(self) -> str:
        return self.svg()

    def __reduce__(self) -> tuple[Any, ...]:
        return QrCode, (self._text, self._level)
