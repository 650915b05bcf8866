"""How far a judge agrees with experts: overall, by dimension and by stratum, and when the numbers flatter it.

A pair is one expert's grade of one run beside the judge's. Runs of one claim are resampled together. A pair in which
either gave no score is counted as unscored and in no number.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from matproof.core.errors import InputError
from matproof.records.base import Record
from matproof.tables.agreement import RESAMPLES, SEED, Agreement, Pair, agreement
from matproof.tables.calibration.foreign import ForeignPairs
from matproof.tables.calibration.kit import SCALES, Grade, Grades, Sample, SampledRun
from matproof.tables.published import published_table
from matproof.tables.store import read_rows
from matproof.tables.views import run_key

GOOD_WITHIN_ONE = 0.8
"""What the paper reports (section 4.4)."""
LOW_KAPPA = 0.6
"""Below, agreement is at most moderate (Landis and Koch 1977, Biometrics 33, 159)."""
EASY = 0.7
"""Unrelated raters are within one this often only where scores crowd; with all scores equally frequent, 0.52."""
FEWEST = 5
"""Pairs below which nothing is said of their range."""
STRATA = ("setting", "reproduction_type", "verification")
METHOD = (
    f"quadratic-weighted kappa (Cohen 1968) and bias with percentile bootstrap intervals over claims ({RESAMPLES:,} "
    f"resamples, seed {SEED}); shares with Wilson intervals, the number of claims as n; 95 %"
)
EXPERTS = "experts among themselves"


class AgreementRow(BaseModel):
    """One line of the report. Null is not defined, with the reason in `note`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    judge: str
    dimension: str
    stratum_by: str | None
    stratum: str | None
    n: int
    """Pairs in which both gave a score."""
    unscored: int
    """Pairs in which one did not."""
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    within_one: float | None
    within_one_low: float | None
    within_one_high: float | None
    chance_within_one: float | None
    """What unrelated raters with the same margins would reach."""
    exact: float | None
    bias: float | None
    """Judge less expert, in steps."""
    bias_low: float | None
    bias_high: float | None
    confusion: list[list[int]]
    """Judge 1 to 5 by row, expert 1 to 5 by column."""
    note: str | None
    warning: str | None


class CalibrationReport(Record):
    """`report.json`."""

    method: str = METHOD
    notes: list[str]
    published: dict[str, float]
    """What the AutoMat paper reports of its own judge."""
    rows: list[AgreementRow]


def calibrate(
    sample: Sample, grades: Grades, results: Path, judges: Sequence[str], tell: Callable[[str], None] = lambda _: None
) -> CalibrationReport:
    """The report of a kit. Without `judges`, of every judge that is a model. Raises InputError."""
    if not grades.grades:
        raise InputError("grades.json", "", "no grade was imported", "run `matproof calibrate import` first")
    evaluations = [row for row in read_rows(results, "evaluations") if row["kind"] == "agent"]
    known = sorted({row["judge"] for row in evaluations})
    for judge in judges:
        if judge not in known:
            raise InputError("--judge", judge, "has judged nothing here", f"use one of {', '.join(known) or 'none'}")
    given = {(*run_key(row), row["attempt"], row["judge"], row["dimension"]): row["score"] for row in evaluations}
    rows: list[AgreementRow] = []
    for judge in judges or known:
        tell(judge)
        rows += _judge_rows(judge, sample, grades, given)
    rows += _expert_rows(sample, grades)
    graded = len({grade.packet for grade in grades.grades})
    raters = len({grade.rater for grade in grades.grades})
    notes = [f"{graded} of {len(sample.runs)} packets graded, by {raters} experts, {len(grades.grades)} grades"]
    if sample.scripted:
        notes.append("the sample may hold runs in which a script answered in place of a model: a demonstration")
    return CalibrationReport(notes=notes, published=_published(), rows=rows)


def calibrate_pairs(found: ForeignPairs, name: str) -> CalibrationReport:
    """The report of pairs that were given as such."""
    dimensions = sorted(found.pairs, key=lambda dimension: (dimension != "overall", dimension))
    rows = [
        agreement_row(name, dimension, found.pairs[dimension], found.unscored.get(dimension, 0))
        for dimension in dimensions
    ]
    return CalibrationReport(notes=found.notes(), published=_published(), rows=rows)


def agreement_row(
    judge: str,
    dimension: str,
    pairs: Sequence[Pair],
    unscored: int,
    stratum_by: str | None = None,
    stratum: str | None = None,
) -> AgreementRow:
    """A line of the report."""
    found = agreement(pairs)
    return AgreementRow(
        judge=judge,
        dimension=dimension,
        stratum_by=stratum_by,
        stratum=stratum,
        n=found.n,
        unscored=unscored,
        kappa=found.kappa.value,
        kappa_low=found.kappa.low,
        kappa_high=found.kappa.high,
        within_one=found.within_one.value,
        within_one_low=found.within_one.low,
        within_one_high=found.within_one.high,
        chance_within_one=found.chance_within_one,
        exact=found.exact.value,
        bias=found.bias.value,
        bias_low=found.bias.low,
        bias_high=found.bias.high,
        confusion=found.confusion,
        note=found.kappa.note,
        warning=range_warning(found),
    )


