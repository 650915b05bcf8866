"""Running one step once: a command in a sandbox, its logs kept, its outputs looked for, new files listed.

No model takes part. A step that fails is a result, also where it made itself impossible to run; only a sandbox that
can't start is an error (InfrastructureError).
"""

import errno
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from matproof.core.clock import timestamp
from matproof.core.files import give_back, stat_within, write_text
from matproof.core.processes import Finished
from matproof.execution.appeared import appeared, marks
from matproof.records.run import SandboxReport, StepAttempt
from matproof.sandbox.engine import Sandbox

LOG_BYTES = 20_000_000
EXCERPT_CHARACTERS = 4_000
CANNOT_RUN = 126
"""Exit status of a command that no program can be given, as a shell's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCommand:
    """A command line for bash, where to run it and what it should leave. Paths are relative to the artifacts."""

    id: str
    command: str
    workdir: str
    timeout_s: float
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """One attempt for the record, with what a diagnosis reads of its logs."""

    attempt: StepAttempt
    stdout: str
    stderr: str
    report: SandboxReport | None = None
    """What its sandbox enforced; None where nobody could tell any more."""
    cut: bool = False
    """Whether the walltime of the run ended it, not its own timeout."""

    @property
    def succeeded(self) -> bool:
        """Status 0, within its time, with every expected output there."""
        attempt = self.attempt
        return attempt.ending == "exited" and attempt.returncode == 0 and not attempt.missing_outputs

    @property
    def failure(self) -> str:
        """Why it did not succeed, in words."""
        attempt = self.attempt
        because = f": {attempt.reason}" if attempt.reason else ""
        if attempt.ending == "timeout":
            return f"stopped at its timeout after {attempt.seconds:.0f} s{because}"
        if attempt.ending == "memory":
            return f"killed for want of memory{because}"
        if attempt.ending in ("node", "preempted"):
            return f"lost, and not by its own fault{because}"
        if attempt.ending == "cancelled":
            return f"cancelled{because}"
        if attempt.returncode != 0:
            return f"ended with status {attempt.returncode}"
        return f"did not leave {', '.join(attempt.missing_outputs)}"


def run_step(
    step: StepCommand,
    *,
    number: int,
    sandbox: Sandbox,
    artifacts: Path,
    logs: Path,
    cancel: threading.Event,
) -> StepResult:
    """Run attempt `number` of `step`; logs go to `logs/<id>/<number>.{out,err}`.

    Afterwards the artifact directory can be entered again, whatever the step did to its mode.
    """
    before = marks(artifacts)
    stdout, stderr = (logs / step.id / f"{number}.{ending}" for ending in ("out", "err"))
    started = timestamp()
    try:
        finished = sandbox.run(
            _shell(step),
            timeout_s=step.timeout_s,
            stdout_to=stdout,
            stderr_to=stderr,
            max_log_bytes=LOG_BYTES,
            cancel=cancel,
        )
    except (ValueError, OSError) as error:
        finished = _refused(step, error)
        write_text(stdout, finished.stdout)
        write_text(stderr, finished.stderr)
    finally:
        give_back(artifacts)
    names, total = appeared(before, marks(artifacts), expected=step.outputs)
    ending: Literal["exited", "timeout", "cancelled"] = finished.ending
    attempt = StepAttempt(
        number=number,
        command=step.command,
        workdir=step.workdir,
        started=started,
        seconds=round(finished.seconds, 3),
        returncode=finished.returncode,
        ending=ending,
        stdout_log=str(stdout.relative_to(logs.parent)),
        stderr_log=str(stderr.relative_to(logs.parent)),
        new_outputs=names,
        new_outputs_total=total,
        missing_outputs=[name for name in step.outputs if stat_within(artifacts, name) is None],
    )
    return StepResult(
        attempt=attempt,
        stdout=finished.stdout[-EXCERPT_CHARACTERS:],
        stderr=finished.stderr,
        report=sandbox.report,
    )


def _shell(step: StepCommand) -> Sequence[str]:
    """argv of the step: bash reads the command as one argument, so nothing of ours is quoted into it."""
    return ["bash", "-c", 'mkdir -p -- "$1" && cd -- "$1" && eval "$2"', "step", step.workdir, step.command]


def _refused(step: StepCommand, error: ValueError | OSError) -> Finished:
    """How a step ended whose arguments the system does not take; any other error is raised again."""
    if isinstance(error, OSError) and error.errno not in (errno.E2BIG, errno.EINVAL):
        raise error
    return Finished(
        argv=(),
        returncode=CANNOT_RUN,
        ending="exited",
        seconds=0.0,
        stdout="",
        stderr=f"the command of {len(step.command):,} characters can't be run: {error}\n",
    )
