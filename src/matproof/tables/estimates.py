"""Estimates with their errors: pure functions of numbers, without a table or a file.

Claims are what is sampled: repeats of a claim are averaged first, and every error is over claims. Where scipy has the
method it is scipy's; the formulas that it lacks are here, each with its source.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

CONFIDENCE = 0.95
"""Of every interval."""
ALPHA = 1 - CONFIDENCE
POWER = 0.8
"""Of the minimum detectable difference."""
EXACT = 50
"""Most pairs of which a signed-rank test is exact."""
_SAME = 1e-9
"""Differences of mean scores below this are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number, its standard error and its interval; None, with the reason in `note`, where there is none."""

    value: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Units that it rests on."""
    note: str | None = None


def claim_means(pairs: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    """(claim, value) pairs to each claim's mean over its known values."""
    values: dict[str, list[float]] = {}
    for claim, value in pairs:
        if value is not None:
            values.setdefault(claim, []).append(float(value))
    return {claim: math.fsum(found) / len(found) for claim, found in values.items()}


def mean_estimate(means: Sequence[float]) -> Estimate:
    """Mean of claim means, standard error s/√n over claims, and the t interval with n - 1 degrees of freedom."""
    from scipy.special import stdtrit  # scipy.stats, whose t.ppf is this, takes a second to import

    number = len(means)
    if not number:
        return Estimate(note="nothing scored")
    value = math.fsum(means) / number
    if number == 1:
        return Estimate(value=value, n=1, note="one claim: its error is unknown")
    error = math.sqrt(math.fsum((one - value) ** 2 for one in means) / (number - 1) / number)
    reach = float(stdtrit(number - 1, 0.5 + CONFIDENCE / 2)) * error
    return Estimate(value=value, se=error, low=value - reach, high=value + reach, n=number)


def wilson(share: float, number: int) -> tuple[float, float]:
    """The score interval of a share of `number` units (Wilson 1927, J. Am. Stat. Assoc. 22, 209, without continuity
    correction). `share` may be a mean of shares: the interval is then no shorter than it should be, because a mean of
    shares varies less than a share of 0s and 1s.
    """
    from scipy.special import ndtri  # scipy.stats has it as norm.ppf

    z = float(ndtri(0.5 + CONFIDENCE / 2))
    centre = share + z * z / (2 * number)
    reach = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


def share_estimate(means: Sequence[float]) -> Estimate:
    """A rate: the mean of claims' shares with the Wilson interval over claims."""
    if not means:
        return Estimate(note="nothing scored")
    found = mean_estimate(means)
    low, high = wilson(found.value or 0.0, len(means))
    return Estimate(value=found.value, se=found.se, low=low, high=high, n=len(means), note=found.note)


def count_estimate(count: int, number: int) -> Estimate:
    """A count as a share of `number` independent units, with its Wilson interval."""
    if not number:
        return Estimate(note="no such run")
    low, high = wilson(count / number, number)
    return Estimate(value=count / number, low=low, high=high, n=number)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values that hold the family-wise error (Holm 1979, Scand. J. Stat. 6, 65); None stays None and is no
    member of the family."""
    order = sorted((value, index) for index, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for place, (value, index) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * value))
        adjusted[index] = largest
    return adjusted


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRank:
    """A one-sided Wilcoxon signed-rank test of paired differences being positive."""

    p_value: float | None
    rank_biserial: float | None
    """(T+ - T-) / (T+ + T-), from -1 to 1 (Kerby 2014, Compr. Psychol. 3, 11.IT.3.1)."""
    n: int
    """Pairs that differ."""
    note: str | None = None


def signed_rank(differences: Sequence[float]) -> SignedRank:
    """The test of `differences`; pairs without a difference are dropped, as Wilcoxon did.

    The p-value is exact given the ties up to `EXACT` pairs, and scipy's normal approximation beyond.
    """
    from scipy.stats import rankdata, wilcoxon

    # Means over repeats differ by rounding where they are equal: then they must tie here too.
    moved = [round(one, 9) for one in differences if abs(one) > _SAME]
    if not moved:
        return SignedRank(p_value=None, rank_biserial=None, n=0, note="no pair differs")
    ranks = rankdata([abs(one) for one in moved])
    up = float(sum(rank for rank, one in zip(ranks, moved, strict=True) if one > 0))
    whole = float(ranks.sum())
    exact = len(moved) <= EXACT
    p_value = _exact_tail(ranks, up) if exact else float(wilcoxon(moved, alternative="greater").pvalue)
    return SignedRank(p_value=p_value, rank_biserial=(2 * up - whole) / whole, n=len(moved))


def _exact_tail(ranks: Sequence[float], up: float) -> float:
    """Chance that signs by coin give a sum of positive ranks of at least `up` (shift algorithm: Streitberg and Röhmel
    1986, Stat. Softw. Newsl. 12, 10). scipy lists every choice of signs where ranks tie: a second for twelve pairs."""
    import numpy as np

    chances = np.ones(1)  # by twice the sum: tied ranks are halves
    for rank in ranks:
        step = round(2 * rank)
        shifted = np.concatenate([np.zeros(step), chances])
        chances = (np.concatenate([chances, np.zeros(step)]) + shifted) / 2
    return min(1.0, float(chances[round(2 * up) :].sum()))


def paired_power(difference: float, deviation: float, number: int) -> float:
    """Power of the two-sided paired t-test at `ALPHA` (noncentral t; both tails)."""
    from scipy.stats import nct, t

    critical = float(t.ppf(1 - ALPHA / 2, number - 1))
    shift = difference / deviation * math.sqrt(number)
    near, far = float(nct.sf(critical, number - 1, shift)), float(nct.cdf(-critical, number - 1, shift))
    return near if math.isnan(far) else near + far  # scipy has no number for a far tail that is too thin


def detectable_difference(deviation: float, number: int) -> float | None:
    """The smallest mean difference that `number` pairs find with `POWER`, where paired differences have the standard
    deviation `deviation`; None where nobody can say (fewer than two pairs, or no spread)."""
    from scipy.optimize import brentq

    if number < 2 or deviation < _SAME:
        return None
    highest = 1.0
    while paired_power(highest * deviation, deviation, number) < POWER:
        highest *= 2
    return deviation * float(brentq(lambda size: paired_power(size, 1.0, number) - POWER, 1e-9, highest, xtol=1e-9))


def standard_deviation(values: Sequence[float]) -> float | None:
    """Sample standard deviation; None with fewer than two."""
    if len(values) < 2:
        return None
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((one - middle) ** 2 for one in values) / (len(values) - 1))


def pass_at_k(succeeded: int, tries: int, k: int) -> float | None:
    """Chance that one of k tries succeeds, unbiased from `tries` of which `succeeded` did: 1 - C(n-c, k) / C(n, k)
    (Chen et al. 2021, arXiv 2107.03374, equation 1); None with fewer than k tries."""
    if tries < k:
        return None
    return 1 - math.comb(tries - succeeded, k) / math.comb(tries, k)


def indistinct_groups(names: Sequence[str], apart: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The largest sets of `names` no two of which are `apart`, in the order of `names` (insert and absorb: Piepho 2004,
    J. Comput. Graph. Stat. 13, 456)."""
    groups = [frozenset(names)] if names else []
    for one, other in apart:
        split = [part for group in groups for part in _without(group, one, other)]
        groups = [group for group in dict.fromkeys(split) if not any(group < bigger for bigger in split)]
    place = {name: index for index, name in enumerate(names)}
    ordered = [tuple(sorted(group, key=place.__getitem__)) for group in groups]
    return sorted(ordered, key=lambda group: [place[name] for name in group])


def _without(group: frozenset[str], one: str, other: str) -> list[frozenset[str]]:
    return [group - {one}, group - {other}] if {one, other} <= group else [group]


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each two names once, in order."""
    return list(combinations(names, 2))


def paired_differences(first: Mapping[str, float], second: Mapping[str, float]) -> list[float]:
    """first - second on the claims that have both, by claim."""
    return [first[claim] - second[claim] for claim in sorted(first) if claim in second]
