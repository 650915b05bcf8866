"""The plan: what a planning session answers, and everything that can be wrong with it."""

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from matproof.agents.inside import ARTIFACTS
from matproof.agents.orchestrated.command_line import departure

Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
StepId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


def refuse_departure(command: str, workdir: str | None) -> None:
    """Raise ValueError, in words for the model, where a command would work outside the artifact directory."""
    if (how := departure(command, workdir, ARTIFACTS)) is not None:
        raise ValueError(
            f"the command leaves the artifact directory: it {how}. Work below {ARTIFACTS}: copy there what you need "
            "from elsewhere, or read it by its absolute path"
        )


class PlannedStep(BaseModel):
    """One step: a command that program code runs, without a model."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: StepId
    """Lower-case identifier, unique in the plan."""
    purpose: str = Field(min_length=1, max_length=500)
    """What the step does."""
    proves: str = Field(min_length=1, max_length=500)
    """Which part of the claim its result speaks to, or what it prepares."""
    command: str = Field(min_length=1, max_length=4000)
    """Command line for bash, run in `workdir`."""
    workdir: str = Field(default=".", max_length=300)
    """Directory below the artifact directory, relative to it."""
    depends_on: list[StepId] = Field(default=[], max_length=100)
    """Steps that must have succeeded before."""
    timeout_s: int = Field(gt=0, le=72 * 3600)
    """Longest run time, in seconds."""
    outputs: list[Name] = Field(default=[], max_length=100)
    """Files the step must leave, relative to the artifact directory."""
    cpus: int = Field(default=1, ge=1, le=1024)
    """Cores it uses."""
    memory_gb: float | None = Field(default=None, gt=0)
    """Memory it needs, in gigabytes; null is as much as the run may use."""
    gpus: int = Field(default=0, ge=0, le=64)
    """Graphics processors it uses."""

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        for field, values in (("command", [self.command]), ("workdir", [self.workdir]), ("outputs", self.outputs)):
            if any("\0" in value for value in values):
                raise ValueError(f"{field} holds a null byte: no program can be given one")
        return self

    @model_validator(mode="after")
    def _stays_inside(self) -> Self:
        for name in (self.workdir, *self.outputs):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise ValueError(f"{name!r} is outside the artifact directory: use a path relative to it")
        refuse_departure(self.command, self.workdir)
        return self


class Plan(BaseModel):
    """The whole plan. Cycles, unknown dependencies and duplicate ids are errors of the plan."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    approach: str = Field(min_length=1, max_length=5000)
    """How the claim will be tested, in a few sentences."""
    steps: list[PlannedStep] = Field(min_length=1, max_length=100)
    """The steps, in any order."""

    @model_validator(mode="after")
    def _is_a_graph(self) -> Self:
        ids = [step.id for step in self.steps]
        if duplicate := next((name for name in ids if ids.count(name) > 1), None):
            raise ValueError(f"two steps have the id {duplicate!r}")
        for step in self.steps:
            if unknown := next((name for name in step.depends_on if name not in ids), None):
                raise ValueError(f"step {step.id!r} depends on {unknown!r}, which is not in the plan")
        try:
            self.graph().prepare()
        except CycleError as error:
            raise ValueError(f"steps depend on each other in a circle: {' → '.join(error.args[1])}") from error
        return self

    def graph(self) -> TopologicalSorter[str]:
        """The steps by their dependencies."""
        return TopologicalSorter({step.id: step.depends_on for step in self.steps})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that one step may ask for."""

    cpus: int
    memory_gb: float
    gpus: int
    timeout_s: float | None = None
    """None: the walltime of the run alone bounds it."""

    def excess(self, step: PlannedStep) -> str | None:
        """What of a step's needs is too much, in words; None where nothing is."""
        for word, asked, most in (
            ("cpus", step.cpus, self.cpus),
            ("memory_gb", step.memory_gb, self.memory_gb),
            ("gpus", step.gpus, self.gpus),
            ("timeout_s", step.timeout_s, self.timeout_s),
        ):
            if asked is not None and most is not None and asked > most:
                return f"step {step.id!r} asks for {word} {asked:g}, and {most:g} is the most that a step may have"
        return None


def bounded(bounds: Bounds) -> type[Plan]:
    """A plan of which a step that asks for more than `bounds` is an error."""

    class BoundedPlan(Plan):
        model_config = ConfigDict(title="Plan")

        @model_validator(mode="after")
        def _is_within(self) -> Self:
            if excess := next((words for step in self.steps if (words := bounds.excess(step))), None):
                raise ValueError(excess)
            return self

    return BoundedPlan
