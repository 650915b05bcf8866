"""Agent settings (`config/settings/*.yaml`) and judges (`config/judges/*.yaml`)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from matproof.config.base import HandWritten
from matproof.config.sandbox import SandboxChoice
from matproof.config.steps import Steps
from matproof.core.node_features import NodeFeatures


class Caps(HandWritten):
    """Amounts that may be spent. Null is unlimited."""

    tokens: int | None = Field(default=None, gt=0)
    """Input and output tokens together."""
    cost_usd: float | None = Field(default=None, gt=0)
    """US dollars by our own price table."""
    gpu_h: float | None = Field(default=None, gt=0)
    """Hours of graphics processors: how many the claim asks for, times how long its runs took."""


class Limits(Caps):
    """What one run may spend. Null is unlimited."""

    requests: int | None = Field(default=None, gt=0)
    """Model requests."""
    walltime_h: float | None = Field(default=None, gt=0)
    """Hours; the claim's own limit holds where it is shorter."""


class Answers(HandWritten):
    """Who answers: a model of the table, or a script in its place."""

    model: str
    """A name in models.yaml; for a scripted setting, the name that the client is told."""
    script: str | None = None
    """Path of a script that answers in place of a provider; `{claim}` stands for the claim's directory name."""
    replay: Literal["strict", "lenient"] = "strict"
    """Where a run drifts from a recorded script: stop it at that turn, or go on and report it."""
    effort: Literal["low", "medium", "high"] | None = None
    """Reasoning effort, where the model takes one."""
    limits: Limits = Limits()
    """What one run may spend."""
    allow_weaker: bool = False
    """Whether to run where the sandbox can't enforce the policy; recorded in every result."""
    sandbox: SandboxChoice | None = None
    """Engine and image; null is what `sandbox.yaml` in the directory of the configuration says, or bubblewrap."""

    @property
    def scripted(self) -> bool:
        """Whether a script answers."""
        return self.script is not None


Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""
Value = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class Needs(HandWritten):
    """Programs without which a setting is left out, by name, of a campaign that says `skip_missing_software`."""

    commands: list[str] = []
    """Names of programs on PATH, or paths from the campaign's directory."""
    remedy: str | None = None
    """What puts them in place, such as `make agents`."""


class Setting(Answers):
    """One agent setting."""

    agent: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
    """Which agent: a name that an installed package has an entry point for in the group `matproof.agents`."""
    client_version: str | None = None
    """Version that the agent's command-line client must have; null is any. The one in use is in every result."""
    environment: dict[Variable, Value] = {}
    """Variables of everything that the agent runs, beside the policy's. It can read them: nothing secret."""
    requires: Needs = Needs()
    """Software that not every machine has."""
    claims: list[str] | None = None
    """Directory names of the only claims this setting runs on; null is all of the campaign's."""
    step_attempts: int = Field(default=3, ge=1, le=10)
    """Tries of one step before it counts as failed."""
    constraint: NodeFeatures | None = None
    """Features of the node that a run needs, beside those that the claim names."""
    steps: Steps = Steps()
    """Where the steps of a plan run."""


class Judge(HandWritten):
    """One judge: `checks` compares by program, `agent` browses the run with a model."""

    kind: Literal["checks", "agent"]
    backend: Literal["claude", "responses"] = "claude"
    """What holds the session: the Claude Agent SDK, or the openai SDK with the Responses API and tools of our own."""
    repeats: int = Field(default=1, ge=1, le=15)
    """How often a run is judged; each judging is kept, and the score is their median."""
    citation_threshold: float = Field(default=0.8, ge=0, le=1)
    """Share of citations that must be verified; below it the judge is asked again once, then marked weak evidence."""
    answers: Answers | None = None
    """Who answers, for `agent`; its limits hold for one judging."""
    policy: str = "sandbox/judge.yaml"
    """Isolation policy."""

    @model_validator(mode="after")
    def _agent_needs_a_model(self) -> Self:
        if (self.kind == "agent") != (self.answers is not None):
            raise ValueError("a judge of kind agent has `answers`, one of kind checks has none")
        if self.kind == "checks" and self.repeats > 1:
            raise ValueError("`repeats` is for judges of kind agent: a program says the same each time")
        return self
