"""Agreement of two raters on the same items: confusion, kappa, within one, bias, with bootstrap intervals.

Cohen's kappa is 1 - Σ w O / Σ w E, with O the confusion matrix, E the one that the margins alone would give and w the
cost of a disagreement: the squared distance of two scores for the quadratic-weighted kappa (Cohen 1968, Psychol. Bull.
70, 213), 1 for any difference without weights. It is written out here because every resample of the bootstrap needs
it, thousands at once. Items of one claim are resampled together.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matproof.tables.estimates import CONFIDENCE, Estimate, wilson

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 5_000
SEED = 20_260_101
SCORES = (1, 2, 3, 4, 5)
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two scores of one item. Both are among the categories."""

    cluster: Hashable
    """What is resampled whole, such as the claim."""
    judge: int
    human: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How two raters agree."""

    n: int
    kappa: Estimate
    within_one: Estimate
    chance_within_one: float | None
    """Share within one that unrelated raters with these margins would reach."""
    exact: Estimate
    bias: Estimate
    """Mean of judge less human."""
    confusion: list[list[int]]
    """Judge by row, human by column, in the order of the categories."""


def agreement(pairs: Sequence[Pair], categories: Sequence[int] = SCORES, *, quadratic: bool = True) -> Agreement:
    """The agreement of `pairs`.

    Intervals (95 %) of kappa and bias are percentile bootstraps over clusters with a fixed seed; those of shares are
    Wilson's with the clusters as n, since a bootstrap of a share near 1 has no width.
    """
    import numpy as np

    if not pairs:
        nothing = Estimate(note="no pair of scores")
        empty = [[0] * len(categories) for _ in categories]
        return Agreement(
            n=0,
            kappa=nothing,
            within_one=nothing,
            chance_within_one=None,
            exact=nothing,
            bias=nothing,
            confusion=empty,
        )
    tables = _by_cluster(pairs, categories)
    whole = tables.sum(axis=0)
    numbers = np.array(categories, dtype="float64")
    distance = np.abs(numbers[:, None] - numbers[None, :])
    cost = distance**2 if quadratic else (distance > 0).astype("float64")
    expected = np.outer(whole.sum(axis=1), whole.sum(axis=0)) / whole.sum() ** 2
    drawn = _resampled(tables)

    def estimate(statistic: Any, note: str | None = None) -> Estimate:
        return _estimate(float(statistic(whole[None])[0]), statistic(drawn), len(pairs), len(tables), note)

    kappa = kappa_of(whole[None], cost)[0]
    undefined = "the scores of both are all one and the same: kappa is not defined" if np.isnan(kappa) else None
    return Agreement(
        n=len(pairs),
        kappa=estimate(lambda counts: kappa_of(counts, cost), undefined),
        within_one=_share(whole, distance <= 1, len(tables)),
        chance_within_one=float((expected * (distance <= 1)).sum()),
        exact=_share(whole, distance == 0, len(tables)),
        bias=estimate(lambda counts: _mean(counts, numbers[:, None] - numbers[None, :])),
        confusion=[[int(cell) for cell in line] for line in whole],
    )


def kappa_of(counts: "np.ndarray", cost: "np.ndarray") -> "np.ndarray":
    """Kappa of each confusion matrix (first axis); NaN where the margins leave nothing to disagree about."""
    import numpy as np

    total = counts.sum(axis=(1, 2))
    by_chance = counts.sum(axis=2)[:, :, None] * counts.sum(axis=1)[:, None, :] / total[:, None, None]
    seen, chance = (counts * cost).sum(axis=(1, 2)), (by_chance * cost).sum(axis=(1, 2))
    kappas: np.ndarray = 1 - np.divide(seen, chance, out=np.full_like(chance, np.nan), where=chance > 0)
    return kappas


def _by_cluster(pairs: Sequence[Pair], categories: Sequence[int]) -> "np.ndarray":
    """Confusion matrix of each cluster, clusters in order of appearance."""
    import numpy as np

    place = {category: index for index, category in enumerate(categories)}
    clusters = {cluster: index for index, cluster in enumerate(dict.fromkeys(pair.cluster for pair in pairs))}
    tables = np.zeros((len(clusters), len(categories), len(categories)))
    for pair in pairs:
        tables[clusters[pair.cluster], place[pair.judge], place[pair.human]] += 1
    return tables


def _resampled(tables: "np.ndarray") -> "np.ndarray":
    """Confusion matrices of the bootstrap's resamples of clusters."""
    import numpy as np

    number = len(tables)
    random, flat = np.random.default_rng(SEED), tables.reshape(number, -1)
    batch = max(1, _AT_ONCE // number)
    sizes = [min(batch, RESAMPLES - start) for start in range(0, RESAMPLES, batch)]
    weights = (random.multinomial(number, np.full(number, 1 / number), size=size) for size in sizes)
    return np.concatenate([drawn @ flat for drawn in weights]).reshape(-1, *tables.shape[1:])


def _mean(counts: "np.ndarray", value: "np.ndarray") -> "np.ndarray":
    means: np.ndarray = (counts * value).sum(axis=(1, 2)) / counts.sum(axis=(1, 2))
    return means


def _share(whole: "np.ndarray", counted: "np.ndarray", clusters: int) -> Estimate:
    """Share of the pairs in the counted cells; Wilson interval as if each cluster were one pair, so not too short."""
    share = float((whole * counted).sum() / whole.sum())
    low, high = wilson(share, clusters)
    return Estimate(value=share, low=low, high=high, n=int(whole.sum()))


def _estimate(value: float, drawn: "np.ndarray", number: int, clusters: int, note: str | None) -> Estimate:
    import numpy as np

    if np.isnan(value):
        return Estimate(n=number, note=note)
    if clusters < 2:
        return Estimate(value=value, n=number, note="one claim: no interval is known")
    known = drawn[~np.isnan(drawn)]
    low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    lost = len(drawn) - len(known)
    told = f"not defined in {lost} of {len(drawn)} resamples" if lost else None
    if low == high:
        told = "every resample gives the same: the interval says nothing"
    return Estimate(value=value, se=float(known.std(ddof=1)), low=float(low), high=float(high), n=number, note=told)
