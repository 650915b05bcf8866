"""The characters of a PDF page with their places, read by pdfium. Lengths are points, y grows upwards.

Only what is drawn is read: no annotations, so no link targets, and no scripts or attachments.
"""

import ctypes
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

MAX_GLYPHS = 200_000
"""Most characters of one page."""
_HYPHENS = {0x02: "\u00ad", 0xFFFE: "\u00ad"}
"""What pdfium puts where a word is broken at a line's end."""

_LINE_ENDS = (0x0A, 0x0D)


@dataclass(frozen=True, slots=True)
class Glyph:
    """One drawn character."""

    char: str
    x0: float
    x1: float
    base: float
    """Height of its baseline."""
    size: float
    bold: bool
    spaced: bool
    """Whether white space stands before it."""


class TooManyGlyphsError(Exception):
    """The page has more than `MAX_GLYPHS` characters."""


def read_glyphs(page: Any) -> tuple[list[Glyph], list[Glyph]]:
    """Upright glyphs and turned ones (axis labels, margin stamps) of a pypdfium2 page, in their order in the file."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    count = text.count_chars()
    if count > MAX_GLYPHS:
        raise TooManyGlyphsError
    upright: list[Glyph] = []
    turned: list[Glyph] = []
    place, flags = pdfium.FS_RECTF(), ctypes.c_int()
    x, base = ctypes.c_double(), ctypes.c_double()
    matrix, name = pdfium.FS_MATRIX(), ctypes.create_string_buffer(128)
    spaced = broken = False
    try:
        for index in range(count):
            code = pdfium.FPDFText_GetUnicode(text, index)
            if code in _LINE_ENDS:
                # pdfium sees a line end before and after a subscript too: the gap decides whether it is white space.
                broken = True
                continue
            char = _clean(code)
            if not char or char.isspace():
                spaced = True
                continue
            pdfium.FPDFText_GetLooseCharBox(text, index, place)
            pdfium.FPDFText_GetCharOrigin(text, index, x, base)
            pdfium.FPDFText_GetFontInfo(text, index, name, 128, flags)
            size = pdfium.FPDFText_GetFontSize(text, index)
            if pdfium.FPDFText_GetMatrix(text, index, matrix):
                size *= math.hypot(matrix.c, matrix.d)
            size = size if 0.5 < size < 500 else max(place.top - place.bottom, 1.0)
            angle = pdfium.FPDFText_GetCharAngle(text, index)
            bold = b"bold" in name.value.lower()
            if broken and upright and not spaced:
                spaced = not -size < place.left - upright[-1].x1 < 0.2 * size
            glyph = Glyph(char, place.left, max(place.right, place.left), base.value, size, bold, spaced)
            (turned if 0.1 < angle < 2 * math.pi - 0.1 else upright).append(glyph)
            spaced = broken = False
    finally:
        text.close()
    return upright, turned


def _clean(code: int) -> str:
    """The character for `code`: ligatures apart, one kind of space, nothing that isn't text."""
    if code in _HYPHENS:
        return _HYPHENS[code]
    char = chr(code)
    if 0xFB00 <= code <= 0xFB06:
        return unicodedata.normalize("NFKC", char)
    category = unicodedata.category(char)
    if category in ("Cc", "Cs", "Cn", "Co") or char in "\u200b\ufeff":
        return ""
    return " " if category.startswith("Z") else char
