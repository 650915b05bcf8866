"""Geometry of the pictures of Matter to Mechanism: pure functions from numbers to places, in the units of a viewBox."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COLOURS = 5
"""Line colours that the style sheet has."""
HEATS = 10
"""Shades of a heatmap cell, 0 to HEATS - 1."""
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis; values beyond it stand at its ends."""

    low: float
    high: float
    width: float
    margin: float

    def place(self, value: float | None) -> float | None:
        """Where `value` stands; None where there is none."""
        if value is None or not math.isfinite(value):
            return None
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return round(self.margin + share * (self.width - 2 * self.margin), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """(place, label) of round numbers on the axis, at most seven."""
        step = next((step for step in _STEPS if (self.high - self.low) / step <= 6), 1.0)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [number * step for number in range(first, last + 1)]
        return [(self.place(value) or 0.0, f"{value:.{digits}f}") for value in values]


def axis_of(values: Sequence[float | None], width: float, margin: float, *, around: float | None = None) -> Axis:
    """An axis that holds all known `values` with a little room; `around` is a value that it is symmetric about."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return Axis(0.0, 1.0, width, margin)
    low, high = min(known), max(known)
    if around is not None:
        reach = max(abs(low - around), abs(high - around), 0.01) * 1.08
        return Axis(around - reach, around + reach, width, margin)
    room = max((high - low) * 0.06, 0.005)
    return Axis(low - room, high + room, width, margin)


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval and the paper's value beside."""

    centre: float | None
    left: float | None
    right: float | None
    paper: float | None


def mark(axis: Axis, value: float | None, low: float | None, high: float | None, paper: float | None) -> Mark:
    """The places of a value, its interval and the paper's value."""
    return Mark(axis.place(value), axis.place(low), axis.place(high), axis.place(paper))


@dataclass(frozen=True, slots=True)
class Path:
    """A system's way through the columns of a bump chart."""

    name: str
    points: tuple[tuple[float, float], ...]
    moves: bool
    style: str
    """`still`, or the class of its colour."""
    start: int
    end: int
    """Rank in its first and last column."""

    @property
    def line(self) -> str:
        """Points as SVG writes them."""
        return " ".join(f"{x},{y}" for x, y in self.points)


def bump(ranks: Mapping[str, Sequence[int | None]], left: float, right: float, row: float) -> list[Path]:
    """The paths of systems whose ranks are given a column each; equals of a column stand beside each other.

    `left` and `right` are the places of the first and last column, `row` the height of a rank. A system that has no
    rank in some column has no path.
    """
    known = {name: [rank for rank in places if rank is not None] for name, places in ranks.items()}
    whole = {name: places for name, places in known.items() if places and len(places) == len(ranks[name])}
    columns = max((len(places) for places in whole.values()), default=0)
    step = (right - left) / (columns - 1) if columns > 1 else 0.0
    slots = [_slots({name: places[column] for name, places in whole.items()}) for column in range(columns)]
    paths: list[Path] = []
    for name, places in whole.items():
        points = tuple(
            (round(left + index * step, 1), round((slots[index][name] - 0.5) * row, 1)) for index in range(columns)
        )
        moves = len(set(places)) > 1
        colour = sum(path.moves for path in paths) % COLOURS
        paths.append(Path(name, points, moves, f"l{colour}" if moves else "still", places[0], places[-1]))
    return paths


def heat(share: float | None) -> str:
    """Class of a heatmap cell of a share from 0 to 1: `h0` (nothing) to `h9`; `none` where there is no share."""
    if share is None or not math.isfinite(share):
        return "none"
    if share <= 0:
        return "h0"
    return f"h{min(HEATS - 1, 1 + int(min(share, 1.0) * (HEATS - 1)))}"


def tilt(value: float | None) -> str:
    """Class of a cell of a correlation from -1 to 1: `h…` for positive ones, `n…` for negative ones."""
    if value is None or not math.isfinite(value):
        return "none"
    shade = min(HEATS - 1, round(abs(value) * (HEATS - 1)))
    return f"{'n' if value < 0 else 'h'}{shade}"


def _slots(places: Mapping[str, int]) -> dict[str, int]:
    """A line of its own for each name, in the order of the ranks."""
    ordered = sorted(places, key=lambda name: (places[name], list(places).index(name)))
    return {name: slot for slot, name in enumerate(ordered, start=1)}
