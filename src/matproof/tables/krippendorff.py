"""Krippendorff's alpha for ordinal scores, from its definition.

Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C and D; the example of its
section C, four observers and twelve units with gaps, is a test. Raters may be many, and any may have left a unit out.

A unit that m raters scored gives, for each ordered pair of its scores c and k, 1/(m-1) to the coincidence o_ck; units
of one score give nothing. With n_c the sum of o_ck over k, n the sum of all n_c, and the ordinal difference
delta_ck² = (n_c/2 + the n_g of all scores g between + n_k/2)²,

    alpha = 1 - (n - 1) · sum_{c<k} o_ck delta_ck² / sum_{c<k} n_c n_k delta_ck²

1 is full agreement, 0 what chance gives, below 0 systematic disagreement. Where all scores are the same, chance can't
disagree and alpha is undefined, not 1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

NO_PAIRS = "no run has two scores"
ALL_THE_SAME = "every score is the same, so chance could not disagree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """The coefficient, or why there is none."""

    value: float | None
    reason: str | None
    units: int
    """Units with at least two scores."""
    scores: int
    """Scores of those units."""


def ordinal_alpha(units: Iterable[Sequence[int]]) -> Alpha:
    """Alpha of `units`, each the scores that one thing was given, in any order."""
    paired = [list(unit) for unit in units if len(unit) > 1]
    coincidences: dict[tuple[int, int], float] = {}
    for unit in paired:
        for pair in permutations(unit, 2):
            coincidences[pair] = coincidences.get(pair, 0.0) + 1 / (len(unit) - 1)
    totals = Counter(score for unit in paired for score in unit)
    counts = {"units": len(paired), "scores": sum(totals.values())}
    if not paired:
        return Alpha(value=None, reason=NO_PAIRS, **counts)
    if len(totals) == 1:
        return Alpha(value=None, reason=ALL_THE_SAME, **counts)
    observed = expected = 0.0
    for low, high in combinations(sorted(totals), 2):
        between = sum(count for score, count in totals.items() if low <= score <= high)
        difference = (between - (totals[low] + totals[high]) / 2) ** 2
        observed += coincidences.get((low, high), 0.0) * difference
        expected += totals[low] * totals[high] * difference
    return Alpha(value=1 - (counts["scores"] - 1) * observed / expected, reason=None, **counts)
