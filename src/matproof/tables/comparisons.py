"""Two settings on the same claims: wins, ties and losses, mean difference, signed-rank tests, what n could have found.

Pairs are claims that both settings have a score on, repeats averaged. The one-sided test asks whether the first
setting scores higher; both orders of every pair are rows, since which one to read must be settled before the numbers
are seen, not by them. Holm's adjustment is over the five dimensions of one pair in one order, as the paper reports
them; the overall score and success have tests of their own, unadjusted.
"""

from collections.abc import Sequence
from itertools import permutations

from matproof.records.evaluation import DIMENSIONS
from matproof.tables.columns import Row
from matproof.tables.estimates import (
    ALPHA,
    EXACT,
    POWER,
    Estimate,
    count_estimate,
    detectable_difference,
    holm,
    mean_estimate,
    paired_differences,
    signed_rank,
    standard_deviation,
)
from matproof.tables.observed import MEASURES, Board, Observed, means_of, number_row, unscored_in

_SAME = 1e-9
PAIRED = "claims with a score of both settings, repeats averaged"
COUNT_METHOD = f"share of {PAIRED}; Wilson interval"
DIFFERENCE_METHOD = f"mean difference over {PAIRED}; SE s/√n; t interval"
TEST_METHOD = (
    f"one-sided Wilcoxon signed-rank test that the first is higher, on {PAIRED}; pairs that tie dropped; exact "
    f"to {EXACT} pairs, else normal approximation; value: matched-pairs rank-biserial correlation; dimensions "
    "Holm-adjusted as one family"
)
POWER_METHOD = (
    f"smallest mean difference that a two-sided paired t-test at {ALPHA:.0%} finds with power {POWER:.0%}, "
    "from n and the standard deviation of the differences"
)


def comparison_rows(campaign: Observed, only: tuple[str, str] | None = None) -> list[Row]:
    """Every two settings of a judge in both orders; `only` the two that it names, in that order."""
    rows: list[Row] = []
    for board, settings in campaign.boards().items():
        means = {name: {measure: means_of(views, measure) for measure in MEASURES} for name, views in settings.items()}
        for first, second in permutations(settings, 2):
            if only is None or only == (first, second):
                unscored = unscored_in(settings[first]) + unscored_in(settings[second])
                differences = {
                    measure: paired_differences(means[first][measure], means[second][measure]) for measure in MEASURES
                }
                pair = {"setting": first, "other": second, "group_by": "dimension"}
                rows += [row | pair for row in _pair(board, differences, unscored)]
    return rows


def _pair(board: Board, differences: dict[str, list[float]], unscored: int) -> list[Row]:
    known = {measure: values for measure, values in differences.items() if values}
    if not known:
        nothing = Estimate(note="no claim has a score of both")
        return [number_row(board, "comparison", "difference", nothing, unit="pairs", unscored=unscored, method=PAIRED)]
    tests = {measure: signed_rank(values) for measure, values in known.items()}
    family = [measure for measure in DIMENSIONS if measure in known]
    adjusted: dict[str, float | None] = dict(
        zip(family, holm([tests[measure].p_value for measure in family]), strict=True)
    )
    rows = []
    for measure, values in known.items():
        rows += _wins(board, measure, values, unscored)
        test = tests[measure]
        rows.append(_row(board, measure, "difference", mean_estimate(values), unscored, DIFFERENCE_METHOD))
        effect = Estimate(value=test.rank_biserial, n=test.n, note=test.note)
        p_values = {"p_value": test.p_value, "p_adjusted": adjusted.get(measure)}
        rows.append(_row(board, measure, "signed_rank", effect, unscored, TEST_METHOD) | p_values)
        rows.append(_row(board, measure, "detectable", _detectable(values), unscored, POWER_METHOD))
    return rows


def _wins(board: Board, measure: str, values: Sequence[float], unscored: int) -> list[Row]:
    counts = {
        "win": sum(value > _SAME for value in values),
        "tie": sum(abs(value) <= _SAME for value in values),
        "loss": sum(value < -_SAME for value in values),
    }
    return [
        _row(board, measure, name, count_estimate(count, len(values)), unscored, COUNT_METHOD) | {"note": f"{count}"}
        for name, count in counts.items()
    ]


def _detectable(values: Sequence[float]) -> Estimate:
    deviation = standard_deviation(values)
    found = None if deviation is None else detectable_difference(deviation, len(values))
    why = None if found is not None else "fewer than two pairs, or differences without spread"
    return Estimate(value=found, n=len(values), note=why)


def _row(board: Board, measure: str, name: str, estimate: Estimate, unscored: int, method: str) -> Row:
    return number_row(
        board, "comparison", name, estimate, unit="pairs", unscored=unscored, method=method, group=measure
    )
