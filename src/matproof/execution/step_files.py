"""The files of one step job, and the record of a try whose job could not tell its end itself."""

import time
from pathlib import Path

from matproof.core.clock import timestamp
from matproof.core.files import stat_within, write_json
from matproof.execution.step import EXCERPT_CHARACTERS, StepResult
from matproof.execution.step_job import StepDone, begun_file, read_begun
from matproof.execution.steps import StepTry
from matproof.records.places import AttemptPlace
from matproof.records.run import StepAttempt, StepEnding

_TAIL_BYTES = 16_000


class JobFiles:
    """One submitted job and its files."""

    def __init__(self, number: str, result: Path, file: Path) -> None:
        self.number = number
        self.result = result
        self._file = file

    def note(self, *, over: bool) -> None:
        """Keep the job's number, for whoever must cancel it after this process."""
        write_json(self._file, {"job": self.number, "over": over})

    @property
    def log(self) -> str:
        """The end of what the job itself and Slurm said; nothing that a step wrote goes there."""
        file = self._file.parent / "submitit" / f"{self.number}_0_log.err"
        try:
            return file.read_bytes()[-_TAIL_BYTES:].decode(errors="replace")
        except OSError:
            return ""

    @property
    def last_words(self) -> str:
        """The last line of that."""
        return next((line.strip() for line in reversed(self.log.splitlines()) if line.strip()), "it said nothing")


def at_deadline(place: AttemptPlace, attempt: StepTry, job: JobFiles, done: StepDone | None) -> StepResult:
    """The record of a try that the walltime of the run ended."""
    if read_begun(job.result) is None:
        reason = "it still waited in Slurm's queue when the walltime of the run was over"
        return lost(place, attempt, job, "cancelled", reason, cut=True)
    return lost(place, attempt, job, "timeout", "the walltime of the run was over", done=done, cut=True)


def lost(
    place: AttemptPlace,
    attempt: StepTry,
    job: JobFiles | None,
    ending: StepEnding,
    reason: str,
    *,
    done: StepDone | None = None,
    cut: bool = False,
) -> StepResult:
    """The record of a try whose job could not tell its end itself, with what it did tell."""
    told = done.attempt if done is not None else None
    if told is not None and done is not None:
        attempted = told.model_copy(update={"ending": ending, "reason": reason})
        return StepResult(attempt=attempted, stdout=done.stdout, stderr=done.stderr, report=done.sandbox, cut=cut)
    begun = None if job is None else read_begun(job.result)
    command = attempt.command
    out, err = (place.steps / command.id / f"{attempt.number}.{kind}" for kind in ("out", "err"))
    record = StepAttempt(
        number=attempt.number,
        command=command.command,
        workdir=command.workdir,
        started=timestamp() if begun is None else begun.started,
        seconds=0.0 if job is None else _seconds(job, begun is not None),
        returncode=None,
        ending=ending,
        reason=reason,
        job=None if job is None else job.number,
        host=None if begun is None else begun.host,
        stdout_log=str(out.relative_to(place.root)),
        stderr_log=str(err.relative_to(place.root)),
        missing_outputs=[name for name in command.outputs if stat_within(place.artifacts, name) is None],
    )
    return StepResult(attempt=record, stdout=_tail(out)[-EXCERPT_CHARACTERS:], stderr=_tail(err), cut=cut)


def _seconds(job: JobFiles, begun: bool) -> float:
    """Since the job began, by the clock of the file system; 0 where it never did."""
    if not begun:
        return 0.0
    return round(max(0.0, time.time() - begun_file(job.result).stat().st_mtime), 3)


def _tail(log: Path) -> str:
    try:
        return log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace")
    except OSError:
        return ""
