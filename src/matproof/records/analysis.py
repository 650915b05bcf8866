"""`analysis_result.json`: what an agent says it found. Hostile data: parsed, bounded, never executed or trusted."""

from pydantic import BaseModel, ConfigDict, Field


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
