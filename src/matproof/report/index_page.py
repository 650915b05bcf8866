"""The first page: how the settings did, how the scores spread, and every run."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from matproof.report import figures
from matproof.report.pages import render
from matproof.tables.board_text import empty_reason
from matproof.tables.columns import Row
from matproof.tables.gather import board_counts
from matproof.tables.leaderboard import total
from matproof.tables.store import read_rows

SCORE_WIDTH, SCORE_MARGIN = 220.0, 10.0
"""Picture of a mean score."""
BAR_WIDTH = 100.0
"""Picture of a distribution, in per cent."""
_STYLES = ("s1", "s2", "s3", "s4", "s5", "no", "yes", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """A row of the leaderboard with its picture."""

    row: Row
    whisker: figures.Whisker | None
    unscored: str
    """Why runs are unscored, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The rows of one judge."""

    judge: str | None
    kind: str | None
    scripted: bool
    rows: list[BoardRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How one setting's runs spread under one judge."""

    setting: str
    kind: str
    scripted: bool
    total: int
    segments: list[figures.Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one judge said of one run, in one cell."""

    text: str
    style: str
    """Class of the chip: `s1` to `s5`, `yes`, `no` or `none`."""
    order: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the table of runs."""

    run: Row
    claim: Row
    href: str | None
    verdicts: list[Verdict | None]
    scripted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexView:
    """What the template shows."""

    boards: list[Board]
    empty: str | None
    left_out: list[str]
    counts: dict[str, int]
    distributions: list[tuple[str, list[Distribution]]]
    """By judge."""
    judges: list[str]
    runs: list[RunRow]
    problems: list[Row]
    unscored: int
    spent: float | None
    spent_known: float | None
    scripted_runs: int
    latest: str | None


def index_page(results: Path, hrefs: dict[tuple[str, str, int], str], more_problems: Sequence[Row]) -> str:
    """HTML of the first page. `hrefs` has the runs that have a page."""
    runs, overall = read_rows(results, "runs"), _overall(results)
    claims = {row["claim"]: row for row in read_rows(results, "claims")}
    counts, left_out = board_counts(results)
    rows = read_rows(results, "leaderboard")
    judges = sorted({row["judge"] for row in overall})
    given = {(*_key(row), row["judge"]): row for row in overall}
    costs = [row["cost_usd"] for row in read_rows(results, "usage") if not row["scripted"]]
    known = [cost for cost in costs if cost is not None]
    run_rows = [_run_row(run, claims, judges, given, hrefs) for run in runs]
    shown = [verdict for row in run_rows for verdict in row.verdicts if verdict is not None]
    view = IndexView(
        boards=_boards(rows),
        empty=None if rows else empty_reason(left_out, counts),
        left_out=left_out,
        counts=counts,
        distributions=_distributions(runs, {row["judge"]: row["kind"] for row in overall}, given),
        judges=judges,
        runs=run_rows,
        problems=[*read_rows(results, "problems"), *more_problems],
        unscored=sum(verdict.style == "none" for verdict in shown),
        spent=0.0 if not costs else total(costs),
        spent_known=sum(known) if known else None,
        scripted_runs=sum(row.scripted for row in run_rows),
        latest=max((run["ended"] for run in runs), default=None),
    )
    return render("index.html", view=view, root="index.html", score_width=SCORE_WIDTH, margin=SCORE_MARGIN)


def judges_of(results: Path) -> list[str]:
    """Names of all judges, sorted."""
    return sorted({row["judge"] for row in _overall(results)})


def _overall(results: Path) -> list[Row]:
    return [row for row in read_rows(results, "evaluations") if row["dimension"] == "overall"]


def _key(row: Row) -> tuple[str, str, int]:
    return row["claim"], row["setting"], row["repeat"]


def _boards(rows: Sequence[Row]) -> list[Board]:
    groups: dict[tuple[bool, str | None, str | None], list[BoardRow]] = {}
    for row in rows:
        reasons = json.loads(row["unscored_reasons"])
        view = BoardRow(
            row=row,
            whisker=figures.whisker(row["mean_score"], row["se_score"], SCORE_WIDTH, SCORE_MARGIN),
            unscored="; ".join(f"{number} × {reason}" for reason, number in reasons.items()),
        )
        groups.setdefault((row["scripted"], row["kind"], row["judge"]), []).append(view)
    return [
        Board(judge=judge, kind=kind, scripted=scripted, rows=found)
        for (scripted, kind, judge), found in groups.items()
    ]


def _distributions(
    runs: Sequence[Row], kinds: dict[str, str], given: dict[tuple[str, str, int, str], Row]
) -> list[tuple[str, list[Distribution]]]:
    """Per judge, agents first, one bar per setting; runs lost to infrastructure apart."""
    judged = [run for run in runs if run["outcome"] != "infrastructure"]
    judges = sorted(kinds, key=lambda judge: (kinds[judge], judge))
    return [(judge, _bars(judged, judge, kinds[judge], given)) for judge in judges if judged]


def _bars(
    runs: Sequence[Row], judge: str, kind: str, given: dict[tuple[str, str, int, str], Row]
) -> list[Distribution]:
    groups: dict[tuple[bool, str], Counter[str]] = {}
    for run in runs:
        row = given.get((*_key(run), judge))
        scripted = run["scripted"] or bool(row and row["scripted"])
        groups.setdefault((scripted, run["setting"]), Counter())[_verdict(row).style] += 1
    return [
        Distribution(
            setting=setting,
            kind=kind,
            scripted=scripted,
            total=counts.total(),
            segments=figures.stack([(style, counts[style]) for style in _STYLES], BAR_WIDTH),
        )
        for (scripted, setting), counts in sorted(groups.items())
    ]


def _verdict(row: Row | None) -> Verdict:
    if row is None:
        return Verdict(text="unscored", style="none", order=-1, title="no judgement")
    if row["status"] == "unscored":
        return Verdict(text="unscored", style="none", order=-1, title=row["reason"] or "")
    if row["score"] is not None:
        grade = (row["grade"] or "").replace("_", " ")
        return Verdict(text=str(row["score"]), style=f"s{row['score']}", order=row["score"], title=grade)
    if row["success"]:
        return Verdict(text="correct", style="yes", order=1, title="the verdict is correct")
    return Verdict(text="not correct", style="no", order=0, title="the verdict is incorrect or undetermined")


def _run_row(
    run: Row,
    claims: dict[str, Row],
    judges: Sequence[str],
    given: dict[tuple[str, str, int, str], Row],
    hrefs: dict[tuple[str, str, int], str],
) -> RunRow:
    lost = run["outcome"] == "infrastructure"
    rows = [given.get((*_key(run), judge)) for judge in judges]
    href = hrefs.get(_key(run))
    return RunRow(
        run=run,
        claim=claims[run["claim"]],
        href=quote(href) if href else None,
        verdicts=[None if lost else _verdict(row) for row in rows],
        scripted=run["scripted"] or any(row is not None and row["scripted"] for row in rows),
    )
