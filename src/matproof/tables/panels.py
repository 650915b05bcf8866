"""Several judges of the same runs, and one judge asked several times: medians, spread, agreement, disagreements first.

Judges that are programs give no scores and take no part. Scripted judges are kept apart from others: their agreement
says nothing of a model's. A judge without a score of a run counts there as unscored and in no median.
"""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low

from matproof.core.files import to_json, write_text
from matproof.records.evaluation import DIMENSIONS, SUCCESS_SCORE
from matproof.records.places import Results
from matproof.tables.columns import TABLES, Row
from matproof.tables.krippendorff import ordinal_alpha

_ORDER = ("overall", *DIMENSIONS)
_Run = tuple[str, str, int]


@dataclass(slots=True)
class _Judged:
    """What the judges of one run say of one dimension."""

    medians: dict[str, int | None] = field(default_factory=dict)
    """Judge → its score; None where it gave none."""
    single: dict[str, list[int | None]] = field(default_factory=dict)
    """Judge → the scores of its judgings, in order."""

    def all_scores(self) -> list[int]:
        """Every score that was given."""
        return [score for scores in self.single.values() for score in scores if score is not None]


def judged_again(evaluations: Sequence[Row], judgements: Sequence[Row]) -> set[_Run]:
    """Runs that several agents judged, or one several times, from the rows `overall`: all others are in no panel and no
    agreement, and most campaigns have no such run."""
    judges = Counter(_run(row) for row in evaluations if row["dimension"] == "overall" and row["kind"] == "agent")
    return {run for run, number in judges.items() if number > 1} | {_run(row) for row in judgements}


def panel_rows(evaluations: Sequence[Row], judgements: Sequence[Row]) -> list[Row]:
    """Rows of `panels`: a dimension of a run that was judged more than once. The widest disagreements come first."""
    rows = []
    for (run, scripted, dimension), judged in _grouped(evaluations, judgements).items():
        scores = judged.all_scores()
        if len(scores) < 2:
            continue
        medians = [score for score in judged.medians.values() if score is not None]
        verdicts = {score >= SUCCESS_SCORE for score in scores}
        rows.append(
            {
                **dict(zip(("claim", "setting", "repeat"), run, strict=True)),
                "scripted": scripted,
                "dimension": dimension,
                "median": median_low(medians),
                "low": min(scores),
                "high": max(scores),
                "spread": max(scores) - min(scores),
                "verdicts_differ": len(verdicts) > 1 if dimension == "overall" else None,
                "judges": len(medians),
                "judges_unscored": len(judged.medians) - len(medians),
                "scores": to_json(dict(sorted(judged.single.items())), indent=None),
            }
        )
    return sorted(rows, key=_widest_first)


def agreement_rows(evaluations: Sequence[Row], judgements: Sequence[Row]) -> list[Row]:
    """Rows of `panel_agreement`: each dimension between judges, and within each judge that was asked repeatedly."""
    groups = _grouped(evaluations, judgements)
    rows = []
    for scripted in sorted({key[1] for key in groups}):
        for dimension in _ORDER:
            here = [judged for (_, mark, name), judged in groups.items() if (mark, name) == (scripted, dimension)]
            shared = {"scripted": scripted, "dimension": dimension}
            rows += [shared | row for row in _agreements(here)]
    return rows


def write_disagreements(results: Path, panels: Sequence[Row]) -> Path:
    """`disagreements.csv`: the rows of `panels` on which judgings differ, for people, widest first."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [column.name for column in TABLES["panels"]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for row in panels if row["spread"])
    path = Results(results).tables / "disagreements.csv"
    write_text(path, stream.getvalue())
    return path


def _grouped(evaluations: Sequence[Row], judgements: Sequence[Row]) -> dict[tuple[_Run, bool, str], _Judged]:
    groups: dict[tuple[_Run, bool, str], _Judged] = defaultdict(_Judged)
    repeated: dict[tuple[_Run, str, str], list[tuple[int, int | None]]] = defaultdict(list)
    for row in judgements:
        repeated[_run(row), row["judge"], row["dimension"]].append((row["judging"], row.get("score")))
    for run, judge, scripted, dimension, score in _scores(evaluations):
        judged = groups[run, scripted, dimension]
        judged.medians[judge] = score
        single = sorted(repeated.get((run, judge, dimension), [(1, score)]), key=lambda pair: pair[0])
        judged.single[judge] = [given for _, given in single]
    return groups


def _scores(evaluations: Sequence[Row]) -> Iterator[tuple[_Run, str, bool, str, int | None]]:
    """Scores of agents among the judges; of an unscored one, every dimension without a score."""
    for row in evaluations:
        if row["kind"] != "agent":
            continue
        names = _ORDER if row["status"] == "unscored" else (row["dimension"],)
        for name in names:
            yield _run(row), row["judge"], bool(row["scripted"]), name, row.get("score")


def _run(row: Row) -> _Run:
    return row["claim"], row["setting"], row["repeat"]


def _agreements(judged: Sequence[_Judged]) -> Iterator[Row]:
    judges = sorted({judge for one in judged for judge in one.medians})
    several = [one for one in judged if len(one.medians) > 1]
    if several:
        between = sorted({judge for one in several for judge in one.medians})
        yield _agreement("judges", ", ".join(between), [list(one.medians.values()) for one in several])
    for judge in judges:
        repeats = [one.single[judge] for one in judged if len(one.single.get(judge, [])) > 1]
        if repeats:
            yield _agreement("repeats", judge, repeats)


def _agreement(between: str, judge: str, units: Sequence[Sequence[int | None]]) -> Row:
    given = [[score for score in unit if score is not None] for unit in units]
    alpha = ordinal_alpha(given)
    return {
        "between": between,
        "judge": judge,
        "alpha": alpha.value,
        "reason": alpha.reason,
        "runs": alpha.units,
        "scores": alpha.scores,
        "unscored": sum(score is None for unit in units for score in unit),
    }


def _widest_first(row: Row) -> tuple[object, ...]:
    overall = row["dimension"] == "overall"
    return (
        not row["verdicts_differ"],
        -row["spread"],
        not overall,
        row["claim"],
        row["setting"],
        row["repeat"],
        row["scripted"],
        _ORDER.index(row["dimension"]),
    )


def scores_of(row: Row) -> dict[str, list[int | None]]:
    """The column `scores` of a row of `panels`, read."""
    return dict(json.loads(row["scores"]))
