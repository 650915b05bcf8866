"""How the settings did: one row per setting and judge.

Three properties are deliberate. A run that a judge did not score counts as unscored and touches neither the mean nor
the success rate. Repeats of one claim are not independent, so they are averaged first: the mean is over claims, and
its standard error is the sample standard deviation of the claim means over the square root of their number, unknown
with one claim. And what a script produced never shares a row, nor a rank, with what a model produced.

Success is told together and apart for claims that the evidence supports and those that it contradicts, where a run
succeeds by saying so on evidence; beside it stands what the agents said of themselves.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matproof.core.files import to_json
from matproof.tables.columns import Row
from matproof.tables.overconfidence import self_judgement
from matproof.tables.views import NO_JUDGEMENT, Group, views_by_group

__all__ = ["NO_JUDGEMENT", "Board", "leaderboard", "mean_over_claims", "total"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leaderboard and what it leaves out."""

    rows: list[Row]
    left_out: list[str]
    """Settings that lost rows for being scripted, sorted."""


def leaderboard(
    runs: Sequence[Row],
    evaluations: Sequence[Row],
    usage: Sequence[Row],
    *,
    include_scripted: bool,
    checks: Sequence[Row] = (),
    outcomes: Mapping[str, str | None] | None = None,
) -> Board:
    """The board from the rows of the tables; `outcomes` maps claims to what the evidence says of them, `supported` or
    `contradicted`."""
    groups = views_by_group(runs, evaluations, usage, checks, outcomes or {})
    rows = [_row(group, views) for group, views in groups.items()]
    shown = [row for row in rows if include_scripted or not row["scripted"]]
    left_out = {row["setting"] for row in rows if row["scripted"]} if not include_scripted else set()
    return Board(rows=_ranked(shown), left_out=sorted(left_out))


def _row(group: Group, views: Sequence[Row]) -> Row:
    kept = [view for view in views if not view["lost"]]
    scored = [view for view in kept if view["scored"]]
    runs = [view["run"] for view in kept]
    mean_score, se_score, _ = mean_over_claims(scored, "score")
    success_rate, se_success, scored_claims = mean_over_claims(scored, "success")
    known = [run["cost_usd"] for run in runs if run["cost_usd"] is not None]
    reasons = Counter((view["reason"] or "")[:120] for view in kept if not view["scored"] and group.judge is not None)
    return {
        **group._asdict(),
        "scripted": group.scripted,
        "agent": _names(view["run"]["agent"] for view in views),
        "model": _names(view["run"]["model"] for view in views),
        "runs": len(kept),
        "claims": len({run["claim"] for run in runs}),
        "scored": len(scored),
        "unscored": len(kept) - len(scored) if group.judge is not None else 0,
        "unscored_reasons": to_json(dict(sorted(reasons.items())), indent=None),
        "mean_score": mean_score,
        "se_score": se_score,
        "scored_claims": scored_claims,
        "success_rate": success_rate,
        "se_success": se_success,
        "succeeded": sum(view["success"] is True for view in scored),
        **_by_outcome(scored),
        **self_judgement(scored).row(),
        "infrastructure": len(views) - len(kept),
        "lost_attempts": sum(view["run"]["lost_attempts"] for view in views),
        "median_seconds": _median([run["seconds"] for run in runs]),
        "requests": sum(run["requests"] for run in runs),
        "input_tokens": total(run["input_tokens"] for run in runs),
        "output_tokens": total(run["output_tokens"] for run in runs),
        "cost_usd": total(run["cost_usd"] for run in runs),
        "cost_known_usd": float(sum(known)) if known else None,
        "cost_unknown_runs": len(runs) - len(known),
        "judge_cost_usd": total(view["judge_cost"] for view in kept),
    }


def _by_outcome(scored: Sequence[Row]) -> Row:
    """Success where the evidence supports the claim, and where it contradicts it: there, finding that out."""
    row: Row = {}
    for outcome in ("supported", "contradicted"):
        rate, error, claims = mean_over_claims([view for view in scored if view["outcome"] == outcome], "success")
        row |= {f"{outcome}_success": rate, f"{outcome}_se": error, f"{outcome}_claims": claims}
    return row


def mean_over_claims(views: Sequence[Row], column: str) -> tuple[float | None, float | None, int]:
    """Mean of `column`, its standard error, and the number of claims: over repeats first, then over claims.

    Each view has `run` (with `claim`) and `column` (a number, a truth value, or None, which is left out).
    """
    values: dict[str, list[float]] = {}
    for view in views:
        if view[column] is not None:
            values.setdefault(view["run"]["claim"], []).append(float(view[column]))
    if not values:
        return None, None, 0
    means = [statistics.fmean(of_claim) for of_claim in values.values()]
    error = statistics.stdev(means) / len(means) ** 0.5 if len(means) > 1 else None
    return statistics.fmean(means), error, len(means)


def total(values: Iterable[Any]) -> Any:
    """Sum, or None where there is nothing to sum or any value is unknown."""
    known = list(values)
    return sum(known) if known and None not in known else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _names(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Models before scripts, agent judges before programs, best first; equals share a rank."""

    def merit(row: Row) -> tuple[float, float]:
        score, success = row["mean_score"], row["success_rate"]
        return -1.0 if score is None else score, -1.0 if success is None else success

    def table(row: Row) -> tuple[Any, ...]:
        return row["scripted"], row["kind"] or "", row["judge"] or ""

    ordered = sorted(rows, key=lambda row: (table(row), tuple(-value for value in merit(row)), row["setting"]))
    ranked: list[Row] = []
    for row in ordered:
        better = sum(table(other) == table(row) and merit(other) > merit(row) for other in ordered)
        ranked.append({"rank": better + 1 if row["success_rate"] is not None else None, **row})
    return ranked
