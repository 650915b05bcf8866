"""How high the settings score, how often they succeed, and how the scores spread: over all claims and by category."""

from collections.abc import Iterator, Sequence

from matproof.tables.columns import Row
from matproof.tables.estimates import Estimate, mean_estimate, share_estimate
from matproof.tables.observed import (
    GROUPINGS,
    OUTCOME,
    SUCCESS,
    Board,
    Observed,
    means_of,
    measured,
    number_row,
    unscored_in,
)

MEAN_METHOD = "mean over claims of means over repeats; SE s/√n over claims; t interval, n - 1 degrees of freedom"
RATE_METHOD = "mean over claims of shares over repeats; SE s/√n over claims; Wilson interval over claims"
SPREAD_METHOD = "share of scored runs"
CELL = ("reproduction_type", "verification")


def score_rows(campaign: Observed) -> list[Row]:
    """Mean score, success rate and distribution of every setting, together and by each grouping and by the cells of
    reproduction type × verification."""
    rows: list[Row] = []
    for board, settings in campaign.boards().items():
        for setting, views in settings.items():
            for grouping, group, part in _parts(campaign, views):
                where = {"setting": setting, "group_by": grouping, "group": group}
                rows += [row | where for row in _numbers(board, part)]
    return rows


def _parts(campaign: Observed, views: Sequence[Row]) -> Iterator[tuple[str | None, str | None, list[Row]]]:
    """(grouping, group, its views), everything first."""
    yield None, None, list(views)
    for grouping in (*GROUPINGS, CELL):
        fields = (grouping,) if isinstance(grouping, str) else grouping
        parts: dict[str, list[Row]] = {}
        for view in views:
            name = " × ".join(campaign.category(view["run"]["claim"], field) for field in fields)
            parts.setdefault(name, []).append(view)
        for name in sorted(parts):
            yield " × ".join(fields), name, parts[name]


def _numbers(board: Board, views: Sequence[Row]) -> list[Row]:
    unscored = unscored_in(views)

    def row(name: str, estimate: Estimate, unit: str, method: str) -> Row:
        return number_row(board, "score", name, estimate, unit=unit, unscored=unscored, method=method)

    rows = [row("success_rate", share_estimate(_values(views, SUCCESS)), "claims", RATE_METHOD)]
    if board.kind == "checks":
        return rows
    rows.append(row("mean_score", mean_estimate(_values(views, OUTCOME)), "claims", MEAN_METHOD))
    scores = [score for view in views if (score := measured(view, OUTCOME)) is not None]
    for level in range(1, 6):
        count = scores.count(level)
        share = Estimate(value=count / len(scores) if scores else None, n=len(scores), note=f"{count} runs")
        rows.append(row(f"score_{level}", share, "runs", SPREAD_METHOD))
    return rows


def _values(views: Sequence[Row], measure: str) -> list[float]:
    return list(means_of(views, measure).values())
