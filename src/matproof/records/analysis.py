"""`analysis_result.json`: what an agent says it found. Hostile data: parsed, bounded, never executed or trusted.

There is one reader, so that no two stations disagree about whether the same file is valid.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from matproof.core.errors import UnsafePathError
from matproof.core.files import explain, read_within

ANALYSIS = "analysis_result.json"
MAX_BYTES = 5_000_000
"""Longest `analysis_result.json` that is read, in bytes."""
MISSING = f"the run left no {ANALYSIS}"


class ExtractedResult(BaseModel):
    """One number the agent reports."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True)

    quantity: str = Field(max_length=300)
    """Name of the quantity; use the requested name where one was given."""
    value: float | None = None
    """The number itself, in `unit`; null where it could not be obtained."""
    unit: str = Field(default="", max_length=80)
    """Unit of the value; empty for a pure number."""
    source_file: str = Field(default="", max_length=500)
    """File in the artifact directory that holds the number."""


class Comparison(BaseModel):
    """One statement of the claim beside what was found."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)

    statement: str = Field(max_length=2000)
    """The part of the claim that is compared."""
    claimed: str = Field(default="", max_length=500)
    """What the claim says."""
    found: str = Field(default="", max_length=500)
    """What the run gave."""
    agrees: bool | None = None
    """Whether they agree; null where it can't be said."""


class Evidence(BaseModel):
    """A place in the artifacts and what it shows."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)

    file: str = Field(max_length=500)
    """Path below the artifact directory."""
    quote: str = Field(default="", max_length=2000)
    """Text or number quoted from the file."""
    shows: str = Field(default="", max_length=1000)
    """What it shows."""


class AnalysisResult(BaseModel):
    """The whole of `analysis_result.json`."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)

    reproduced: bool
    """True if the evidence supports the claim as stated, false if it contradicts it or could not be obtained."""
    summary: str = Field(default="", max_length=5000)
    """Two or three sentences for a reader."""
    results: list[ExtractedResult] = Field(default=[], max_length=500)
    """Every number that the claim rests on, as measured by this run."""
    comparison: list[Comparison] = Field(default=[], max_length=200)
    """Each part of the claim beside what was found."""
    evidence: list[Evidence] = Field(default=[], max_length=200)
    """Where the findings can be seen."""


def read_analysis(artifacts: Path) -> tuple[AnalysisResult | None, str | None]:
    """The analysis in `artifacts`, or None and why: one of our sentences, safe to show.

    Strict: a boolean, a string, NaN or an infinity in place of a number is a malformed file, not a number.
    """
    try:
        data = read_within(artifacts, ANALYSIS, limit=MAX_BYTES + 1)
    except FileNotFoundError:
        return None, MISSING
    except UnsafePathError:
        return None, f"{ANALYSIS} is a link or not a readable plain file, so it was not read"
    if len(data) > MAX_BYTES:
        return None, f"{ANALYSIS} is longer than {MAX_BYTES // 1_000_000} MB, so it was not read"
    try:
        return AnalysisResult.model_validate_json(data, strict=True), None
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == "json_invalid":
            return None, f"{ANALYSIS} is not valid JSON"
        field, problem, _ = explain(error)[0]
        return None, f"{ANALYSIS}: {field[:200]}: {problem[:200]}"
