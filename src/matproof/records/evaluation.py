"""`evaluations/<judge>.json`: what one judge says of one run, or why it could not say anything.

A judge may be asked several times (`repeats`). Each time is a *judging* and is kept whole; `overall`, `grade`,
`success` and `scores` are medians over those that were scored. Promise 1: where none was, the record is `unscored` with
a reason. The model refuses a record that is `unscored` and carries a score, one that is `scored` without, and medians
that don't follow from the judgings. Records of version 1, of a single judging, are read as such.
"""

from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from matproof.records.base import Record, Usage
from matproof.records.flags import Detection, RequiredStepCheck
from matproof.records.judgement import (
    DIMENSIONS,
    GRADES,
    SUCCESS_SCORE,
    CheckedCitation,
    Citation,
    CitationCount,
    Dimension,
    DimensionScore,
    FailureLabel,
    Grade,
    Judging,
    LabelledFailure,
    Part,
    Score,
    SubDimension,
)
from matproof.records.panel import ScoreSpread, common_labels, spreads
from matproof.records.run import SandboxReport

__all__ = [
    "DIMENSIONS",
    "GRADES",
    "SUCCESS_SCORE",
    "CheckedCitation",
    "Checks",
    "Citation",
    "CitationCount",
    "Dimension",
    "DimensionScore",
    "EvaluationRecord",
    "FailureLabel",
    "Grade",
    "Judging",
    "LabelledFailure",
    "Part",
    "QuantityCheck",
    "RelationCheck",
    "Score",
    "ScoreSpread",
    "SubDimension",
    "Verdict",
]

Verdict = Literal["correct", "incorrect", "undetermined"]
_MOVED = ("dimensions", "strengths", "key_errors", "failure_labels", "self_comparison")
"""Fields that stood beside `overall` in version 1 and are a judging's now."""


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
    deviation: float | None = None
    """Distance from the expected value in multiples of the tolerance (of an interval: from its middle, in halves of its
    width); null where nothing comparable was reported, an interval is a mere bound, or zero tolerance is missed."""
    band: Literal["within", "within_2x", "outside"] | None = None
    """`within_2x`: outside, by no more than the tolerance again, as anchor 4 of the rubric has it."""
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
    left_to_judges: list[str] = []
    """Ids of the statements of `expected.yaml`: no program compares them."""


class EvaluationRecord(Record):
    """`evaluations/<judge>.json`."""

    CURRENT: ClassVar[int] = 2

    schema_version: int = 2
    """Version of this file's layout."""
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
    overall: Score | None = None
    """Median of the scored judgings; of an even number, the lower one in the middle."""
    grade: Grade | None = None
    success: bool | None = None
    """Overall ≥ 4, or verdict `correct`; null where unscored."""
    scores: list[ScoreSpread] = []
    """`overall` and the five dimensions: median and range over the scored judgings."""
    judgings: list[Judging] = []
    """Every judging of a judge that is an agent, unscored ones too; in the order in which they were made."""
    weak_evidence: bool | None = None
    """Whether any scored judging is marked so; null where unscored, or never checked."""
    checks: Checks | None = None
    required_steps: list[RequiredStepCheck] = []
    """Evidence that required steps ran, by a judge that is a program; it changes no verdict."""
    detection: Detection | None = None
    """What the detectors of hostile runs found; null where the judge is not a program. It changes no verdict."""
    usage: Usage = Usage()
    """Of all judgings together."""
    sandbox: SandboxReport | None = None
    """What held the judge; null where no process was run."""
    started: str
    seconds: float
    versions: dict[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _reads_version_1(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("schema_version", 1) != 1 or "judgings" in data:
            return data
        rest = {key: value for key, value in data.items() if key not in _MOVED} | {"schema_version": 2}
        if data.get("kind") != "agent":
            return rest
        keep = ("status", "reason", "overall", "grade", *_MOVED)
        only = Judging.model_validate({"number": 1} | {key: data[key] for key in keep if key in data})
        return rest | {"judgings": [only], "scores": spreads([only])}

    @model_validator(mode="after")
    def _never_invents_a_score(self) -> Self:
        empty = self.overall is None and self.grade is None and self.success is None and not self.scores
        if self.status == "unscored" and (not empty or not self.reason):
            raise ValueError("an unscored evaluation carries a reason and no score")
        if self.status == "scored" and self.success is None:
            raise ValueError("a scored evaluation says whether the run succeeded")
        if self.overall is not None and self.grade != GRADES[self.overall]:
            raise ValueError("grade does not follow from overall")
        if self.kind == "agent":
            self._follows_from_judgings()
        return self

    def _follows_from_judgings(self) -> None:
        found = spreads(self.judgings)
        if self.scores != found:
            raise ValueError("scores are not the medians of the judgings")
        overall = found[0].median if found else None
        if self.overall != overall or self.success != (None if overall is None else overall >= SUCCESS_SCORE):
            raise ValueError("overall and success do not follow from the judgings")

    @property
    def typical(self) -> Judging | None:
        """The first scored judging whose overall score is the median; None where unscored."""
        return next((one for one in self.judgings if one.status == "scored" and one.overall == self.overall), None)

    @property
    def dimensions(self) -> list[DimensionScore]:
        """Each dimension as the first judging that gave it its median score gives it."""
        medians = {score.dimension: score.median for score in self.scores}
        given = [dimension for judging in self.judgings for dimension in judging.dimensions]
        fitting = {one.name: one for one in reversed(given) if one.score == medians.get(one.name)}
        return [fitting[name] for name in DIMENSIONS if name in fitting]

    @property
    def strengths(self) -> list[str]:
        """What went right, by the typical judging."""
        return self.typical.strengths if self.typical is not None else []

    @property
    def key_errors(self) -> list[str]:
        """What went wrong, by the typical judging."""
        return self.typical.key_errors if self.typical is not None else []

    @property
    def failure_labels(self) -> list[LabelledFailure]:
        """Labels that at least half of the scored judgings give."""
        return common_labels(self.judgings)

    @property
    def self_comparison(self) -> str | None:
        """The typical judging's view beside the agent's own judgement."""
        return self.typical.self_comparison if self.typical is not None else None