def range_warning(found: Agreement) -> str | None:
    """A sentence where within-one looks good because scores crowd, while kappa is low; else None."""
    kappa, within, chance = found.kappa.value, found.within_one.value, found.chance_within_one
    if found.n < FEWEST or within is None or chance is None or within < GOOD_WITHIN_ONE or chance < EASY:
        return None
    if kappa is not None and kappa >= LOW_KAPPA:
        return None
    said = "not defined" if kappa is None else f"{kappa:.2f}"
    return (
        f"range restriction: within-one is {within:.2f}, but unrelated raters with these scores would reach "
        f"{chance:.2f}, and kappa is {said}; do not report within-one alone"
    )


def _judge_rows(
    judge: str, sample: Sample, grades: Grades, given: dict[tuple[Any, ...], int | None]
) -> Iterator[AgreementRow]:
    runs = {run.packet: run for run in sample.runs}

    def score(run: SampledRun, dimension: str) -> int | None:
        return given.get((run.claim, run.setting, run.repeat, run.attempt, judge, dimension))

    for dimension in SCALES:
        scored = [(runs[grade.packet], score(runs[grade.packet], dimension), grade) for grade in grades.grades]
        yield _row_of(judge, dimension, scored)
        for field in STRATA if dimension == "overall" else ():
            for value in sorted({getattr(run, field) for run, *_ in scored}):
                part = [item for item in scored if getattr(item[0], field) == value]
                yield _row_of(judge, dimension, part, field, value)


def _row_of(
    judge: str, dimension: str, scored: Sequence[tuple[SampledRun, int | None, Grade]], *stratum: str
) -> AgreementRow:
    pairs = [
        Pair(cluster=run.claim, judge=one, human=two)
        for run, one, grade in scored
        if one is not None and (two := grade.scores[dimension]) is not None
    ]
    return agreement_row(judge, dimension, pairs, len(scored) - len(pairs), *stratum)


def _expert_rows(sample: Sample, grades: Grades) -> Iterator[AgreementRow]:
    """Experts against experts, where several graded the same packets: what a judge can be expected to reach."""
    claims = {run.packet: run.claim for run in sample.runs}
    by_packet: dict[str, list[Grade]] = {}
    for grade in grades.grades:
        by_packet.setdefault(grade.packet, []).append(grade)
    both = [pair for given in by_packet.values() for pair in combinations(given, 2)]
    for dimension in SCALES if both else ():
        pairs = [
            Pair(cluster=claims[one.packet], judge=first, human=second)
            for one, two in both
            if (first := one.scores[dimension]) is not None and (second := two.scores[dimension]) is not None
        ]
        yield agreement_row(EXPERTS, dimension, pairs, len(both) - len(pairs))


def _published() -> dict[str, float]:
    numbers = published_table().numbers
    return {one.name: one.value for one in numbers if one.analysis == "calibration" and one.value is not None}


def report_markdown(report: CalibrationReport) -> str:
    """The report for people."""
    from tabulate import tabulate

    parts = ["# Calibration", "", *(f"- {note}" for note in report.notes), f"- {report.method}"]
    paper = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in report.published.items())
    parts += [f"- the AutoMat paper reports of its own judge and runs: {paper}", ""]
    headers = ["judge", "scores", "kappa [95 %]", "within one", "by chance", "exact", "bias", "n", "unscored"]
    lines = [_cells(row) for row in report.rows]
    align = ["left", "left", *["right"] * 7]
    table = tabulate(lines, headers, tablefmt="github", colalign=align, disable_numparse=True)
    parts += [table, ""]
    warned = [row for row in report.rows if row.warning]
    parts += ["## Warnings", "", *(f"- {_where(row)}: {row.warning}" for row in warned), ""] if warned else []
    for row in report.rows:
        if row.stratum is None and row.dimension == "overall" and row.n:
            lines = [[f"judge {score}", *map(str, cells)] for score, cells in enumerate(row.confusion, start=1)]
            heads = ["", *(f"expert {score}" for score in range(1, 6))]
            shown = tabulate(lines, heads, tablefmt="github", disable_numparse=True)
            parts += [f"## Overall scores: {row.judge}", "", shown, ""]
    noted = [row for row in report.rows if row.note]
    parts += ["## Notes", "", *(f"- {_where(row)}: {row.note}" for row in noted), ""] if noted else []
    return "\n".join(parts)


def _where(row: AgreementRow) -> str:
    stratum = "" if row.stratum is None else f", {row.stratum}"
    return f"{row.judge}, {row.dimension.replace('_', ' ')}{stratum}"


def _cells(row: AgreementRow) -> list[str]:
    from matproof.tables.words import one_line, shorten

    scores = row.dimension.replace("_", " ") if row.stratum is None else f"{row.dimension}, {row.stratum}"
    return [
        shorten(one_line(row.judge), 34).replace("|", "¦"),
        shorten(one_line(scores), 50).replace("|", "¦"),
        _span(row.kappa, row.kappa_low, row.kappa_high),
        _span(row.within_one, row.within_one_low, row.within_one_high),
        _span(row.chance_within_one),
        _span(row.exact),
        _span(row.bias, row.bias_low, row.bias_high),
        str(row.n),
        str(row.unscored),
    ]


def _span(value: float | None, low: float | None = None, high: float | None = None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"
