"""One run as one judge sees it: what the leaderboard and every statistic count.

There is one such reading, so that no two numbers disagree about which runs are scored. A run lost to node, sandbox,
provider or budget is `lost` and in no number. A run that the judge did not score is unscored, with its reason: in no
mean and no rate, and counted. What a script produced is a group of its own, never joined with what a model produced.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matproof.records.run import LOST
from matproof.tables.columns import Row

NO_JUDGEMENT = "no judgement"
UNKNOWN = "unknown"


class Group(NamedTuple):
    """Runs that one row of the leaderboard is about."""

    setting: str
    judge: str | None
    """None: no judge has judged any run."""
    kind: str | None
    """`agent` or `checks`."""
    run_scripted: bool
    judge_scripted: bool

    @property
    def scripted(self) -> bool:
        """Whether a script answered in place of the agent's or the judge's model."""
        return self.run_scripted or self.judge_scripted


def views_by_group(
    runs: Sequence[Row],
    evaluations: Sequence[Row],
    usage: Sequence[Row],
    checks: Sequence[Row],
    outcomes: Mapping[str, str | None],
) -> dict[Group, list[Row]]:
    """Group → its views, in the order of `runs`.

    `outcomes` maps claims to `supported` or `contradicted`. A view has `run` (the row of `runs`), `lost`, `scored`,
    `reason`, `score`, `success`, `outcome`, `judge_scripted`, `judge_cost`, `dimensions` (name → score) and `found`
    (what a program found the run's numbers to establish; None for a judge that is no program).
    """
    overall = [row for row in evaluations if row["dimension"] == "overall"]
    kinds = {row["judge"]: row["kind"] for row in overall}
    judges: list[str | None] = [*sorted(kinds)] or [None]
    by_script = _scripted_judges(overall)
    given = {(*run_key(row), row["judge"]): row for row in overall}
    dimensions = _dimensions(evaluations)
    spent = {(*run_key(row), row["judge"]): row["cost_usd"] for row in usage if row["source"] == "judge"}
    found = {(*run_key(row), row["judge"]): row["found"] for row in checks}
    groups: dict[Group, list[Row]] = {}
    for run in runs:
        for judge in judges:
            key = (*run_key(run), judge)
            usually = by_script.get((run["setting"], judge), by_script.get((None, judge), False))
            view = _view(run, given.get(key), usually)
            view["judge_cost"] = spent.get(key, 0.0)
            view["dimensions"] = dimensions.get(key, {}) if view["scored"] else {}
            view["found"] = found.get(key) if view["scored"] else None
            view["outcome"] = outcomes.get(run["claim"]) or UNKNOWN
            group = Group(run["setting"], judge, kinds.get(judge), run["scripted"], view["judge_scripted"])
            groups.setdefault(group, []).append(view)
    return groups


def run_key(row: Row) -> tuple[str, str, int]:
    """What names a run."""
    return row["claim"], row["setting"], row["repeat"]


def _dimensions(evaluations: Iterable[Row]) -> dict[tuple[str, str, int, str | None], dict[str, int]]:
    found: dict[tuple[str, str, int, str | None], dict[str, int]] = {}
    for row in evaluations:
        if row["dimension"] != "overall" and row["score"] is not None:
            found.setdefault((*run_key(row), row["judge"]), {})[row["dimension"]] = row["score"]
    return found


def _scripted_judges(overall: Iterable[Row]) -> dict[tuple[str | None, str | None], bool]:
    """Whether a script answered in all evaluations of a judge: by setting, and (under None) in the whole campaign.

    It says in which group a run without a judgement belongs.
    """
    found: dict[tuple[str | None, str | None], bool] = {}
    for row in overall:
        for group in ((row["setting"], row["judge"]), (None, row["judge"])):
            found[group] = found.get(group, True) and row["scripted"]
    return found


def _view(run: Row, given: Row | None, usually_scripted: bool) -> Row:
    lost = run["outcome"] in LOST
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
