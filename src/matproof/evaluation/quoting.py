"""Whether a quote or a number stands in lines of text, and where. Pure functions over hostile text.

Both sides of a quote are squeezed: any run of white space is one space, and none is kept beside brackets, quotation
marks, commas, colons, semicolons and equals signs. Then it must be there letter for letter; a digit at either end must
be the end of its number. Time is linear in the text: nothing a judge or an agent wrote becomes a pattern.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal

from matproof.core.units import UnitError, convert, is_pure_number, known_unit

SHORTEST_QUOTE = 3
"""Visible characters; a shorter quote must be a whole line."""
WIDEST = 0.05
"""Widest precision of a number, as a share of it: a wider one would find something in any file."""
SAME = 1e-9
"""Relative distance below which two numbers are one (rounding of a unit conversion)."""
_TIGHT = "\"'{}[]():,;="
_BESIDE = re.compile(r" ?([\"'{}\[\]():,;=]) ?")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>[-+−]?+(?>\d++(?:\.\d*+)?+|\.\d++)(?:[eEdD][-+−]?+\d++)?+)(?!\.?\d)"
    r"(?:[ \t]{0,2}(?P<unit>[^\W\d_][\w/^·*°Å.-]{0,30}|[%°Å][\w/^]{0,8}))?+"
)
_MOST_UNITS = 100
_MOST_TRIES = 10_000
Place = tuple[int, int]
"""First and last line."""


def squeezed(text: str) -> str:
    """`text` as quotes are compared."""
    return _BESIDE.sub(r"\1", " ".join(text.split()))


def find_quote(quote: str, lines: Sequence[str], first: int) -> Place | None:
    """Where `quote` first stands in `lines`, of which the first has number `first`; None where it does not."""
    wanted = squeezed(quote)
    if not wanted:
        return None
    if len(wanted.replace(" ", "")) < SHORTEST_QUOTE:
        return next(((n, n) for n, line in enumerate(lines, first) if squeezed(line) == wanted), None)
    pieces: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    length, before = 0, "("
    for number, line in enumerate(lines, first):
        piece = squeezed(line)
        if not piece:
            continue
        joint = "" if before in _TIGHT or piece[0] in _TIGHT else " "
        starts.append(length + len(joint))
        numbers.append(number)
        pieces.append(joint + piece)
        length += len(joint) + len(piece)
        before = piece[-1]
    at = _find_whole(wanted, "".join(pieces))
    if at is None:
        return None
    return numbers[bisect_right(starts, at) - 1], numbers[bisect_right(starts, at + len(wanted) - 1) - 1]


def find_number(
    number: float, precision: float | None, unit: str, lines: Sequence[str], first: int, own_unit: str = ""
) -> Place | None:
    """The first line with `number` of `unit` to within `precision`; None where there is none.

    A number in the text counts in the unit that stands after it; without one, in `own_unit` (of a column's heading),
    or else in `unit` itself.
    """
    sought = _Sought(number, reach_of(number, precision), unit.strip(), own_unit.strip())
    for at, line in enumerate(lines, first):
        for found in _NUMBER.finditer(line):
            if sought.is_met(found["number"], found["unit"]):
                return at, at
    return None


def reach_of(number: float, precision: float | None) -> float:
    """How far from `number` a number in the file may be.

    Without a precision, half a step of the last digit that was given, and a whole number is meant as it stands.
    """
    if precision is None:
        exponent = Decimal(repr(number)).normalize().as_tuple().exponent
        step = 10.0**exponent if isinstance(exponent, int) and exponent < 0 else 0.0
        precision = min(step / 2, WIDEST * abs(number))
    return max(precision, SAME * abs(number))


def too_wide(number: float, precision: float | None) -> bool:
    """Whether `precision` is so wide that finding a number within it shows nothing; of zero, any is."""
    return precision is not None and precision > WIDEST * abs(number) * (1 + SAME)


class _Sought:
    """A number with its unit, compared with what stands in a text."""

    def __init__(self, number: float, reach: float, unit: str, own_unit: str) -> None:
        self._number, self._reach, self._unit, self._own_unit = number, reach, unit, own_unit
        self._ranges: dict[str, tuple[tuple[float, float], ...]] = {}

    def is_met(self, text: str, after: str | None) -> bool:
        """Whether the number `text`, with `after` behind it, is the one sought."""
        try:
            value = float(text.replace("−", "-").replace("D", "e").replace("d", "e"))
        except ValueError:
            return False
        if not math.isfinite(value):
            return False
        unit = (after or "").rstrip(".-") or self._own_unit
        if unit not in self._ranges:
            if len(self._ranges) >= _MOST_UNITS:
                return False
            self._ranges[unit] = self._ranges_in(unit)
        return any(low <= value <= high for low, high in self._ranges[unit])

    def _ranges_in(self, unit: str) -> tuple[tuple[float, float], ...]:
        as_it_stands = ((self._number - self._reach, self._number + self._reach),)
        if not unit or unit == self._unit or not known_unit(unit):
            return as_it_stands
        ranges = as_it_stands if is_pure_number(self._unit) else ()
        try:
            ends = [convert(end, self._unit, unit) for end in as_it_stands[0]]
        except UnitError:
            return ranges
        slack = SAME * max(abs(end) for end in ends)
        return (*ranges, (min(ends) - slack, max(ends) + slack))


def _find_whole(wanted: str, text: str) -> int | None:
    """Where `wanted` first stands in `text` without cutting a number at its ends."""
    at = -1
    for _ in range(_MOST_TRIES):
        at = text.find(wanted, at + 1)
        if at < 0:
            return None
        end = at + len(wanted)
        cut_before = wanted[0].isdigit() and _joins_number(text[max(0, at - 2) : at][::-1])
        cut_after = wanted[-1].isdigit() and _joins_number(text[end : end + 2])
        if not (cut_before or cut_after):
            return at
    return None


def _joins_number(beside: str) -> bool:
    """Whether `beside`, read away from a digit, goes on with its number."""
    return beside[:1].isdigit() or (beside[:1] == "." and beside[1:2].isdigit())
