"""What a step's Slurm job is told, what it does on its node, and what it leaves: plain files in the attempt's `jobs`.

submitit starts `work` with the path of an order; that path is all that is pickled. The order and the result are JSON
which pydantic checks: the submitter never unpickles anything, and no sandbox shows the directory they are in, so that
nothing that an agent writes is ever read as one of them. A job ends itself when its run is over or gave no sign of life
for `orphan_s` seconds, whatever became of the process that submitted it.
"""

import os
import signal
import socket
import threading
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import InfrastructureError, MatproofError, RefusedError
from matproof.core.files import read_model, write_json
from matproof.execution.step import StepCommand, StepResult, run_step
from matproof.records.run import SandboxReport, StepAttempt
from matproof.sandbox.engine import SandboxSpec, open_sandbox

ALIVE = "alive"
"""File of which a run changes the text again and again, so that its jobs see that it lives; no clocks are compared."""
OVER = "over"
"""What stands there at the end."""
_LOOK_S = 1.0
_HEARING_S = 1.0
_BY_SIGNAL = (-signal.SIGTERM, -signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGKILL)
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
"""Which graphics processors the job was given, as Slurm says it."""


class StepOrder(BaseModel):
    """`<step>-<number>.order.json`: everything that the job needs to know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: StepCommand
    number: int
    sandbox: SandboxSpec
    artifacts: Path
    logs: Path
    result: Path
    orphan_s: float
    gpus: int
    allow_weaker: bool


class StepBegun(BaseModel):
    """`<step>-<number>.begun.json`: the job's first word."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str
    started: str
    """ISO 8601, UTC, by the node's clock."""


class StepDone(BaseModel):
    """`<step>-<number>.result.json`: the job's last word. Either an attempt, or an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attempt: StepAttempt | None = None
    stdout: str = ""
    stderr: str = ""
    sandbox: SandboxReport | None = None
    orphaned: bool = False
    """Whether the job ended itself since nothing showed that its run still lived."""
    error: str | None = None
    """Why there was no attempt."""
    refused: bool = False
    """Whether that is for good: the sandbox can't enforce what is asked."""


def begun_file(result: Path) -> Path:
    """Where the job says that it began."""
    return result.with_name(result.name.replace(".result.json", ".begun.json"))


def work(order_file: str) -> None:
    """Run the ordered step in its sandbox on this node and write what came of it. Called by submitit in the job."""
    order = read_model(StepOrder, Path(order_file))
    if _is_over(order):
        return
    told = threading.Event()
    # Slurm's first warning, of which submitit would take no notice; what follows KillWait later can't be heard.
    signal.signal(signal.SIGTERM, lambda number, frame: told.set())
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    write_json(begun_file(order.result), StepBegun(host=_node(), started=timestamp()))
    watching = _Watching(order, told)
    watching.start()
    try:
        done = _done(_as_told(_run(order, told), told))
    except MatproofError as error:
        done = StepDone(error=str(error), refused=isinstance(error, RefusedError))
    except (OSError, ValueError) as error:
        done = StepDone(error=f"{type(error).__name__}: {error}")
    if watching.orphaned:
        done = done.model_copy(update={"orphaned": True})
    write_json(order.result, done)


def _run(order: StepOrder, cancel: threading.Event) -> StepResult:
    sandbox = open_sandbox(with_devices(order.sandbox, dict(os.environ), order.gpus), allow_weaker=order.allow_weaker)
    return run_step(
        order.step,
        number=order.number,
        sandbox=sandbox,
        artifacts=order.artifacts,
        logs=order.logs,
        cancel=cancel,
    )


def _as_told(result: StepResult, told: threading.Event) -> StepResult:
    """The result, as cancelled where the job was told to end.

    Slurm signals every process of a job, so the step's may end of it a moment before this one hears of it.
    """
    ended = result.attempt.returncode
    if result.attempt.ending != "exited" or ended not in _BY_SIGNAL or not told.wait(_HEARING_S):
        return result
    return replace(result, attempt=result.attempt.model_copy(update={"ending": "cancelled"}))


def with_devices(spec: SandboxSpec, environment: dict[str, str], gpus: int) -> SandboxSpec:
    """The sandbox that tells the step which of the node's graphics processors are its own; none where it has none."""
    if gpus:
        told = {name: environment[name] for name in _VISIBLE if name in environment}
    else:
        told = {"CUDA_VISIBLE_DEVICES": ""}
    return replace(spec, environment={**spec.environment, **told})


def _done(result: StepResult) -> StepDone:
    attempt = result.attempt.model_copy(
        update={
            "job": os.environ.get("SLURM_JOB_ID"),
            "host": _node(),
        }
    )
    return StepDone(attempt=attempt, stdout=result.stdout, stderr=result.stderr, sandbox=result.report)


def _node() -> str:
    """The node as Slurm calls it."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def _is_over(order: StepOrder) -> bool:
    return _sign(order.result.parent / ALIVE) == OVER


def _sign(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


class _Watching(threading.Thread):
    """Ends the step when its run is over, or shows no life."""

    def __init__(self, order: StepOrder, told: threading.Event) -> None:
        super().__init__(name="watching", daemon=True)
        self.orphaned = False
        self._order = order
        self._told = told

    def run(self) -> None:
        """Look again and again until there is a reason to end."""
        file = self._order.result.parent / ALIVE
        last, since = _sign(file), elapsed()
        while not self._told.wait(min(_LOOK_S, self._order.orphan_s / 3)):
            sign = _sign(file)
            if sign is not None and sign != last:
                last, since = sign, elapsed()
            self.orphaned = elapsed() - since > self._order.orphan_s
            if sign == OVER or self.orphaned:
                self._told.set()


def read_done(file: Path) -> StepDone | None:
    """What a job left; None as long as it left nothing. Raises InfrastructureError where that can't be read."""
    if file.name not in os.listdir(file.parent):  # noqa: PTH208 - a listing is fresh where NFS remembers absences
        return None
    try:
        return read_model(StepDone, file)
    except MatproofError as error:
        raise InfrastructureError(f"a step's job left a result that can't be read: {error}") from error


def read_begun(result: Path) -> StepBegun | None:
    """What a job said first; None where it said nothing."""
    try:
        return StepBegun.model_validate_json(begun_file(result).read_bytes())
    except (OSError, ValueError):
        return None
