"""Ranks of systems, and how much two rankings agree."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
"""Of every interval; its complement is the false-discovery rate of every comparison."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A rank correlation; null, with the reason in `note`, where it is not defined."""

    value: float | None
    p_value: float | None
    n: int
    note: str | None = None


def mean(values: Iterable[float]) -> float | None:
    """The mean of the known values (NaN is missing), the same to the last bit in any order; None without any."""
    known = [value for value in values if value == value]
    return math.fsum(known) / len(known) if known else None


def ranks(values: Mapping[str, float | None]) -> dict[str, int | None]:
    """Each name's place, the largest value first; equals share a place, and what has no value has none."""
    known = [value for value in values.values() if value is not None]
    return {
        name: None if value is None else 1 + sum(other > value for other in known) for name, value in values.items()
    }


def kendall(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> Agreement:
    """Kendall's τ-b between two scorings of systems, over those that have both (scipy, exact p where there are no
    ties)."""
    from scipy.stats import kendalltau

    return _agreement(kendalltau, *_both(first, second), of="systems")


def spearman(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """Spearman's ρ between two columns, over the rows that have both (NaN is missing)."""
    from scipy.stats import spearmanr

    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a == a and b == b]
    return _agreement(spearmanr, [a for a, _ in pairs], [b for _, b in pairs], of="rows")


def _both(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> tuple[list[float], list[float]]:
    pairs = [(first[name], second[name]) for name in first if name in second]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [a for a, _ in known], [b for _, b in known]


def _agreement(correlation: object, first: list[float], second: list[float], *, of: str) -> Agreement:
    number = len(first)
    if number < 2:
        return Agreement(None, None, number, f"needs at least two {of}")
    if len(set(first)) == 1 or len(set(second)) == 1:
        return Agreement(None, None, number, f"all {of} have one value")
    result = correlation(first, second)  # type: ignore[operator]
    value, p_value = float(result.statistic), float(result.pvalue)
    note = f"two {of} only: 1 or -1, whatever the values" if number == 2 else None
    return Agreement(value, p_value if p_value == p_value else None, number, note)
