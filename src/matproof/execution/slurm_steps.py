"""Steps as Slurm jobs: submitted, waited for, and ended with their run.

A step's timeout is kept by its job and begins when the step does: waiting in the queue counts against the walltime of
the run alone. Jobs are never requeued by Slurm, so that each try is a try of ours with logs of its own. What is decided
about a try, it is decided by the result that its job left or, where it left none, by the final state that Slurm tells.
"""

import contextlib
import itertools
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

from matproof.config.steps import Steps
from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError, RefusedError
from matproof.core.files import give_back, write_json, write_text
from matproof.core.processes import run
from matproof.core.slurm import GONE, meaning
from matproof.execution.step import StepResult
from matproof.execution.step_files import JobFiles, at_deadline, lost
from matproof.execution.step_job import ALIVE, OVER, StepDone, StepOrder, read_done
from matproof.execution.step_submission import JobNames, parameters, submit_with_patience
from matproof.execution.step_watch import Seen, StepWatch
from matproof.execution.steps import StepTry
from matproof.records.places import AttemptPlace
from matproof.records.run import StepEnding

LATENCY_S = 60.0
"""How long a shared file system may take to show what a node wrote, and Slurm to know a job again."""
_END_S = 90.0
"""How long a cancelled job may take to be over."""
_MEMORY = re.compile(r"^slurmstepd.*(?:exceeded .*memory limit|oom[-_ ]kill)", re.IGNORECASE | re.MULTILINE)
_HELD = "launch failed requeued held"
_NODE = ("NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL")


