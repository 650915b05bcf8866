"""What the statistics are computed from: the gathered tables of one campaign, and the row that every number becomes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from matproof.records.evaluation import DIMENSIONS
from matproof.tables.columns import Row
from matproof.tables.estimates import Estimate, claim_means
from matproof.tables.store import read_rows
from matproof.tables.views import UNKNOWN, Group, run_key, views_by_group

OUTCOME, SUCCESS = "overall", "success"
MEASURES = (OUTCOME, SUCCESS, *DIMENSIONS)
"""What settings are compared by: the overall score, success, and the five dimensions."""
GROUPINGS = ("reproduction_type", "verification", "subdomain", "outcome")


class Board(NamedTuple):
    """Settings that may be compared: one judge, and all live or all alike scripted."""

    judge: str | None
    kind: str | None
    scripted: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """Views by group, lost runs left out; claims by name; failure labels by run and judge."""

    groups: dict[Group, list[Row]]
    claims: dict[str, Row]
    labels: dict[tuple[str, str, int, str], list[str]]

    def boards(self) -> dict[Board, dict[str, list[Row]]]:
        """Board → setting → views, settings by name. Without any judge there is no board."""
        found: dict[Board, dict[str, list[Row]]] = {}
        for group in sorted(self.groups, key=lambda group: (group.scripted, str(group.kind), str(group.judge), group)):
            if group.judge is not None:
                board = found.setdefault(Board(group.judge, group.kind, group.scripted), {})
                board.setdefault(group.setting, []).extend(self.groups[group])
        return found

    def category(self, claim: str, grouping: str) -> str:
        """The claim's category, or `unknown`."""
        return str(self.claims.get(claim, {}).get(grouping) or UNKNOWN)


def observed(results: Path, *, include_scripted: bool) -> Observed:
    """The campaign as `gather` left it. Raises InputError where it has not run."""
    return observed_in(
        {name: read_rows(results, name) for name in ("runs", "evaluations", "usage", "checks", "claims", "failures")},
        include_scripted=include_scripted,
    )


def observed_in(tables: Mapping[str, Sequence[Row]], *, include_scripted: bool) -> Observed:
    """The same from rows of the tables."""
    claims = {row["claim"]: row for row in tables["claims"]}
    outcomes = {name: row.get("outcome") for name, row in claims.items()}
    groups = views_by_group(tables["runs"], tables["evaluations"], tables["usage"], tables["checks"], outcomes)
    labels: dict[tuple[str, str, int, str], list[str]] = {}
    for row in tables["failures"]:
        labels.setdefault((*run_key(row), row["judge"]), []).append(row["label"])
    kept = {group: [view for view in views if not view["lost"]] for group, views in groups.items()}
    return Observed(
        groups={group: views for group, views in kept.items() if views and (include_scripted or not group.scripted)},
        claims=claims,
        labels=labels,
    )


def measured(view: Row, measure: str) -> float | None:
    """One of `MEASURES` of a view; None where it has none."""
    if not view["scored"]:
        return None
    value: Any = view["dimensions"].get(measure) if measure in DIMENSIONS else view.get(_COLUMN[measure])
    return None if value is None else float(value)


_COLUMN = {OUTCOME: "score", SUCCESS: "success"}


def means_of(views: Iterable[Row], measure: str) -> dict[str, float]:
    """Claim → mean of the measure over its scored repeats."""
    return claim_means((view["run"]["claim"], measured(view, measure)) for view in views)


def unscored_in(views: Iterable[Row]) -> int:
    """How many of the views have no score."""
    return sum(not view["scored"] for view in views)


def number_row(
    board: Board, analysis: str, name: str, estimate: Estimate, *, unit: str, unscored: int, method: str, **more: Any
) -> Row:
    """A row of the table `statistics`. `more` has setting, other, group_by, group, p_value, p_adjusted and note."""
    note = "; ".join(text for text in (estimate.note, more.pop("note", None)) if text) or None
    return {
        **board._asdict(),
        **dict.fromkeys(("setting", "other", "group_by", "group", "p_value", "p_adjusted")),
        "analysis": analysis,
        "name": name,
        "value": estimate.value,
        "se": estimate.se,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "unit": unit,
        "unscored": unscored,
        "method": method,
        "note": note,
        **more,
    }
