"""Glyphs into lines in reading order, and raised digits into exponents.

A page is cut at a gutter that most lines respect; what crosses it (title, wide table) divides the page into bands, and
in each band the left column is read before the right. Side-by-side pieces that do not fill columns stay together as
rows: they are a table. Raised smaller characters become `^…`, since `10` with a raised `-4` written as `10-4` would be
another number.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from matproof.papers.glyphs import Glyph

_MAX_SEGMENTS = 4000
_JOIN_GAP = 1.2
"""Widest gap inside a line, in font sizes; a wider one is a column's or a table cell's edge."""
_EXPONENT = re.compile(r"[+-]?\d{1,3}(?:\.\d{1,3}|/\d{1,2})?")


@dataclass(slots=True, eq=False)
class Segment:
    """A run of glyphs on one line without a wide gap."""

    glyphs: list[Glyph] = field(default_factory=list)
    base: float = 0.0
    size: float = 0.0

    def add(self, glyph: Glyph) -> None:
        """Append one glyph; the baseline is that of the first and largest."""
        if glyph.size > self.size * 1.05:
            self.base, self.size = glyph.base, glyph.size
        self.glyphs.append(glyph)

    @property
    def x0(self) -> float:
        """Left edge."""
        return self.glyphs[0].x0

    @property
    def x1(self) -> float:
        """Right edge."""
        return self.glyphs[-1].x1

    @property
    def bold(self) -> bool:
        """Whether every glyph is."""
        return all(glyph.bold for glyph in self.glyphs)


@dataclass(slots=True)
class Row:
    """Segments side by side, and the edges of the column that they stand in."""

    segments: list[Segment]
    left: float
    right: float

    @property
    def base(self) -> float:
        """Height of the baseline."""
        return self.segments[0].base

    @property
    def size(self) -> float:
        """Font size."""
        return max(segment.size for segment in self.segments)


def lines_of(glyphs: Sequence[Glyph]) -> list[Segment]:
    """The page's lines without wide gaps, in no order."""
    return _joined(_segments(glyphs))


def rows_in_order(lines: list[Segment]) -> list[Row]:
    """The page's rows as a person reads them."""
    return _ordered(lines, depth=0)


def text_of(segment: Segment) -> str:
    """The segment's text, raised characters as `^…`."""
    size, base = _dominant(segment.glyphs)
    parts: list[str] = []
    raised: list[str] = []
    for glyph in segment.glyphs:
        lift = glyph.base - base
        is_raised = lift > (0.15 if glyph.size < 0.9 * size else 0.28) * size and glyph.size <= 1.05 * size
        if is_raised:
            raised.append(glyph.char)
            continue
        if raised:
            parts.append(_superscript("".join(raised)))
            raised = []
            parts.append(" " if glyph.spaced or glyph.char[0].isdigit() else "")
        elif glyph.spaced and parts:
            parts.append(" ")
        parts.append(glyph.char)
    return "".join(parts) + (_superscript("".join(raised)) if raised else "")


def _superscript(text: str) -> str:
    plain = text.translate(str.maketrans("−–", "--"))
    if _EXPONENT.fullmatch(plain):
        return f"^{plain}"
    if plain in ("st", "nd", "rd", "th", "'", "′", "°", "®", "™"):
        return plain
    return f"^{{{plain}}}"


