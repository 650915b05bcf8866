"""Where a page's figures are, found without a model. Lengths are points.

What is drawn close together is one cluster. A cluster is a figure where a caption (`Figure 3.`) stands at it, or where
it holds a picture, a curve or a slanted line: cells and rules of tables have none. Labels that stand close to it belong
to it. Their text is taken out of the page's lines, so that tick labels do not pass for a table, and kept beside the
figure, so that it can be searched and looked through for links.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matproof.papers.drawn import Box, Drawn, clusters_of
from matproof.papers.glyphs import Glyph
from matproof.papers.layout import Segment, lines_of, text_of

CAPTION = re.compile(
    r"(?:Extended Data |Supplementary )?(?:Figure|Fig\.?|FIG\.?|FIGURE|Scheme)\s?(S?\d{1,3})\b[.:|]?\s"
)
_MOST_LINES = 2000
"""A page with more pieces of text is left as it is."""
_WITH_STOP = re.compile(CAPTION.pattern.replace("[.:|]?", "[.:|]"))
_REACH = 90.0
"""Farthest that a caption is from its figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of one page."""

    box: Box
    number: str | None
    """As the caption counts it; None without a caption."""
    caption: Segment | None
    """First line of the caption."""
    text: str
    """What is written in it."""
    glyphs: tuple[Glyph, ...]
    """Of that text."""

    def name(self, page: int, others: Sequence[str]) -> str:
        """Name of its file: none of `others`."""
        stem = f"page-{page}-" + (f"figure-{self.number}" if self.number else "picture")
        names = [f"{stem}.png", *(f"{stem}-{again}.png" for again in range(2, len(others) + 2))]
        return next(name for name in names if name not in others)


def figures_of(drawn: Sequence[Drawn], upright: Sequence[Glyph], turned: Sequence[Glyph]) -> list[Figure]:
    """The page's figures, those with a caption first."""
    if not drawn:
        return []
    clusters = clusters_of(drawn)
    lines = lines_of(upright)
    if len(lines) > _MOST_LINES:
        return []
    captions = [line for line in lines if CAPTION.match(text_of(line) + " ")]
    labels = [line for line in lines if line not in captions and not _ends_prose(line, lines)]
    figures: list[Figure] = []
    left = list(clusters)
    # A sentence too may begin a line with `Figure 3 shows …`: it comes after captions that look like one.
    for caption in sorted(captions, key=lambda line: not _WITH_STOP.match(text_of(line))):
        mine = _at(caption, left, lines, captions)
        if mine:
            left = [each for each in left if each not in mine]
            figures.append(_figure(mine, caption, lines, labels, turned))
    plain = [each for each in left if each.pictorial and not _holds_prose(each.box, lines)]
    figures += [_figure([each], None, lines, labels, turned) for each in plain]
    return figures


def _at(
    caption: Segment, clusters: Sequence[Drawn], lines: Sequence[Segment], captions: Sequence[Segment]
) -> list[Drawn]:
    """The clusters that a caption speaks of: the nearest above it, or else below, and what stands beside or upon it."""
    place = box_of(caption)
    column = _column(caption, lines)

    def apart(each: Drawn, *, above: bool) -> float:
        return each.box.y0 - place.y1 if above else place.y0 - each.box.y1

    for above in (True, False):
        near = [
            each
            for each in clusters
            if -0.5 * caption.size < apart(each, above=above) < _REACH
            and (_shares(each.box, place) or _shares(each.box, column))
        ]
        near = [each for each in near if not _prose_between(each.box, place, lines, captions, caption)]
        if not near:
            continue
        mine = [min(near, key=lambda each: (apart(each, above=above), not each.pictorial))]
        for each in sorted(clusters, key=lambda other: apart(other, above=above)):
            whole = mine[0].box
            for one in mine[1:]:
                whole = whole.with_(one.box)
            across, up = each.box.gap(whole)
            if each not in mine and across < 75 and up < 75 and apart(each, above=above) > -0.5 * caption.size:
                taken = any(_speaks_of(other, each.box) for other in captions if other is not caption)
                between = _prose_between(each.box, place, lines, captions, caption)
                mine += [] if between or taken else [each]
        return mine
    return []


def _speaks_of(caption: Segment, box: Box) -> bool:
    """Whether a caption stands right below or above a cluster."""
    place = box_of(caption)
    return _shares(box, place) and -5 < box.gap(place)[1] < _REACH / 2


