"""`evaluations/<judge>.json`: what one judge says of one run, or why it could not say anything.

Promise 1: a judge that fails leaves `unscored` with a reason. The model refuses a record that is `unscored` and
carries a score, or `scored` without one.
"""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from matproof.records.analysis import Evidence
from matproof.records.base import Record, Usage
from matproof.records.run import SandboxReport

Dimension = Literal[
    "methodological_fidelity", "execution_competence", "result_accuracy", "completeness", "scientific_rigor"
]
DIMENSIONS: tuple[Dimension, ...] = (
    "methodological_fidelity",
    "execution_competence",
    "result_accuracy",
    "completeness",
    "scientific_rigor",
)
Grade = Literal["fully_reproduced", "mostly_reproduced", "partially_reproduced", "mostly_failed", "failed"]
GRADES: dict[int, Grade] = {
    5: "fully_reproduced",
    4: "mostly_reproduced",
    3: "partially_reproduced",
    2: "mostly_failed",
    1: "failed",
}
"""Fixed map from overall score to grade (spec, Evaluation)."""
SUCCESS_SCORE = 4
"""A run succeeds where its overall score is at least this."""
FailureLabel = Literal[
    "procedural_incompleteness",
    "methodological_deviation",
    "resource_execution_failure",
    "overconfident_assessment",
    "circular_reasoning",
    "simplification",
]
Verdict = Literal["correct", "incorrect", "undetermined"]


class Part(BaseModel):
    """Base of the parts of an evaluation."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class SubDimension(Part):
    """A claim-specific part of a dimension."""

    name: str = Field(max_length=200)
    score: int = Field(ge=1, le=5)
    justification: str = Field(max_length=3000)


class DimensionScore(Part):
    """One of the five dimensions."""

    name: Dimension
    score: int = Field(ge=1, le=5)
    justification: str = Field(max_length=5000)
    subdimensions: list[SubDimension] = Field(min_length=2, max_length=5)
    evidence: list[Evidence] = Field(default=[], max_length=20)


class LabelledFailure(Part):
    """A failure label and what shows it."""

    label: FailureLabel
    evidence: str = Field(max_length=2000)


class QuantityCheck(Part):
    """One expected quantity beside what the agent reported."""

    name: str
    expected: str
    """Value with tolerance, or interval, in words."""
    unit: str
    reported: float | None
    """Reported value converted to `unit`; null where nothing comparable was reported."""
    reported_as: str | None
    """Name under which the agent reported it."""
    status: Literal["within", "outside", "missing", "not_comparable"]
    detail: str | None = None


class RelationCheck(Part):
    """An ordering or a sign."""

    relation: str
    status: Literal["holds", "broken", "undetermined"]


class Checks(Part):
    """What a program finds by comparing `analysis_result.json` with `expected.yaml`."""

    expected_outcome: Literal["supported", "contradicted"]
    found: Literal["supported", "contradicted", "undetermined"]
    """What the reported numbers establish about the claim."""
    self_reproduced: bool | None
    verdict: Verdict
    """Whether the agent's judgement is right and its numbers carry it."""
    explanation: str
    quantities: list[QuantityCheck] = []
    relations: list[RelationCheck] = []


class EvaluationRecord(Record):
    """`evaluations/<judge>.json`."""

    claim: str
    claim_id: str
    setting: str
    repeat: int
    attempt: int
    judge: str
    kind: Literal["checks", "agent"]
    scripted: bool = False
    """Whether a script answered in place of the judge's model."""
    status: Literal["scored", "unscored"]
    reason: str | None = None
    """Why it is unscored."""
    overall: int | None = Field(default=None, ge=1, le=5)
    grade: Grade | None = None
    success: bool | None = None
    """Overall ≥ 4, or verdict `correct`; null where unscored."""
    dimensions: list[DimensionScore] = []
    strengths: list[str] = []
    key_errors: list[str] = []
    failure_labels: list[LabelledFailure] = []
    self_comparison: str | None = None
    """The judge's view beside the agent's own judgement."""
    checks: Checks | None = None
    usage: Usage = Usage()
    sandbox: SandboxReport | None = None
    """What held the judge; null where no process was run."""
    started: str
    seconds: float
    versions: dict[str, str] = {}

    @model_validator(mode="after")
    def _never_invents_a_score(self) -> Self:
        empty = self.overall is None and self.grade is None and self.success is None and not self.dimensions
        if self.status == "unscored" and (not empty or not self.reason):
            raise ValueError("an unscored evaluation carries a reason and no score")
        if self.status == "scored" and self.success is None:
            raise ValueError("a scored evaluation says whether the run succeeded")
        if self.overall is not None and self.grade != GRADES[self.overall]:
            raise ValueError("grade does not follow from overall")
        return self
