"""What one judge says of one run in one session, with the evidence that it cites and what a program found there.

A *judging* is one session of one judge. It is `scored` with everything, or `unscored` with a reason and nothing else:
no default ever stands in for a score that was not given.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

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
"""Fixed map from overall score to grade (AutoMat, appendix D.3)."""
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
Score = Annotated[int, Field(strict=True, ge=1, le=5)]
"""A whole number from 1 to 5; no text, no boolean, no fraction."""
Line = Annotated[int, Field(ge=1, le=1_000_000_000)]
CellName = Annotated[str, Field(max_length=300)] | int
"""A row's or column's name, or its number from 1."""


class Part(BaseModel):
    """Base of the parts of an evaluation."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class Citation(Part):
    """A place in the evidence: exactly one of `quote`, `number` and `absent`, or none of them for an image."""

    file: str = Field(min_length=1, max_length=500)
    """Path below the run, such as artifacts/results.csv or steps/relax/1.out; reference/… for the reference."""
    lines: list[Line] | None = Field(default=None, min_length=2, max_length=2)
    """First and last line, from 1, where the quote or number stands."""
    row: CellName | None = None
    """For a cell of a .csv or .tsv file: number of the data row, from 1, or the text of its first cell."""
    column: CellName | None = None
    """For a cell: the heading of its column, or the column's number, from 1."""
    quote: str | None = Field(default=None, max_length=2000)
    """Text copied from the file letter for letter; only white space may differ."""
    number: float | None = None
    """A number that stands in the file."""
    precision: float | None = Field(default=None, ge=0)
    """How far the number in the file may be from `number`; null is half a step of its last digit."""
    unit: str = Field(default="", max_length=80)
    """Unit of `number`; the file may give it in another one that says so beside the number."""
    absent: bool = False
    """True where the point is that no such file was left."""
    shows: str = Field(default="", max_length=1000)
    """What this shows."""

    @field_validator("lines", mode="before")
    @classmethod
    def _one_line_is_first_and_last(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return [value, value]
        return value * 2 if isinstance(value, list) and len(value) == 1 else value

    @field_validator("quote", mode="before")
    @classmethod
    def _nothing_is_no_quote(cls, value: Any) -> Any:
        return None if isinstance(value, str) and not value.strip() else value


class CheckedCitation(Citation):
    """A citation and what a program found at its place. `file` is as resolved where it could be."""

    verified: bool | None
    """Whether what is cited is there; null: written before citations were checked."""
    problem: str | None = None
    """Why it is not verified."""
    at: list[Line] | None = Field(default=None, min_length=2, max_length=2)
    """First and last line where it was found."""
    sha256: str | None = None
    """Hash of the file as the judge was shown it; null where it was not read."""


class SubDimension(Part):
    """A claim-specific part of a dimension."""

    name: str = Field(max_length=200)
    score: Score
    justification: str = Field(max_length=3000)
    citations: list[CheckedCitation] = Field(default=[], max_length=10)


class DimensionScore(Part):
    """One of the five dimensions."""

    name: Dimension
    score: Score
    justification: str = Field(max_length=5000)
    subdimensions: list[SubDimension] = Field(min_length=2, max_length=5)
    citations: list[CheckedCitation] = Field(default=[], max_length=20)

    @model_validator(mode="before")
    @classmethod
    def _reads_evidence_of_version_1(cls, data: Any) -> Any:
        if isinstance(data, dict) and "evidence" in data and "citations" not in data:
            pieces = data["evidence"] if isinstance(data["evidence"], list) else []
            return {key: value for key, value in data.items() if key != "evidence"} | {
                "citations": [_unchecked(piece) for piece in pieces]
            }
        return data

    @property
    def evidence(self) -> list[CheckedCitation]:
        """Citations of the dimension and of its parts, in order."""
        return [*self.citations, *(one for part in self.subdimensions for one in part.citations)]


class LabelledFailure(Part):
    """A failure label and what shows it."""

    label: FailureLabel
    evidence: str = Field(max_length=2000)
    """What shows it, in words."""
    citations: list[CheckedCitation] = Field(default=[], max_length=10)


class CitationCount(Part):
    """How much of the evidence a program could verify."""

    given: int = Field(ge=0)
    """Citations."""
    verified: int = Field(ge=0)
    """Of those, verified."""
    uncited: int = Field(ge=0)
    """Dimensions and failure labels that cite nothing; each counts as one citation that is not there."""

    @property
    def share(self) -> float:
        """Verified ones among all that should be there, 0 to 1; 0 where nothing was cited."""
        wanted = self.given + self.uncited
        return self.verified / wanted if wanted else 0.0


class Judging(Part):
    """One session of one judge: scored with all five dimensions, or unscored with a reason."""

    number: int = Field(ge=1)
    """1 for the first repeat."""
    folder: str | None = None
    """Directory below `evaluations/<judge>/` with its trace, exchanges and what was seen."""
    status: Literal["scored", "unscored"]
    reason: str | None = None
    """Why it is unscored."""
    overall: Score | None = None
    grade: Grade | None = None
    dimensions: list[DimensionScore] = Field(default=[], max_length=5)
    strengths: list[str] = []
    key_errors: list[str] = []
    failure_labels: list[LabelledFailure] = []
    self_comparison: str | None = None
    """The judge's view beside the agent's own judgement."""
    cited: CitationCount | None = None
    """Null where unscored, and in records from before citations were checked."""
    weak_evidence: bool | None = None
    """Whether too few citations could be verified, also after asking again."""
    asked_again: bool = False
    """Whether the judge was shown citations that failed, and answered again."""
    order: str | None = None
    """Seed of the order in which files and dimensions were presented."""

    @model_validator(mode="after")
    def _never_invents_a_score(self) -> Self:
        if self.status == "unscored":
            if self.overall is not None or self.grade is not None or self.dimensions or not self.reason:
                raise ValueError("an unscored judging carries a reason and no score")
            return self
        if self.overall is None:
            raise ValueError("a scored judging has an overall score")
        if self.grade != GRADES[self.overall]:
            raise ValueError("grade does not follow from overall")
        if sorted(dimension.name for dimension in self.dimensions) != sorted(DIMENSIONS):
            raise ValueError("a scored judging has each of the five dimensions once")
        return self


def _unchecked(given: Any) -> Any:
    piece = given.model_dump() if isinstance(given, BaseModel) else given
    if not isinstance(piece, dict) or not piece.get("file"):
        return {"file": "(none)", "verified": None, "problem": "no file was named"}
    return {
        "file": piece["file"],
        "quote": piece.get("quote") or None,
        "shows": piece.get("shows", ""),
        "verified": None,
        "problem": "written before citations were checked",
    }
