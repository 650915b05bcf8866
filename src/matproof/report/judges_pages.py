"""Pages about the judges: where they disagree, and how far they agree with experts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from matproof.report import charts
from matproof.report.campaign import Campaign, Key, key_of
from matproof.report.charts import Chart
from matproof.report.pages import Frame, render, slug
from matproof.tables.calibration.calibrating import AgreementRow, CalibrationReport
from matproof.tables.columns import Row
from matproof.tables.store import read_rows, table_path

MOST_DISAGREEMENTS = 100
"""Runs that the page lists, the largest spread first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A run that judges or judgings score differently."""

    row: Row
    name: str
    href: str | None
    scores: list[tuple[str, str]]
    """(judge, its scores)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A run whose judge and program disagree, or one of which did not score it."""

    row: Row
    name: str
    href: str | None


def has_panels(results: Path) -> bool:
    """Whether any run was judged more than once."""
    return table_path(results, "panels").is_file() and any(
        sum(len(scores.split(",")) for _, scores in _scores(row["scores"])) > 1
        for row in read_rows(results, "panels")
        if row["dimension"] == "overall"
    )


def has_both(results: Path) -> bool:
    """Whether any run was judged by an agent and by a program."""
    return table_path(results, "judge_and_checks").is_file() and bool(read_rows(results, "judge_and_checks"))


def judges_page(campaign: Campaign, hrefs: Mapping[Key, str], frame: Frame) -> str:
    """HTML of the page of disagreements. Raises InputError for a table of another version."""
    beside = read_rows(campaign.results, "judge_and_checks")
    rows = [row for row in read_rows(campaign.results, "panels") if row["dimension"] == "overall"]
    order = sorted(rows, key=lambda row: (-(row["spread"] or 0), not row["verdicts_differ"], key_of(row)))
    apart = [row for row in order if row["spread"] or row["verdicts_differ"]]
    shown = [
        Disagreement(
            row=row,
            name=_name(campaign, row),
            href=_href(hrefs, row),
            scores=_scores(row["scores"]),
        )
        for row in apart[:MOST_DISAGREEMENTS]
    ]
    return render(
        "judges.html",
        frame=frame,
        root="index.html",
        here="judges.html",
        panels=len(rows),
        apart=len(apart),
        differ=sum(bool(row["verdicts_differ"]) for row in rows),
        shown=shown,
        panelled=has_panels(campaign.results),
        beside=_beside(campaign, beside, hrefs),
        both={agree: sum(row["agree"] is agree for row in beside) for agree in (True, False, None)},
        judge_only=sum(row["agree"] is False and bool(row["judge_success"]) for row in beside),
    )


def _beside(campaign: Campaign, rows: Sequence[Row], hrefs: Mapping[Key, str]) -> list[Beside]:
    """Runs to look at: disagreements first, as the table has them, then those that one of the two did not score."""
    apart = [row for row in rows if not row["agree"]]
    return [Beside(row=row, name=_name(campaign, row), href=_href(hrefs, row)) for row in apart[:MOST_DISAGREEMENTS]]


def _name(campaign: Campaign, row: Row) -> str:
    return str(campaign.claims.get(row["claim"], {}).get("title") or row["claim"])


def _href(hrefs: Mapping[Key, str], row: Row) -> str | None:
    return quote(hrefs[key_of(row)]) if key_of(row) in hrefs else None


def _scores(text: str) -> list[tuple[str, str]]:
    try:
        given = json.loads(text)
    except ValueError:
        return []
    if not isinstance(given, dict):
        return []
    return [
        (judge, ", ".join("unscored" if one is None else str(one) for one in scores))
        for judge, scores in sorted(given.items())
        if isinstance(scores, list)
    ]


def read_calibration(kit: Path) -> CalibrationReport:
    """The report of the calibration kit in `kit`. Raises InputError where `matproof calibrate report` has not run."""
    from matproof.tables.calibration.kit import Kit

    return CalibrationReport.read(Kit(kit).report_json)


def calibration_page(report: CalibrationReport, frame: Frame) -> tuple[str, list[Chart]]:
    """HTML of the page of calibration, and its charts."""
    groups: dict[str, list[AgreementRow]] = {}
    for row in report.rows:
        groups.setdefault(row.judge, []).append(row)
    boards = [(judge, rows, _confusion(judge, rows)) for judge, rows in groups.items()]
    html = render(
        "calibration.html", frame=frame, root="index.html", here="calibration.html", report=report, boards=boards
    )
    return html, [chart for _, _, chart in boards if chart is not None]


def _confusion(judge: str, rows: list[AgreementRow]) -> Chart | None:
    """Judge against expert, overall."""
    found = next((row for row in rows if row.dimension == "overall" and row.stratum_by is None), None)
    if found is None or not found.n:
        return None
    most = max(max(line) for line in found.confusion) or 1
    values: list[list[charts.HeatValue]] = [
        [(count / most, str(count), "", None) for count in line] for line in found.confusion
    ]
    table: charts.Table = [["judge's score", "expert's score", "pairs"]]
    table += [[1 + i, 1 + j, count] for i, line in enumerate(found.confusion) for j, count in enumerate(line)]
    return charts.heat(
        f"calibration-{slug(judge)}",
        "Judge against experts, overall score",
        f"{found.n} pairs; on the diagonal both gave the same score.",
        [(f"judge {score}", False) for score in range(1, 1 + len(found.confusion))],
        [(f"expert {score}", "") for score in range(1, 1 + len(found.confusion))],
        values,
        table,
    )
