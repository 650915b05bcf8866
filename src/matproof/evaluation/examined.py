"""An answer with each of its citations looked up, and what the judge is told where too few of them hold."""

from dataclasses import dataclass

from matproof.evaluation.citations import check
from matproof.evaluation.rubric import Judgement
from matproof.evaluation.shown import Shown
from matproof.models.prompts import Prompt
from matproof.records.judgement import (
    GRADES,
    CheckedCitation,
    Citation,
    CitationCount,
    DimensionScore,
    Judging,
    LabelledFailure,
    SubDimension,
)

_MOST_TOLD = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What became of an answer's evidence."""

    judgement: Judgement
    dimensions: list[DimensionScore]
    failure_labels: list[LabelledFailure]
    count: CitationCount
    failures: tuple[str, ...]
    """What could not be verified, a line each, in words for the judge."""

    def judging(self, number: int, *, folder: str, threshold: float, asked_again: bool, order: str) -> Judging:
        """The answer as it is recorded; the grade is computed here."""
        given = self.judgement
        return Judging(
            number=number,
            folder=folder,
            status="scored",
            overall=given.overall,
            grade=GRADES[given.overall],
            dimensions=self.dimensions,
            strengths=given.strengths,
            key_errors=given.key_errors,
            failure_labels=self.failure_labels,
            self_comparison=given.self_comparison,
            cited=self.count,
            weak_evidence=self.count.share < threshold,
            asked_again=asked_again,
            order=order,
        )

    def complaint(self, again: Prompt, threshold: float) -> str | None:
        """What the judge is told; None where its evidence holds."""
        if self.count.share >= threshold:
            return None
        return again.render(
            verified=self.count.verified,
            wanted=self.count.given + self.count.uncited,
            threshold=f"{threshold:.0%}",
            failures=self.failures[:_MOST_TOLD],
            more=max(0, len(self.failures) - _MOST_TOLD),
        )


def examine(judgement: Judgement, shown: Shown) -> Examined:
    """Look up every citation of `judgement`."""
    dimensions = [
        DimensionScore(
            name=one.name,
            score=one.score,
            justification=one.justification,
            subdimensions=[
                SubDimension(
                    name=part.name,
                    score=part.score,
                    justification=part.justification,
                    citations=_checked(part.citations, shown),
                )
                for part in one.subdimensions
            ],
            citations=_checked(one.citations, shown),
        )
        for one in judgement.dimensions
    ]
    labels = [
        LabelledFailure(label=one.label, evidence=one.evidence, citations=_checked(one.citations, shown))
        for one in judgement.failure_labels
    ]
    by_part: list[tuple[str, list[CheckedCitation]]] = [(one.name, one.evidence) for one in dimensions]
    by_part += [(one.label, one.citations) for one in labels]
    given = [citation for _, citations in by_part for citation in citations]
    uncited = [name for name, citations in by_part if not citations]
    return Examined(
        judgement=judgement,
        dimensions=dimensions,
        failure_labels=labels,
        count=CitationCount(
            given=len(given), verified=sum(citation.verified is True for citation in given), uncited=len(uncited)
        ),
        failures=(
            *(f"{name} cites nothing" for name in uncited),
            *(_told(name, one) for name, citations in by_part for one in citations if not one.verified),
        ),
    )


def _checked(citations: list[Citation], shown: Shown) -> list[CheckedCitation]:
    return [check(citation, shown) for citation in citations]


def _told(name: str, citation: CheckedCitation) -> str:
    lines = "" if citation.lines is None else f", lines {citation.lines[0]} to {citation.lines[1]}"
    return f"{name}: {citation.file[:200]!a}{lines}: {citation.problem}"
