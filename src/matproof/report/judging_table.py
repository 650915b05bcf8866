"""Every judging of a judge beside the others: a line a judging, a column a dimension, and the medians that count."""

from dataclasses import dataclass

from matproof.records.evaluation import DIMENSIONS, EvaluationRecord

COLUMNS = ("overall", *DIMENSIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingLine:
    """A judging, or the medians of all."""

    number: int | None
    """None: the medians."""
    scores: list[int | None]
    """As `COLUMNS`; None where there is none."""
    reason: str | None = None
    """Why the judging is unscored."""
    typical: bool = False
    """Whether strengths and errors on the page are this judging's."""


def judging_lines(evaluation: EvaluationRecord) -> list[JudgingLine]:
    """The lines, medians last; none where the judge was asked once, since that judging is all that the page shows."""
    if len(evaluation.judgings) < 2:
        return []
    typical = evaluation.typical
    lines = []
    for judging in evaluation.judgings:
        given = {"overall": judging.overall} | {one.name: one.score for one in judging.dimensions}
        lines.append(
            JudgingLine(
                number=judging.number,
                scores=[given.get(name) for name in COLUMNS],
                reason=judging.reason if judging.status == "unscored" else None,
                typical=judging is typical,
            )
        )
    medians: dict[str, int] = {score.dimension: score.median for score in evaluation.scores}
    if medians:
        lines.append(JudgingLine(number=None, scores=[medians.get(name) for name in COLUMNS]))
    return lines
