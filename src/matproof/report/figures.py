"""Geometry of the pictures: pure functions from numbers to places, in the units of an SVG's viewBox.

Templates draw what these return; nothing here knows a colour or a word of HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LOWEST, HIGHEST = 1, 5
"""Ends of the score axis."""


@dataclass(frozen=True, slots=True)
class Whisker:
    """A mean with its error bar on the score axis; the bar is cut where the axis ends."""

    centre: float
    left: float | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a stacked bar."""

    name: str
    count: int
    x: float
    width: float

    @property
    def middle(self) -> float:
        """Where its label stands."""
        return self.x + self.width / 2


def score_place(score: float, width: float, margin: float) -> float:
    """Where `score` stands on an axis of `width` with `margin` at both ends; scores beyond it stand at its ends."""
    inside = min(max(score, LOWEST), HIGHEST)
    return round(margin + (inside - LOWEST) / (HIGHEST - LOWEST) * (width - 2 * margin), 2)


def whisker(mean: float | None, error: float | None, width: float, margin: float) -> Whisker | None:
    """The picture of `mean` ± `error`; None where there is no mean, no bar where there is no error."""
    if mean is None:
        return None
    centre = score_place(mean, width, margin)
    if error is None:
        return Whisker(centre, None, None)
    return Whisker(centre, score_place(mean - error, width, margin), score_place(mean + error, width, margin))


def stack(counts: Sequence[tuple[str, int]], width: float) -> list[Segment]:
    """Parts of a bar of `width` in proportion to `counts`; empty parts are left out, and so is a bar of nothing."""
    total = sum(count for _, count in counts)
    segments, x = [], 0.0
    for name, count in counts:
        if count > 0:
            part = count / total * width
            segments.append(Segment(name, count, round(x, 2), round(part, 2)))
            x += part
    return segments


def timeline(parts: Sequence[tuple[str, float]], width: float, least: float = 2.0) -> list[tuple[str, float, float]]:
    """(name, x, width) of consecutive durations on a bar of `width`, none narrower than `least`."""
    total = sum(max(seconds, 0.0) for _, seconds in parts)
    if total <= 0:
        return []
    room = max(width - least * len(parts), 0.0)
    found, x = [], 0.0
    for name, seconds in parts:
        part = least + max(seconds, 0.0) / total * room
        found.append((name, round(x, 2), round(part, 2)))
        x += part
    return found
