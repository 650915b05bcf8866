"""Ranks of settings, and which of them can't be told apart: a bootstrap over claims.

Claims are resampled whole, with all their repeats and for all settings at once, so that a claim that is hard for
everybody is hard in every draw. Ranks are on the claims that all settings of the board have scores on; a difference of
two settings is on the claims that those two share. Fewer than six shared claims tell no two settings apart, whatever
the draws say: no paired test of so few can reach 5 %.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matproof.tables.columns import Row
from matproof.tables.estimates import ALPHA, CONFIDENCE, Estimate, holm, indistinct_groups, pairs_of
from matproof.tables.observed import OUTCOME, SUCCESS, Board, Observed, means_of, number_row, unscored_in

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 10_000
SEED = 20_260_101
FEWEST = 6
_AT_ONCE = 2_000_000
"""Weights held in memory at a time."""
_SAME = 1e-9
_TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)

RANK_METHOD = (
    f"rank of the mean over claims that every setting has a score on; interval: percentile bootstrap over claims, "
    f"{RESAMPLES:,} resamples, seed {SEED}"
)
GAP_METHOD = (
    f"mean difference over shared claims; percentile bootstrap over claims, {RESAMPLES:,} resamples, seed {SEED}; "
    f"two-sided bootstrap p, Holm-adjusted over all pairs; told apart below {ALPHA:.0%} with at least {FEWEST} claims"
)
GROUP_METHOD = "largest sets of settings no two of which are told apart"


def rank_rows(campaign: Observed) -> list[Row]:
    """Ranks with intervals, differences of all pairs, and the groups that can't be told apart."""
    rows: list[Row] = []
    for board, settings in campaign.boards().items():
        measure = SUCCESS if board.kind == "checks" else OUTCOME
        means = {name: found for name, views in settings.items() if (found := means_of(views, measure))}
        unscored = {name: unscored_in(views) for name, views in settings.items()}
        if len(means) > 1:
            rows += _board_rows(board, measure, means, unscored)
    return rows


def _board_rows(
    board: Board, measure: str, means: Mapping[str, Mapping[str, float]], unscored: Mapping[str, int]
) -> list[Row]:
    names = sorted(means, key=lambda name: (-sum(means[name].values()) / len(means[name]), name))
    pairs = pairs_of(names)
    places, gaps = _bootstrap(names, pairs, means)
    adjusted = holm([p_value for _, p_value in gaps])
    everyone = sum(unscored[name] for name in names)
    rows, apart = [], []

    def row(name: str, estimate: Estimate, unit: str, missing: int, method: str, **more: Any) -> None:
        made = number_row(board, "ranks", name, estimate, unit=unit, unscored=missing, method=method, **more)
        rows.append(made | {"group_by": "dimension", "group": measure})

    for name, place in zip(names, places, strict=True):
        row("rank", place, "claims", everyone, RANK_METHOD, setting=name)
    for (one, other), (estimate, p_value), corrected in zip(pairs, gaps, adjusted, strict=True):
        told = corrected is not None and corrected < ALPHA and estimate.n >= FEWEST
        apart += [(one, other)] if told else []
        missing = unscored[one] + unscored[other]
        tests = {"p_value": p_value, "p_adjusted": corrected, "note": "told apart" if told else "not told apart"}
        row("difference", estimate, "claims", missing, GAP_METHOD, setting=one, other=other, **tests)
    for number, group in enumerate(indistinct_groups(names, apart), start=1):
        for name in group:
            others = ", ".join(other for other in group if other != name)
            note = f"not distinguishable from {others}" if others else "told apart from all others"
            estimate = Estimate(value=float(number), n=len(group))
            row("group", estimate, "settings", everyone, GROUP_METHOD, setting=name, note=note)
    return rows


def _bootstrap(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], means: Mapping[str, Mapping[str, float]]
) -> tuple[list[Estimate], list[tuple[Estimate, float | None]]]:
    """Ranks of `names`, and of each pair the mean difference with its p-value: all from the same draws of claims."""
    import numpy as np

    claims = sorted(set().union(*means.values()))
    table = np.array([[means[name].get(claim, np.nan) for name in names] for claim in claims])
    everybody = ~np.isnan(table).any(axis=1)
    place = {name: index for index, name in enumerate(names)}
    differences = np.stack([table[:, place[one]] - table[:, place[other]] for one, other in pairs], axis=1)
    columns = np.column_stack([np.where(everybody[:, None], table, np.nan), differences])
    known = ~np.isnan(columns)
    drawn = [_means(weights, columns, known) for weights in _weights(len(claims))]
    whole, draws = _means(np.ones((1, len(claims))), columns, known)[0], np.concatenate(drawn)
    number = len(names)
    ranks = _rank_estimates(whole[:number], draws[:, :number], int(everybody.sum()))
    gaps = [
        _gap_estimate(float(whole[index]), draws[:, index], int(known[:, index].sum()))
        for index in range(number, columns.shape[1])
    ]
    return ranks, gaps


def _means(weights: "np.ndarray", columns: "np.ndarray", known: "np.ndarray") -> "np.ndarray":
    """Weighted mean of each column over its known cells, by row of `weights`; NaN where no such cell was drawn."""
    import numpy as np

    counts = weights @ known
    found: np.ndarray = np.divide(
        weights @ np.where(known, columns, 0.0), counts, out=np.full(counts.shape, np.nan), where=counts > 0
    )
    return found


def _rank_estimates(means: "np.ndarray", draws: "np.ndarray", shared: int) -> list[Estimate]:
    """Each setting's rank with its interval; equals share the better rank."""
    import numpy as np

    if not shared:
        return [Estimate(note="no claim has scores of all settings") for _ in means]
    places = _places(means[None, :])[0]
    if shared < 2:
        return [Estimate(value=float(one), n=1, note="one shared claim: no interval is known") for one in places]
    drawn = _places(draws[~np.isnan(draws).any(axis=1)])
    low, high = np.quantile(drawn, _TAILS, axis=0, method="inverted_cdf")
    return [
        Estimate(value=float(one), low=float(low[index]), high=float(high[index]), n=shared)
        for index, one in enumerate(places)
    ]


def _places(means: "np.ndarray") -> "np.ndarray":
    """Ranks along the last axis, the largest first."""
    places: np.ndarray = 1 + (means[:, None, :] > means[:, :, None] + _SAME).sum(axis=2)
    return places


def _gap_estimate(value: float, draws: "np.ndarray", shared: int) -> tuple[Estimate, float | None]:
    """Mean difference with its interval, and the two-sided p-value."""
    import numpy as np

    if not shared:
        return Estimate(note="no claim has a score of both"), None
    if shared < 2:
        return Estimate(value=value, n=1, note="one shared claim: no interval is known"), None
    drawn = draws[~np.isnan(draws)]
    low, high = np.quantile(drawn, _TAILS)
    below, above = int((drawn <= _SAME).sum()), int((drawn >= -_SAME).sum())
    p_value = min(1.0, 2 * (min(below, above) + 1) / (len(drawn) + 1))
    error = float(drawn.std(ddof=1))
    return Estimate(value=value, se=error, low=float(low), high=float(high), n=shared), p_value


def _weights(number: int) -> Iterator["np.ndarray"]:
    """How often each of `number` claims was drawn in every resample, in batches."""
    import numpy as np

    random, batch = np.random.default_rng(SEED), max(1, _AT_ONCE // number)
    for start in range(0, RESAMPLES, batch):
        size = min(batch, RESAMPLES - start)
        yield random.multinomial(number, np.full(number, 1 / number), size=size).astype("float64")
