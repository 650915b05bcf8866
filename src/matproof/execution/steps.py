"""Where a step runs, behind one Protocol: `LocalSteps` here, `slurm_steps.SlurmSteps` in jobs of their own."""

import threading
from dataclasses import dataclass, replace
from typing import Protocol

from matproof.core.clock import elapsed
from matproof.execution.step import StepCommand, StepResult, run_step
from matproof.records.places import AttemptPlace
from matproof.sandbox.engine import SandboxSpec, open_sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one step may use, within what the claim may."""

    cpus: int
    memory_gb: float
    """Gigabytes (10^9 bytes)."""
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTry:
    """One try of one step."""

    command: StepCommand
    number: int
    """Counted from one, lost tries too."""
    needs: Needs
    sandbox: SandboxSpec
    deadline: float
    """When the steps of the run must be over, on the clock of `core.clock.elapsed`."""
    cancel: threading.Event
    """Set where the run ends before its steps."""


class StepExecutor(Protocol):
    """Runs the steps of one attempt, several at a time."""

    def run(self, attempt: StepTry) -> StepResult:
        """Run it to its end; when this returns, nothing of it is alive.

        Raises InfrastructureError where it could not be run for reasons that are not its own, and RefusedError where
        the sandbox can't enforce what is asked.
        """

    def close(self) -> None:
        """No more steps will come; what is still alive is ended."""


class LocalSteps:
    """Runs steps on this machine, below this process."""

    def __init__(self, place: AttemptPlace, *, allow_weaker: bool) -> None:
        self._place = place
        self._allow_weaker = allow_weaker

    def run(self, attempt: StepTry) -> StepResult:
        """See `StepExecutor.run`."""
        sandbox = open_sandbox(attempt.sandbox, allow_weaker=self._allow_weaker)
        left = attempt.deadline - elapsed()
        command = attempt.command
        result = run_step(
            replace(command, timeout_s=max(0.0, min(command.timeout_s, left))),
            number=attempt.number,
            sandbox=sandbox,
            artifacts=self._place.artifacts,
            logs=self._place.steps,
            cancel=attempt.cancel,
        )
        return replace(result, cut=result.attempt.ending == "timeout" and left < command.timeout_s)

    def close(self) -> None:
        """See `StepExecutor.close`: each step has ended when `run` returns."""
