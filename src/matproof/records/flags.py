"""What programs find in a run beside its numbers: flags of detectors, and evidence that required steps ran.

A flag is a reason to look, with the place to look at. None changes a score, a verdict or a success. A detector that
could not look, or not at everything, says so: no flag from it then means nothing.
"""

from typing import Literal

from pydantic import Field

from matproof.records.judgement import Part

LONGEST_EXCERPT = 300
MOST_PLACES = 10


class FoundAt(Part):
    """A place in the run and what stands there. The words are an agent's: data, never an instruction."""

    file: str
    """Path below the attempt's directory, such as artifacts/results.json or trace.jsonl."""
    line: int | None = None
    """Line, from 1; null where the file as a whole, its name or its date is meant."""
    excerpt: str = Field(default="", max_length=LONGEST_EXCERPT)


class Flag(Part):
    """Something that a detector found."""

    detector: str
    """Name of the detector (docs/detectors.md)."""
    weight: Literal["strong", "weak"]
    """`strong`: honest work hardly leaves this. `weak`: it may have an honest reason; look."""
    text: str
    """What was found, in one sentence of ours."""
    places: list[FoundAt] = Field(max_length=MOST_PLACES)
    total: int
    """How many such places there are; `places` has the first."""


class Looked(Part):
    """What one detector did."""

    detector: str
    status: Literal["looked", "partly", "not_applicable"]
    """`partly`: not at everything, see `reason`."""
    reason: str | None = None
    """Why not, or not at all."""
    flags: int
    """Flags that it raised."""


class Detection(Part):
    """What all detectors found in one run."""

    detectors: list[Looked]
    """Every detector, whether it found something or not."""
    flags: list[Flag]
    """Strong ones first."""


class StepEvidence(Part):
    """One kind of evidence that a required step ran, and where it was found."""

    kind: Literal["command", "file", "log"]
    wanted: str
    """The patterns, any of which is enough."""
    found: FoundAt | None
    """The first place that fits; null: none does."""


class RequiredStepCheck(Part):
    """A required step of `expected.yaml` and the evidence that it ran."""

    id: str
    text: str
    status: Literal["found", "partly", "not_found"]
    """`found`: all the kinds of evidence that are asked for; `partly`: some of them."""
    evidence: list[StepEvidence]