def _column(caption: Segment, lines: Sequence[Segment]) -> Box:
    """The caption and the running text over and under it: a short caption may stand beside its figure's middle."""
    whole = box_of(caption)
    for line in lines:
        if len(line.glyphs) > 40 and min(line.x1, caption.x1) - max(line.x0, caption.x0) > 0:
            whole = whole.with_(box_of(line))
    return whole


def _shares(box: Box, caption: Box) -> bool:
    """Whether a cluster stands over the caption rather than beside it."""
    return min(box.x1, caption.x1) - max(box.x0, caption.x0) > 0.3 * min(box.width, caption.width)


def _prose_between(box: Box, caption: Box, lines: Sequence[Segment], captions: Sequence[Segment], own: Segment) -> bool:
    """Whether running text or another caption stands between a cluster and a caption."""
    low, high = (caption.y1, box.y0) if box.y0 >= caption.y1 - 5 else (box.y1, caption.y0)
    return any(
        low < line.base < high
        and line is not own
        and min(line.x1, box.x1) - max(line.x0, box.x0) > 0
        and (line in captions or len(line.glyphs) > 45)
        for line in lines
    )


def _figure(
    clusters: Sequence[Drawn],
    caption: Segment | None,
    lines: Sequence[Segment],
    labels: Sequence[Segment],
    turned: Sequence[Glyph],
) -> Figure:
    box = clusters[0].box
    for each in clusters[1:]:
        box = box.with_(each.box)
    box = _with_labels(box, labels, turned, caption)
    ordered = sorted(lines, key=lambda line: (-line.base, line.x0))
    inside = [line for line in labels if box.holds(_middle(line))]
    sideways = [glyph for glyph in turned if box.holds(glyph)]
    # Whatever the picture shows in part is in its text, so that no link is shown that the text does not have.
    words = [text_of(line) for line in ordered if line is not caption and any(map(box.holds, line.glyphs))]
    words += ["".join(f" {glyph.char}" if glyph.spaced else glyph.char for glyph in sideways)] if sideways else []
    number = CAPTION.match(text_of(caption) + " ") if caption is not None else None
    return Figure(
        box=box,
        number=number[1] if number else None,
        caption=caption,
        text=" ".join(" · ".join(words).split()),
        glyphs=(*(glyph for line in inside for glyph in line.glyphs), *sideways),
    )


def _with_labels(box: Box, lines: Sequence[Segment], turned: Iterable[Glyph], caption: Segment | None) -> Box:
    """The box with the short lines around it, up to the caption."""
    floor = box_of(caption).y1 if caption is not None and caption.base < box.y0 else -math.inf
    short = [
        box_of(line)
        for line in lines
        if len(line.glyphs) < 12 or (len(line.glyphs) <= 40 and line.x1 - line.x0 < 0.85 * box.width)
    ]
    marks = [Box(glyph.x0, glyph.base - 0.2 * glyph.size, glyph.x1, glyph.base + 0.8 * glyph.size) for glyph in turned]
    around = [each for each in (*short, *marks) if each.y0 >= floor - 1]
    start = box
    for _ in range(4):
        grown = box
        for each in around:
            across, up = each.gap(grown)
            beside = up < 0 and across < 14
            upon = across < -0.5 * each.width and up < 1.3 * each.height
            if (beside or upon) and max(start.gap(each.with_(start))) < 0 and _is_near(each, start):
                grown = grown.with_(each)
        if grown == box:
            break
        box = grown
    return Box(box.x0 - 2, max(box.y0 - 2, floor), box.x1 + 2, box.y1 + 2)


def _is_near(label: Box, start: Box) -> bool:
    across, up = label.gap(start)
    return across < 70 and up < 45


def _holds_prose(box: Box, lines: Sequence[Segment]) -> bool:
    """Whether a cluster is a frame around text."""
    return sum(len(line.glyphs) > 40 and box.holds(_middle(line)) for line in lines) >= 3


def _ends_prose(line: Segment, lines: Sequence[Segment]) -> bool:
    """Whether a line is the last of a paragraph: a long one that begins at the same edge stands right above it."""
    return any(
        len(other.glyphs) > 40 and abs(other.x0 - line.x0) < 2 and 0 < other.base - line.base < 1.7 * line.size
        for other in lines
    )


def _middle(line: Segment) -> Glyph:
    """A glyph in the middle of the line."""
    return line.glyphs[len(line.glyphs) // 2]


def box_of(line: Segment) -> Box:
    """Where a line stands."""
    return Box(line.x0, line.base - 0.25 * line.size, line.x1, line.base + 0.8 * line.size)
