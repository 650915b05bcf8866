"""What every agent is given and what it answers. An agent is a small module behind one Protocol."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from matproof.claims.loading import Claim
from matproof.config.settings import Setting
from matproof.core.clock import elapsed
from matproof.models.gateway import Gateway
from matproof.records.places import AttemptPlace
from matproof.records.run import Phase, RunOutcome, SandboxReport, Step
from matproof.sandbox.engine import Engine
from matproof.traces.events import TraceWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One attempt at one claim, as its agent gets it."""

    claim: Claim
    setting: Setting
    place: AttemptPlace
    gateway: Gateway
    socket: Path
    trace: TraceWriter
    deadline: float
    """When the run must be over, on the clock of `core.clock.elapsed`."""
    walltime_s: float
    """Length of the whole run, in seconds."""
    policies: Path
    """Directory of the isolation policies."""
    allow_weaker: bool
    tell: Callable[[str], None]
    """Takes one line of progress."""
    engine: Engine = field(default_factory=Engine)
    """What holds every sandbox of the run."""
    context_window: int | None = None
    """Tokens that the setting's model can read, by models.yaml; None is unknown."""

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.deadline - elapsed())

    @property
    def reserve_s(self) -> float:
        """Seconds kept for writing up: a tenth of the run, from 20 s to 5 min, and never more than a third."""
        return min(300.0, max(20.0, 0.1 * self.walltime_s), self.walltime_s / 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What the agent did, without judging it."""

    outcome: RunOutcome
    reason: str | None
    phases: tuple[Phase, ...]
    steps: tuple[Step, ...] = ()
    sandbox: SandboxReport | None = None
    versions: dict[str, str] = field(default_factory=dict)
    trace_disagreements: tuple[str, ...] | None = None
    """Where a client's own account differs from the gateway's; None where there was nothing to compare."""


class Agent(Protocol):
    """Works on a claim until it is done, stopped or lost."""

    name: str
    has_steps: bool
    """Whether it plans steps that program code runs, so that they can be jobs of their own."""

    def run(self, work: Work) -> AgentReport:
        """Do the work. Raises InfrastructureError or RefusedError; everything else is a report."""
        ...
