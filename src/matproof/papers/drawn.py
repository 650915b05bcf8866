"""What is drawn on a page beside its text: where it is, what is one thing of it, its picture. Lengths are points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matproof.papers.glyphs import Glyph

MAX_OBJECTS = 20_000
"""Drawn objects looked at on one page."""
_MOST_PIXELS = 2000
"""Longest side of a picture."""
_SCALE = 150 / 72
_SEGMENTS = 20
"""Segments of a path that are looked at."""
_CELL = 6.0
"""Things nearer than about two of these are one cluster."""
_SMALLEST = 36.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; y grows upwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    def with_(self, other: "Box") -> "Box":
        """The smallest that holds both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def gap(self, other: "Box") -> tuple[float, float]:
        """Horizontal and vertical distance; negative where they overlap."""
        return max(self.x0, other.x0) - min(self.x1, other.x1), max(self.y0, other.y0) - min(self.y1, other.y1)

    def holds(self, glyph: Glyph) -> bool:
        """Whether the glyph's middle lies inside."""
        x, y = (glyph.x0 + glyph.x1) / 2, glyph.base + 0.3 * glyph.size
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    @property
    def width(self) -> float:
        """From left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """From bottom to top."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Drawn:
    """One object that is not text."""

    box: Box
    pictorial: bool
    """A picture, or a path with a curve or a slanted line."""


def drawn_on(page: Any) -> list[Drawn]:
    """What is drawn on a pypdfium2 page beside text, at most `MAX_OBJECTS` things."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    kinds = [pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING, pdfium.FPDF_PAGEOBJ_FORM]
    sheet = Box(*page.get_cropbox())
    found: list[Drawn] = []
    for number, item in enumerate(page.get_objects(filter=kinds, max_depth=1)):
        if number >= MAX_OBJECTS:
            break
        try:
            box = Box(*item.get_bounds())
        except pypdfium2.PdfiumError:
            continue  # an object without extent
        box = Box(max(box.x0, sheet.x0), max(box.y0, sheet.y0), min(box.x1, sheet.x1), min(box.y1, sheet.y1))
        whole = box.width > 0.9 * sheet.width and box.height > 0.9 * sheet.height
        if box.width < 0 or box.height < 0 or whole or not all(map(math.isfinite, (box.x0, box.y0, box.x1, box.y1))):
            continue
        found.append(Drawn(box, item.type != pdfium.FPDF_PAGEOBJ_PATH or _is_art(item)))
    return found


def _is_art(path: Any) -> bool:
    """Whether a path has a curve or a slanted line among its first segments."""
    import ctypes

    import pypdfium2.raw as pdfium

    x, y = ctypes.c_float(), ctypes.c_float()
    before: tuple[float, float] | None = None
    for index in range(min(pdfium.FPDFPath_CountSegments(path), _SEGMENTS)):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        here = (x.value, y.value)
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            return True
        slanted = before is not None and min(abs(here[0] - before[0]), abs(here[1] - before[1])) > 0.5
        if kind == pdfium.FPDF_SEGMENT_LINETO and slanted:
            return True
        before = here
    return False


def clusters_of(drawn: Sequence[Drawn]) -> list[Drawn]:
    """What lies close together as one thing; small things and lone rules are left out.

    Found on a coarse grid, by the outlines only, as a page may hold thousands of large objects.
    """
    parent = list(range(len(drawn)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    owner: dict[tuple[int, int], int] = {}
    for number, each in enumerate(drawn):
        for cell in _outline(each.box):
            parent[root(number)] = root(owner.setdefault(cell, number))
    for (column, row), number in owner.items():
        for near in ((column + 1, row), (column, row + 1), (column + 1, row + 1), (column + 1, row - 1)):
            if near in owner:
                parent[root(number)] = root(owner[near])
    groups: dict[int, Drawn] = {}
    for number, each in enumerate(drawn):
        groups[root(number)] = _one(groups.get(root(number), each), each)
    clusters: list[Drawn] = []
    for each in groups.values():
        merged = each
        while inside := [other for other in clusters if max(other.box.gap(merged.box)) < 0]:
            clusters = [other for other in clusters if other not in inside]
            for other in inside:
                merged = _one(merged, other)
        clusters.append(merged)
    return [each for each in clusters if min(each.box.width, each.box.height) >= _SMALLEST]


def _one(first: Drawn, second: Drawn) -> Drawn:
    return Drawn(first.box.with_(second.box), first.pictorial or second.pictorial)


def _outline(box: Box) -> set[tuple[int, int]]:
    """Cells of the grid that a box's edges touch."""
    left, right, low, high = (int(edge // _CELL) for edge in (box.x0, box.x1, box.y0, box.y1))
    across = {(column, row) for column in range(left, right + 1) for row in (low, high)}
    return across | {(column, row) for row in range(low, high + 1) for column in (left, right)}


def picture(page: Any, box: Box) -> bytes:
    """PNG of a part of a pypdfium2 page at 150 dots per inch, or fewer where it is large."""
    left, bottom, right, top = page.get_cropbox()
    scale = min(_SCALE, _MOST_PIXELS / max(box.width, box.height, 1))
    crop = (max(box.x0 - left, 0), max(box.y0 - bottom, 0), max(right - box.x1, 0), max(top - box.y1, 0))
    bitmap = page.render(scale=scale, crop=crop, rev_byteorder=True, draw_annots=False, no_smoothtext=False)
    try:
        return png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, bitmap.n_channels)
    finally:
        bitmap.close()


def png(pixels: bytes, width: int, height: int, stride: int, channels: int) -> bytes:
    """Rows of `stride` bytes, `channels` of them a pixel (grey 1, RGB 3, RGBx 4: the fourth is dropped), as PNG."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytearray()
    for start in range(0, height * stride, stride):
        row = pixels[start : start + width * channels]
        if channels == 4:
            kept = bytearray(3 * width)
            for channel in range(3):
                kept[channel::3] = row[channel::4]
            row = bytes(kept)
        rows += b"\0" + row
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
