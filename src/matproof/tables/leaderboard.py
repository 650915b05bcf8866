"""How the settings did: one row per setting and judge.

Three properties are deliberate. A run that a judge did not score counts as unscored and touches neither the mean nor
the success rate. Repeats of one claim are not independent, so they are averaged first: the mean is over claims, and
its standard error is the sample standard deviation of the claim means over the square root of their number, unknown
with one claim. And what a script produced never shares a row, nor a rank, with what a model produced.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matproof.core.files import to_json
from matproof.tables.columns import Row

NO_JUDGEMENT = "no judgement"
_NO_JUDGE: Row = {"judge": None, "kind": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leaderboard and what it leaves out."""

    rows: list[Row]
    left_out: list[str]
    """Settings that lost rows for being scripted, sorted."""


def leaderboard(
    runs: Sequence[Row], evaluations: Sequence[Row], usage: Sequence[Row], *, include_scripted: bool
) -> Board:
    """The board from the rows of `runs`, `evaluations` and `usage`."""
    overall = [row for row in evaluations if row["dimension"] == "overall"]
    judges = _judges(overall) or [_NO_JUDGE]
    by_script = _scripted_judges(overall)
    given = {(*_key(row), row["judge"]): row for row in overall}
    spent = {(*_key(row), row["judge"]): row["cost_usd"] for row in usage if row["source"] == "judge"}
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for run in runs:
        for judge in judges:
            expected = by_script.get((run["setting"], judge["judge"]), by_script.get((None, judge["judge"]), False))
            view = _view(run, given.get((*_key(run), judge["judge"])), expected)
            view["judge_cost"] = spent.get((*_key(run), judge["judge"]), 0.0)
            group = (run["setting"], judge["judge"], judge["kind"], run["scripted"], view["judge_scripted"])
            groups.setdefault(group, []).append(view)
    rows = [_row(group, views) for group, views in groups.items()]
    shown = [row for row in rows if include_scripted or not row["scripted"]]
    left_out = {row["setting"] for row in rows if row["scripted"]} if not include_scripted else set()
    return Board(rows=_ranked(shown), left_out=sorted(left_out))


def _judges(overall: Iterable[Row]) -> list[Row]:
    """Each judge with its kind."""
    kinds = {row["judge"]: row["kind"] for row in overall}
    return [{"judge": name, "kind": kinds[name]} for name in sorted(kinds)]


def _scripted_judges(overall: Iterable[Row]) -> dict[tuple[str | None, str], bool]:
    """Whether a script answered in all evaluations of a judge: by setting, and (under None) in the whole campaign.

    It says in which row a run without a judgement belongs.
    """
    found: dict[tuple[str | None, str], bool] = {}
    for row in overall:
        for group in ((row["setting"], row["judge"]), (None, row["judge"])):
            found[group] = found.get(group, True) and row["scripted"]
    return found


def _view(run: Row, given: Row | None, usually_scripted: bool) -> Row:
    """One run as one judge sees it."""
    lost = run["outcome"] == "infrastructure"
    given = None if lost else given
    scored = given is not None and given["status"] == "scored"
    reason = None if lost or scored else given["reason"] if given is not None else NO_JUDGEMENT
    return {
        "run": run,
        "lost": lost,
        "scored": scored,
        "reason": reason,
        "score": given["score"] if given is not None else None,
        "success": given["success"] if given is not None else None,
        "judge_scripted": given["scripted"] if given is not None else usually_scripted,
    }


def _row(group: tuple[Any, ...], views: Sequence[Row]) -> Row:
    setting, judge, kind, run_scripted, judge_scripted = group
    kept = [view for view in views if not view["lost"]]
    scored = [view for view in kept if view["scored"]]
    runs = [view["run"] for view in kept]
    mean_score, se_score, _ = mean_over_claims(scored, "score")
    success_rate, se_success, scored_claims = mean_over_claims(scored, "success")
    known = [run["cost_usd"] for run in runs if run["cost_usd"] is not None]
    reasons = Counter((view["reason"] or "")[:120] for view in kept if not view["scored"] and judge is not None)
    return {
        "setting": setting,
        "judge": judge,
        "kind": kind,
        "scripted": run_scripted or judge_scripted,
        "run_scripted": run_scripted,
        "judge_scripted": judge_scripted,
        "agent": _names(view["run"]["agent"] for view in views),
        "model": _names(view["run"]["model"] for view in views),
        "runs": len(kept),
        "claims": len({run["claim"] for run in runs}),
        "scored": len(scored),
        "unscored": len(kept) - len(scored) if judge is not None else 0,
        "unscored_reasons": to_json(dict(sorted(reasons.items())), indent=None),
        "mean_score": mean_score,
        "se_score": se_score,
        "scored_claims": scored_claims,
        "success_rate": success_rate,
        "se_success": se_success,
        "succeeded": sum(view["success"] is True for view in scored),
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


def mean_over_claims(views: Sequence[Row], column: str) -> tuple[float | None, float | None, int]:
    """Mean of `column`, its standard error, and the number of claims: over repeats first, then over claims.

    Each view has `run` (with `claim`) and `column` (a number, a truth value, or None, which is left out).
    """
    import pandas as pd

    pairs = [(view["run"]["claim"], float(view[column])) for view in views if view[column] is not None]
    if not pairs:
        return None, None, 0
    frame = pd.DataFrame(pairs, columns=["claim", "value"])
    means = frame.groupby("claim")["value"].mean().to_numpy(dtype="float64")
    error = float(means.std(ddof=1) / len(means) ** 0.5) if len(means) > 1 else None
    return float(means.mean()), error, len(means)


def total(values: Iterable[Any]) -> Any:
    """Sum, or None where there is nothing to sum or any value is unknown."""
    known = list(values)
    return sum(known) if known and None not in known else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _names(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _key(row: Row) -> tuple[str, str, int]:
    return row["claim"], row["setting"], row["repeat"]


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
