"""What a judge is asked and what it answers. The prompts stand in `prompts/`, each with a version.

The grade is no part of the answer: it follows from `overall` by a fixed map. What is presented first tends to weigh
more, so the places to read, the dimensions and the list of files come in an order that is drawn for each repeat, from
a seed that knows the claim and not who made the attempt.
"""

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from matproof.evaluation.shown import REFERENCE, RUN
from matproof.models.prompts import Prompt, load_prompt
from matproof.records.judgement import DIMENSIONS, Citation, Dimension, FailureLabel, Part, Score

Item = TypeVar("Item")

MEANINGS: dict[Dimension, str] = {
    "methodological_fidelity": "method, algorithms, software and parameters are those that the claim needs",
    "execution_competence": "what was run ran to its end, errors were dealt with, and it left what it should",
    "result_accuracy": "numbers and orderings agree with the reference within its tolerance",
    "completeness": "every part of the claim was addressed, none of weight skipped",
    "scientific_rigor": "the science is understood, choices are sound where the paper is silent, results are validated",
}
_PLACES = (
    f"`{RUN}/files.txt`: every file of the attempt with its size, in an order drawn for this judging",
    f"`{RUN}/artifacts/`: everything the attempt wrote, `analysis_result.json` with its own conclusion among it",
    f"`{RUN}/steps/`: output of each command that was run",
    f"`{RUN}/trace.jsonl`: what was said and done, in order",
    f"`{RUN}/orchestration.json`: plan, decisions, steps",
    f"`{RUN}/ending.json`: how it ended; `{RUN}/left_out.txt`: what can't be shown, links that lead elsewhere",
    f"`{REFERENCE}/`: the paper, the expert's procedure and what a sound reproduction finds (`expected.yaml`)",
)


class SubDimensionAnswer(Part):
    """A part of a dimension that belongs to this claim."""

    name: str = Field(min_length=1, max_length=200)
    score: Score
    justification: str = Field(min_length=1, max_length=3000)
    citations: list[Citation] = Field(default=[], max_length=10)


class DimensionAnswer(Part):
    """One of the five dimensions."""

    name: Dimension
    score: Score
    justification: str = Field(min_length=1, max_length=5000)
    """Why this score and not the one above or below it."""
    subdimensions: list[SubDimensionAnswer] = Field(min_length=2, max_length=5)
    citations: list[Citation] = Field(default=[], max_length=20)


class FailureAnswer(Part):
    """A failure label that applies."""

    label: FailureLabel
    evidence: str = Field(min_length=1, max_length=2000)
    """What shows it, in words."""
    citations: list[Citation] = Field(default=[], max_length=10)


class Judgement(Part):
    """What the judge answers."""

    dimensions: Annotated[list[DimensionAnswer], Field(min_length=5, max_length=5)]
    """Exactly the five dimensions."""
    overall: Score
    """Overall score on the scale of the rubric."""
    strengths: list[Annotated[str, Field(max_length=2000)]] = Field(default=[], max_length=20)
    """What went right."""
    key_errors: list[Annotated[str, Field(max_length=2000)]] = Field(default=[], max_length=20)
    """What went wrong."""
    failure_labels: list[FailureAnswer] = Field(default=[], max_length=6)
    """Labels that apply, each once, with its evidence."""
    self_comparison: str | None = Field(default=None, max_length=5000)
    """This view beside the attempt's own conclusion; null where it left none."""

    @model_validator(mode="after")
    def _exactly_the_five(self) -> Self:
        names = [dimension.name for dimension in self.dimensions]
        if missing := [name for name in DIMENSIONS if name not in names]:
            raise ValueError(f"give each dimension once; missing: {', '.join(missing)}")
        labels = [failure.label for failure in self.failure_labels]
        if len(set(labels)) != len(labels):
            raise ValueError("give each failure label once, with all of its evidence")
        return self


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which one judging is shown things; the same seed gives the same."""

    seed: str

    def of(self, items: Iterable[Item]) -> list[Item]:
        """`items` in that order."""
        shuffled = list(items)
        random.Random(self.seed).shuffle(shuffled)  # noqa: S311 - an order, no secret
        return shuffled


def order_for(claim: str, repeat: int, number: int) -> Order:
    """The order of the `number`th judging of a run: the same for every setting and judge, so that none is favoured."""
    return Order(hashlib.sha256(f"{claim}/{repeat}/{number}".encode(errors="replace")).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Rubric:
    """The prompts of a judging."""

    system: Prompt
    judge: Prompt
    again: Prompt

    @property
    def versions(self) -> dict[str, str]:
        """Version and hash of each, for the record."""
        return {f"prompt.{prompt.name}": prompt.stamp for prompt in (self.system, self.judge, self.again)}

    def question(self, *, claim: str, outcome: str, order: Order) -> str:
        """The prompt of one judging. Nothing that the attempt wrote is in it."""
        return self.judge.render(
            run=RUN,
            claim=claim,
            outcome=outcome,
            places=order.of(_PLACES),
            dimensions=order.of(MEANINGS.items()),
        )


def load_rubric() -> Rubric:
    """The rubric as this version has it."""
    system, judge, again = (load_prompt("matproof.evaluation", name) for name in ("system", "judge", "again"))
    return Rubric(system, judge, again)
