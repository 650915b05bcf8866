"""Pairs of scores from elsewhere, as CSV: columns `dimension`, `judge` (or `llm`), `human`, and what names the item.

The first of the other columns is what is resampled whole. Half steps and scores off the scale are refused by line,
unless rounding is asked for: then halves are rounded up and the result is clipped to 1 to 5, and what that changed is
counted and told.
"""

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import read_text
from matproof.tables.agreement import Pair
from matproof.tables.calibration.kit import HIGHEST, LOWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignPairs:
    """What such a file holds."""

    pairs: dict[str, list[Pair]]
    """By dimension."""
    unscored: dict[str, int]
    """Dimension → lines without one of the two scores."""
    rounded: int
    """Half steps that were rounded up."""
    clipped: tuple[str, ...]
    """Where a score was off the scale, and what it was."""
    cluster: str
    """Column that was resampled whole."""

    def notes(self) -> list[str]:
        """What was changed, in words."""
        told = [f"resampled whole: {self.cluster}"]
        told += [f"{self.rounded} half steps rounded up"] if self.rounded else []
        return told + ([f"clipped to {LOWEST} to {HIGHEST}: {'; '.join(self.clipped)}"] if self.clipped else [])


def read_pairs(file: Path, *, round_half_up: bool) -> ForeignPairs:
    """The pairs of `file`. Raises InputError for a missing column, and for the first score that is not on the scale."""
    reader = csv.DictReader(io.StringIO(read_text(file).removeprefix("\ufeff")))
    names = list(reader.fieldnames or [])
    judge = "judge" if "judge" in names else "llm"
    if missing := [name for name in ("dimension", judge, "human") if name not in names]:
        raise InputError(file, "header", f"no column {', '.join(missing)}", "name them dimension, judge and human")
    others = [name for name in names if name not in ("dimension", judge, "human")]
    if not others:
        raise InputError(file, "header", "no column names the item", "add one, such as the claim")
    pairs: dict[str, list[Pair]] = {}
    unscored: dict[str, int] = {}
    rounded, clipped = 0, []
    for row in reader:
        scores: list[int | None] = []
        for column in (judge, "human"):
            value = _value(file, f"line {reader.line_num}: {column}", row[column])
            if value is not None and round_half_up:
                whole = math.floor(value + 0.5)
                rounded += value % 1 == 0.5
                if not LOWEST <= whole <= HIGHEST:
                    clipped.append(f"line {reader.line_num}, {column} {value:g}")
                value = min(max(whole, LOWEST), HIGHEST)
            elif value is not None and not (LOWEST <= value <= HIGHEST and value.is_integer()):
                problem = f"{value:g} is not a whole number from {LOWEST} to {HIGHEST}"
                where = f"line {reader.line_num}: {row['dimension']}: {column}"
                raise InputError(file, where, problem, "correct it, or pass --round-half-up")
            scores.append(None if value is None else int(value))
        one, two = scores
        if one is None or two is None:
            unscored[row["dimension"]] = unscored.get(row["dimension"], 0) + 1
        else:
            pair = Pair(cluster=row[others[0]], judge=one, human=two)
            pairs.setdefault(row["dimension"], []).append(pair)
    if not pairs:
        raise InputError(file, "", "holds no pair of scores", "give a line each")
    return ForeignPairs(pairs=pairs, unscored=unscored, rounded=rounded, clipped=tuple(clipped), cluster=others[0])


def _value(file: Path, where: str, text: str | None) -> float | None:
    if not (text or "").strip():
        return None
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(file, where, f"{str(text)[:40]!r} is not a number", "correct it, or leave it empty")
    return value