class SlurmSteps:
    """Runs the steps of one attempt as jobs; what is theirs is below the attempt's `jobs`."""

    def __init__(
        self,
        steps: Steps,
        place: AttemptPlace,
        *,
        constraint: str | None,
        allow_weaker: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._steps = steps
        self._place = place
        self._constraint = constraint
        self._allow_weaker = allow_weaker
        self._tell = tell
        self._watch = StepWatch(steps.poll_s, tell)
        self._submitting = threading.Lock()
        self._life = _Life(place.jobs / ALIVE, steps.orphan_s / 5)

    def run(self, attempt: StepTry) -> StepResult:
        """See `StepExecutor.run`."""
        self._life.begin()
        claim, setting, repeat = self._place.run.names
        name = f"{attempt.command.id}-{attempt.number}"
        result = self._place.jobs / f"{name}.result.json"
        order = self._place.jobs / f"{name}.order.json"
        write_json(order, self._order(attempt, result))
        asked = parameters(
            self._steps,
            JobNames(step=attempt.command.id, claim=claim, setting=setting, repeat=repeat),
            attempt.needs,
            timeout_s=min(attempt.command.timeout_s, max(1.0, attempt.deadline - elapsed())),
            constraint=self._constraint,
        )
        with self._submitting:
            number = submit_with_patience(
                self._place.jobs / "submitit",
                asked,
                order,
                until=attempt.deadline,
                every_s=self._steps.poll_s,
                stop=attempt.cancel.is_set,
            )
        if number is None:
            return lost(self._place, attempt, None, "cancelled", "Slurm took no job in time", cut=True)
        job = JobFiles(number, result, self._place.jobs / f"{name}.job.json")
        job.note(over=False)
        self._tell(f"step {attempt.command.id}: Slurm job {number}")
        self._watch.add(number)
        try:
            return self._wait(attempt, job)
        finally:
            self._watch.drop(number)
            give_back(self._place.artifacts)

    def close(self) -> None:
        """See `StepExecutor.close`."""
        self._life.end()
        with contextlib.suppress(InfrastructureError):  # told to end at once: whoever started the run does it then
            end_jobs(self._place)

    def _order(self, attempt: StepTry, result: Path) -> StepOrder:
        return StepOrder(
            step=attempt.command,
            number=attempt.number,
            sandbox=attempt.sandbox,
            artifacts=self._place.artifacts.absolute(),
            logs=self._place.steps.absolute(),
            result=result.absolute(),
            orphan_s=self._steps.orphan_s,
            gpus=attempt.needs.gpus,
            allow_weaker=self._allow_weaker,
        )

    def _wait(self, attempt: StepTry, job: JobFiles) -> StepResult:
        """Until the job has left a result, or Slurm says how it ended, or the run must end."""
        over_since: float | None = None
        while True:
            done = read_done(job.result)
            if done is not None and not (done.attempt and done.attempt.ending == "cancelled"):
                job.note(over=True)
                return _told(done)
            if attempt.cancel.is_set():
                self._end(job)
                return lost(self._place, attempt, job, "cancelled", "the run ended", done=done)
            if elapsed() >= attempt.deadline:
                self._end(job)
                return at_deadline(self._place, attempt, job, read_done(job.result))
            seen = self._watch.look(job.number)
            if seen is not None and _is_over(seen):
                over_since = over_since or elapsed()
                if done is not None or meaning(seen.state).standing == "failed" or elapsed() - over_since > LATENCY_S:
                    job.note(over=True)
                    return self._judged(attempt, job, seen, read_done(job.result))
            elif seen is not None and seen.reason.lower().replace("_", " ") == _HELD:
                self._end(job)
                return lost(self._place, attempt, job, "node", "its node could not start its job")
            attempt.cancel.wait(min(1.0, self._steps.poll_s))

    def _judged(self, attempt: StepTry, job: JobFiles, seen: Seen, done: StepDone | None) -> StepResult:
        """What the final state of a job says of a step that its job could not tell the end of."""
        if done is not None and not (done.attempt and done.attempt.ending == "cancelled"):
            return _told(done)
        word = seen.state.split()[0].rstrip("+").upper()
        ending: StepEnding | None = None
        reason = ""
        if done is not None and done.orphaned:
            ending, reason = "node", f"its job saw no sign of life of its run for {self._steps.orphan_s:.0f} s"
        elif word == "OUT_OF_MEMORY" or _MEMORY.search(job.log):
            gb = attempt.needs.memory_gb
            ending, reason = "memory", f"killed: out of memory (asked {gb:g} GB)"
        elif word in _NODE:
            ending, reason = "node", meaning(word).words
        elif word == "PREEMPTED":
            ending, reason = "preempted", meaning(word).words
        elif word in ("TIMEOUT", "DEADLINE"):
            ending, reason = "timeout", "Slurm ended its job at the job's time limit"
        elif word == "CANCELLED":
            ending, reason = "cancelled", f"somebody cancelled its Slurm job {job.number}"
        elif word == GONE:
            ending, reason = "node", f"Slurm no longer knows its job {job.number}, which left no result"
        if ending is None:
            raise InfrastructureError(
                f"the job {job.number} of step {attempt.command.id} ended {word} without a result: {job.last_words}"
            )
        return lost(self._place, attempt, job, ending, reason, done=done)

    def _end(self, job: JobFiles) -> None:
        """Cancel the job and wait until Slurm says that it is over. Raises InfrastructureError where it does not."""
        until = elapsed() + _END_S
        for count in itertools.count():
            if count % 10 == 0:
                scancel([job.number])
            seen = self._watch.look(job.number)
            if (seen is not None and _is_over(seen)) or read_done(job.result) is not None:
                job.note(over=True)
                return
            if elapsed() > until:
                raise InfrastructureError(f"the Slurm job {job.number} of a step does not end; cancel it by hand")
            threading.Event().wait(min(1.0, self._steps.poll_s))


class _Life(threading.Thread):
    """Shows the jobs again and again that their run lives."""

    def __init__(self, file: Path, every_s: float) -> None:
        super().__init__(name="life", daemon=True)
        self._file = file
        self._every_s = every_s
        self._over = threading.Event()
        self._first = threading.Lock()

    def begin(self) -> None:
        """Start, once."""
        with self._first:
            if self.ident is None:
                write_text(self._file, "0")
                self.start()

    def end(self) -> None:
        """Say no more."""
        self._over.set()
        if self.ident is not None:
            self.join(10)

    def run(self) -> None:
        """Count, in the file."""
        for count in itertools.count(1):
            if self._over.wait(self._every_s):
                return
            with contextlib.suppress(OSError):  # a full disk: jobs end by themselves where it stays so
                write_text(self._file, str(count))


def end_jobs(place: AttemptPlace) -> None:
    """End whatever step jobs of an attempt are left: told by file, and cancelled where Slurm answers.

    Knows the jobs from files alone, so it also ends those of an attempt whose process was killed.
    """
    if not place.jobs.is_dir():
        return
    with contextlib.suppress(OSError):
        write_text(place.jobs / ALIVE, OVER)
    left = {}
    for file in sorted(place.jobs.glob("*.job.json")):
        noted = json.loads(file.read_text(encoding="utf-8"))
        if not noted["over"]:
            left[file] = str(noted["job"])
    if left:
        scancel(list(left.values()))
    for file, job in left.items():
        write_json(file, {"job": job, "over": True})


def scancel(jobs: list[str]) -> None:
    """Ask Slurm to end jobs. It may not answer: they also end by themselves, with their run."""
    with contextlib.suppress(OSError):
        run(["scancel", *jobs], timeout_s=30)


def _is_over(seen: Seen) -> bool:
    return seen.state == GONE or meaning(seen.state).standing in ("done", "failed")


def _told(done: StepDone) -> StepResult:
    """The result that a job left. Raises RefusedError and InfrastructureError where it is an error."""
    if done.attempt is None:
        raise (RefusedError if done.refused else InfrastructureError)(done.error or "a step's job gave no reason")
    return StepResult(attempt=done.attempt, stdout=done.stdout, stderr=done.stderr, report=done.sandbox)
