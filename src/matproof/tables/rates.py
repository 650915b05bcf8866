"""Failure labels, what a success costs, and the chance of success in k tries."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from matproof.records.evaluation import FailureLabel
from matproof.tables.columns import Row
from matproof.tables.estimates import Estimate, count_estimate, pass_at_k, share_estimate
from matproof.tables.observed import SUCCESS, Board, Observed, measured, number_row, unscored_in
from matproof.tables.views import run_key

LABELS: tuple[str, ...] = get_args(FailureLabel)
LABEL_METHOD = "share of scored runs with the label, several a run; Wilson interval over runs, repeats not told apart"
COST_METHOD = "sum over all runs with a result, scored or not, judges apart, by the successes among the scored"
CHANCE_METHOD = (
    "mean over claims with at least k scored repeats of 1 - C(n-c, k) / C(n, k); SE s/√n over claims; Wilson interval"
)


def failure_rows(campaign: Observed) -> list[Row]:
    """Count and share of each failure label, by setting: the cells of the heatmap. Programs give no labels."""
    rows = []
    for board, settings in campaign.boards().items():
        for setting, views in settings.items() if board.kind == "agent" else ():
            scored = [view for view in views if view["scored"]]
            counts = Counter(
                label
                for view in scored
                for label in set(campaign.labels.get((*run_key(view["run"]), board.judge or ""), ()))
            )
            for label in (*LABELS, *sorted(set(counts) - set(LABELS))):
                estimate = count_estimate(counts[label], len(scored))
                row = _row(board, "failures", label, estimate, "runs", views, LABEL_METHOD)
                rows.append(row | {"setting": setting, "note": f"{counts[label]} runs"})
    return rows


def cost_rows(campaign: Observed) -> list[Row]:
    """Dollars and seconds per success, by setting."""
    rows = []
    for board, settings in campaign.boards().items():
        for setting, views in settings.items():
            successes = sum(measured(view, SUCCESS) == 1 for view in views)
            costs = [view["run"]["cost_usd"] for view in views]
            unknown = costs.count(None)
            why = f"the cost of {unknown} of {len(costs)} runs is unknown" if unknown else None
            total = None if unknown else float(sum(costs))
            seconds = float(sum(view["run"]["seconds"] for view in views))
            for name, whole, reason in (
                ("usd_per_success", total, why),
                ("seconds_per_success", seconds, None),
            ):
                estimate = _per_success(whole, successes, len(views), reason)
                rows.append(_row(board, "cost", name, estimate, "runs", views, COST_METHOD) | {"setting": setting})
    return rows


def _per_success(whole: float | None, successes: int, number: int, reason: str | None) -> Estimate:
    if reason is None and not successes:
        reason = "no run succeeded"
    if whole is None or not successes:
        return Estimate(n=number, note=reason)
    return Estimate(value=whole / successes, n=number, note=f"{successes} successes")


def pass_rows(campaign: Observed) -> list[Row]:
    """pass@k for every k up to the most scored repeats of a claim, by setting."""
    rows = []
    for board, settings in campaign.boards().items():
        for setting, views in settings.items():
            tries: dict[str, list[float]] = {}
            for view in views:
                if (success := measured(view, SUCCESS)) is not None:
                    tries.setdefault(view["run"]["claim"], []).append(success)
            for k in range(1, max(map(len, tries.values()), default=0) + 1):
                chances = [pass_at_k(int(sum(found)), len(found), k) for found in tries.values()]
                known = [chance for chance in chances if chance is not None]
                fewer = len(chances) - len(known)
                row = _row(board, "pass_at_k", f"pass@{k}", share_estimate(known), "claims", views, CHANCE_METHOD)
                note = f"{fewer} claims with fewer than {k} scored repeats left out" if fewer else row["note"]
                rows.append(row | {"setting": setting, "note": note})
    return rows


def _row(
    board: Board, analysis: str, name: str, estimate: Estimate, unit: str, views: Sequence[Row], method: str
) -> Row:
    return number_row(board, analysis, name, estimate, unit=unit, unscored=unscored_in(views), method=method)
