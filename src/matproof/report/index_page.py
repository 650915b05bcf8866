"""The first page: how the settings did, in numbers and pictures, and the way to everything else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from matproof.records.run import LOST
from matproof.report import figures
from matproof.report.campaign import Campaign, key_of, style_of
from matproof.report.charts import Chart
from matproof.report.pages import Frame, render
from matproof.tables.board_text import empty_reason
from matproof.tables.columns import Row
from matproof.tables.gather import board_counts
from matproof.tables.leaderboard import total
from matproof.tables.store import read_rows

SCORE_WIDTH, SCORE_MARGIN = 220.0, 10.0
"""Picture of a mean score."""
MOST_RUNS = 40
"""Runs that the first page lists itself; the page of all runs has the rest."""


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
    charts: list[tuple[str, str, list[Chart]]]
    """(judge, kind, charts)."""
    matrix: Chart | None
    judges: list[str]
    runs: list[RunRow]
    """At most `MOST_RUNS`: those that ended last."""
    all_runs: int
    problems: list[Row]
    unscored: int
    spent: float | None
    spent_known: float | None
    scripted_runs: int
    flagged: int | None
    """Runs with a flag; None where no judge is a program."""
    looked_at: int
    """Runs that detectors looked at."""
    not_looked_at: int
    """Runs with a result that none looked at: that those have no flag says nothing."""
    strongly_flagged: int
    latest: str | None


def index_page(
    campaign: Campaign,
    hrefs: dict[tuple[str, str, int], str],
    more_problems: Sequence[Row],
    charts: list[tuple[str, str, list[Chart]]],
    matrix: Chart | None,
    frame: Frame,
) -> str:
    """HTML of the first page. `hrefs` has the runs that have a page."""
    counts, left_out = board_counts(campaign.results)
    rows = read_rows(campaign.results, "leaderboard")
    costs = [row["cost_usd"] for row in read_rows(campaign.results, "usage") if not row["scripted"]]
    known = [cost for cost in costs if cost is not None]
    kept = {key_of(run) for run in campaign.runs if run["outcome"] not in LOST}
    scripted = {key_of(run) for run in campaign.runs if run["scripted"]}
    scripted |= {key_of(row) for row in campaign.overall if row["scripted"]}
    scored = sum(row["status"] == "scored" and key_of(row) in kept for row in campaign.overall)
    latest = (
        sorted(campaign.runs, key=lambda run: run["ended"])[-MOST_RUNS:] if len(campaign.runs) > MOST_RUNS else None
    )
    view = IndexView(
        boards=_boards(rows),
        empty=None if rows else empty_reason(left_out, counts),
        left_out=left_out,
        counts=counts,
        charts=charts,
        matrix=matrix,
        judges=campaign.judges,
        runs=[_run_row(run, campaign, hrefs) for run in (latest[::-1] if latest is not None else campaign.runs)],
        all_runs=len(campaign.runs),
        problems=[*read_rows(campaign.results, "problems"), *more_problems],
        unscored=len(kept) * len(campaign.kinds) - scored,
        spent=0.0 if not costs else total(costs),
        spent_known=sum(known) if known else None,
        scripted_runs=len(scripted),
        flagged=len(campaign.flags) if "checks" in campaign.kinds.values() else None,
        looked_at=sum(bool(run["detected"]) for run in campaign.runs),
        not_looked_at=sum(not run["detected"] for run in campaign.runs if key_of(run) in kept),
        strongly_flagged=sum(strong > 0 for strong, _ in campaign.flags.values()),
        latest=max((run["ended"] for run in campaign.runs), default=None),
    )
    return render(
        "index.html",
        frame=frame,
        view=view,
        root="index.html",
        here="index.html",
        score_width=SCORE_WIDTH,
        margin=SCORE_MARGIN,
    )


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


def verdict_of(row: Row | None) -> Verdict:
    """The cell for a row `overall`; None is a run that the judge said nothing of."""
    style = style_of(row)
    if row is None:
        return Verdict(text="unscored", style=style, order=-1, title="no judgement")
    if row["status"] == "unscored":
        return Verdict(text="unscored", style=style, order=-1, title=row["reason"] or "")
    if row["score"] is not None:
        grade = (row["grade"] or "").replace("_", " ")
        return Verdict(text=str(row["score"]), style=style, order=row["score"], title=grade)
    if row["success"]:
        return Verdict(text="correct", style=style, order=1, title="the verdict is correct")
    return Verdict(text="not correct", style=style, order=0, title="the verdict is incorrect or undetermined")


def _run_row(run: Row, campaign: Campaign, hrefs: dict[tuple[str, str, int], str]) -> RunRow:
    return run_row(run, campaign, hrefs.get(key_of(run)))


def run_row(run: Row, campaign: Campaign, href: str | None) -> RunRow:
    """A run in a table of runs; `href` is the path of its page, where it has one."""
    rows = [campaign.verdicts.get((key_of(run), judge)) for judge in campaign.judges]
    return RunRow(
        run=run,
        claim=campaign.claims[run["claim"]],
        href=quote(href) if href else None,
        verdicts=[None if run["outcome"] in LOST else verdict_of(row) for row in rows],
        scripted=run["scripted"] or any(row is not None and row["scripted"] for row in rows),
    )
