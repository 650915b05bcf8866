"""The files of a claim package as typed models (spec: task instance x = (q, p, m, a)).

`ClaimMetadata` is `meta/claim.yaml`, `Expected` is `reference/expected.yaml`. Both are written by people: unknown
fields are errors, and every message says what to write instead. Nothing here is ever shown to an agent except the
names and units in `ClaimMetadata.quantities`, which exist to be shown.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from matproof.core.node_features import NodeFeatures

Subdomain = Literal["dft", "md", "statml", "ddd", "unknown"]
ReproductionType = Literal["from_paper", "from_artifact", "artifact_interpretation", "unknown"]
Verification = Literal["scalar", "range", "comparative", "structural", "figure", "unknown"]
Outcome = Literal["supported", "contradicted"]
Sign = Literal["positive", "negative", "zero"]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
"""An identifier that is also safe as a file name."""


class HandWritten(BaseModel):
    """Base of the models that people fill in: unknown fields are errors, NaN and infinities too."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, use_attribute_docstrings=True)


class Resources(HandWritten):
    """What one run of the claim may use."""

    cpus: int = Field(default=1, ge=1, le=1024)
    """Processor cores."""
    memory_gb: float = Field(default=2.0, gt=0)
    """Memory in gigabytes (10^9 bytes)."""
    gpus: int = Field(default=0, ge=0)
    """Graphics processors."""
    walltime_h: float = Field(default=1.0, gt=0)
    """Longest wall time of the whole run, in hours."""
    constraint: NodeFeatures | None = None
    """Features of the node that a run needs, by the names that the site's Slurm gives them."""


class Requires(HandWritten):
    """Software that pip can't bring: the claim is skipped by name where a command is missing."""

    commands: list[str] = []
    """Programs that must be on PATH, such as `pw.x`."""
    apt: list[str] = []
    """Debian packages that provide them."""


class PublicQuantity(HandWritten):
    """A quantity that the agent is asked to report by this name; its value stays hidden."""

    name: Name
    unit: str = ""
    """A unit pint knows; empty for a pure number."""


class ClaimMetadata(HandWritten):
    """`meta/claim.yaml`."""

    id: Name
    """Unique among all claims."""
    title: str = Field(min_length=1)
    """One line for tables and reports; hidden from the agent."""
    subdomain: Subdomain = "unknown"
    """Field of computational materials science."""
    reproduction_type: ReproductionType = "unknown"
    """What the agent starts from."""
    verification: Verification = "unknown"
    """How the claim is verified."""
    software: list[str] = []
    """Programs and packages that the procedure uses."""
    resources: Resources = Resources()
    """Limits of one run."""
    requires: Requires = Requires()
    """Software that pip can't bring."""
    quantities: list[PublicQuantity] = []
    """Names and units shown to the agent so that its results can be compared by program; optional."""
    allow_hosts: list[str] = []
    """Hosts that the run may reach beside the model gateway; an engine that can't enforce this refuses to run."""


class Quantity(HandWritten):
    """One expected number: a value with exactly one tolerance, or an interval."""

    name: Name
    value: float | None = None
    """Expected value, in `unit`."""
    interval: tuple[float, float] | None = None
    """Smallest and largest accepted value, in `unit`."""
    unit: str = ""
    """A unit pint knows; empty for a pure number."""
    abs_tol: float | None = Field(default=None, ge=0)
    """Accepted distance from `value`, in `unit`."""
    rel_tol: float | None = Field(default=None, ge=0)
    """Accepted distance from `value` as a fraction of it."""
    aliases: list[str] = []
    """Other names under which an agent may report it."""
    stated: bool = False
    """For a contradicted claim: the claim states this value rightly, so it may appear in what the agent sees."""

    @model_validator(mode="after")
    def _one_way_to_compare(self) -> Self:
        if (self.value is None) == (self.interval is None):
            raise ValueError("give either value (with abs_tol or rel_tol) or interval")
        if self.value is not None and (self.abs_tol is None) == (self.rel_tol is None):
            raise ValueError("give exactly one of abs_tol and rel_tol beside value")
        if self.interval is not None and (self.abs_tol is not None or self.rel_tol is not None):
            raise ValueError("an interval takes no tolerance")
        if self.interval is not None and self.interval[0] > self.interval[1]:
            raise ValueError("the interval's first number must not exceed its second")
        return self


class Statement(HandWritten):
    """A qualitative expectation, for the judge to read."""

    id: Name
    text: str = Field(min_length=1)


Pattern = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\n]*[^*\s][^\n]*$")]
"""Text to look for on one line; `*` stands for any characters. No regular expression: what an agent wrote is searched
in linear time."""


class RequiredStep(HandWritten):
    """A step of the procedure that leaves evidence: each kind that is given must be found, by any of its patterns."""

    id: Name
    text: str = Field(min_length=1)
    """What the step is, for readers."""
    commands: list[Pattern] = []
    """Looked for in the command lines that were executed."""
    files: list[Pattern] = []
    """Names below the artifact directory, `*` within a part of the path, `**` over several."""
    min_bytes: int = Field(default=1, ge=0)
    """Smallest size of such a file."""
    logs: list[Pattern] = []
    """Looked for in the captured logs of steps, then in the text files among the artifacts that are no programs."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not (self.commands or self.files or self.logs):
            raise ValueError("give commands, files or logs that show it")
        return self


class Expected(HandWritten):
    """`reference/expected.yaml`: what a sound reproduction finds.

    For a contradicted claim the numbers are those that the evidence gives, not those that the claim states.
    """

    outcome: Outcome
    """Whether the evidence supports the claim."""
    quantities: list[Quantity] = []
    """Expected numbers."""
    orderings: list[Annotated[list[Name], Field(min_length=2)]] = []
    """Each a list of quantity names from the smallest value to the largest."""
    signs: dict[Name, Sign] = {}
    """Expected sign of named quantities."""
    statements: list[Statement] = []
    """Qualitative expectations, for the judge."""
    required_steps: list[RequiredStep] = []
    """Steps without which the claim can't be reproduced; a program looks for evidence that they ran."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        names = [quantity.name for quantity in self.quantities]
        if len(names) != len(set(names)):
            raise ValueError("two quantities have one name")
        steps = [step.id for step in self.required_steps]
        if len(steps) != len(set(steps)):
            raise ValueError("two required steps have one id")
        return self