def _dominant(glyphs: Sequence[Glyph]) -> tuple[float, float]:
    """Size and baseline of what is neither raised nor lowered.

    That is the largest size that a fifth of the glyphs share: `C11` has more lowered glyphs than others, while one
    large initial does not make a line. In a short run without such a size it is the largest there is.
    """
    sizes = Counter(round(glyph.size, 1) for glyph in glyphs)
    shared = [size for size, count in sizes.items() if count * 5 >= len(glyphs)]
    largest = max(sizes)
    size = largest if largest in shared or len(glyphs) < 12 else max(shared, default=sizes.most_common(1)[0][0])
    bases = sorted(glyph.base for glyph in glyphs if round(glyph.size, 1) == size)
    return size, bases[(len(bases) - 1) // 2]


def _segments(glyphs: Sequence[Glyph]) -> list[Segment]:
    segments: list[Segment] = []
    for glyph in glyphs:
        last = segments[-1] if segments else None
        if last is None or not _follows(last, glyph):
            last = Segment()
            segments.append(last)
        last.add(glyph)
    return segments


def _follows(segment: Segment, glyph: Glyph) -> bool:
    size = max(segment.size, glyph.size)
    near = abs(glyph.base - segment.base) < 0.6 * size
    # The parts of a ligature all have its whole box, so a glyph may begin where the last one did.
    return near and glyph.x0 > segment.glyphs[-1].x0 - 0.3 * size and glyph.x0 - segment.x1 < _JOIN_GAP * size


def _joined(segments: list[Segment]) -> list[Segment]:
    """Segments that continue one another though the file holds them apart."""
    if len(segments) > _MAX_SEGMENTS:
        return segments
    lines: list[Segment] = []
    for segment in sorted(segments, key=lambda s: s.x0):
        best = min(
            (line for line in lines if _continues(line, segment)), key=lambda s: abs(s.x1 - segment.x0), default=None
        )
        if best is None:
            lines.append(segment)
            continue
        first = segment.glyphs[0]
        spaced = first.spaced or first.x0 - best.x1 > 0.15 * best.size
        segment.glyphs[0] = Glyph(first.char, first.x0, first.x1, first.base, first.size, first.bold, spaced)
        for glyph in segment.glyphs:
            best.add(glyph)
    return lines


def _continues(line: Segment, segment: Segment) -> bool:
    size = max(line.size, segment.size)
    reach = 0.25 if abs(line.size - segment.size) < 0.1 * size else 0.55
    return abs(line.base - segment.base) < reach * size and -0.3 * size < segment.x0 - line.x1 < _JOIN_GAP * size


def _ordered(segments: list[Segment], *, depth: int) -> list[Row]:
    gutter = _gutter(segments) if depth < 3 else None
    if gutter is None:
        return _rows(segments)
    rows: list[Row] = []
    left: list[Segment] = []
    right: list[Segment] = []
    wide: list[Segment] = []

    def flush() -> None:
        rows.extend(_rows(wide) + _ordered(left, depth=depth + 1) + _ordered(right, depth=depth + 1))
        for column in (wide, left, right):
            column.clear()

    for segment in sorted(segments, key=lambda s: -s.base):
        if segment.x1 <= gutter + 1:
            left.append(segment)
        elif segment.x0 >= gutter - 1:
            right.append(segment)
        else:
            if left or right:
                flush()
            wide.append(segment)
    flush()
    return rows


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Where two columns of running text part, or None."""
    if not 8 <= len(segments) <= _MAX_SEGMENTS:
        return None
    low, high = min(s.x0 for s in segments), max(s.x1 for s in segments)
    width = high - low
    edges = {round(s.x0, 0) for s in segments if low + 0.28 * width < s.x0 < high - 0.28 * width}
    best: tuple[int, float] | None = None
    for edge in edges:
        left = [s for s in segments if s.x1 <= edge]
        right = [s for s in segments if s.x0 >= edge - 1]
        crossing = len(segments) - len(left) - len(right)
        score = min(len(left), len(right)) - 2 * crossing
        if min(len(left), len(right)) >= 4 and _fills(left, right, low, edge, high):
            best = max(best or (score, edge), (score, edge))
    return best[1] - 1 if best is not None else None


def _fills(left: list[Segment], right: list[Segment], low: float, edge: float, high: float) -> bool:
    """Whether both sides are running text that stands side by side, not the cells of a table."""
    top = min(max(s.base for s in left), max(s.base for s in right))
    bottom = max(min(s.base for s in left), min(s.base for s in right))
    shorter = min(max(s.base for s in side) - min(s.base for s in side) for side in (left, right))
    if top - bottom < 0.3 * shorter:
        return False
    return _running(left, edge - low) and _running(right, high - edge)


def _running(side: list[Segment], width: float) -> bool:
    """Whether the segments are lines of text in a column `width` wide, or in two of them: a page may have three."""
    lengths = [s.x1 - s.x0 for s in side]
    full = sum(length > 0.8 * max(lengths) for length in lengths) >= 0.4 * len(lengths)
    if full and median(lengths) > 0.5 * width:
        return True
    starts = Counter(round(s.x0 / 3) for s in side).most_common(2)
    aligned = len(starts) == 2 and sum(count for _, count in starts) >= 0.6 * len(side) and starts[1][1] >= 4
    return full and aligned and median(lengths) > 0.35 * width


def _rows(segments: list[Segment]) -> list[Row]:
    if not segments:
        return []
    left, right = min(s.x0 for s in segments), max(s.x1 for s in segments)
    rows: list[Row] = []
    for segment in sorted(segments, key=lambda s: (-s.base, s.x0)):
        if rows and abs(rows[-1].base - segment.base) < 0.4 * max(rows[-1].size, segment.size):
            rows[-1].segments.append(segment)
        else:
            rows.append(Row([segment], left, right))
    for row in rows:
        row.segments.sort(key=lambda s: s.x0)
    return rows
