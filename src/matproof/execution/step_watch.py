"""How the step jobs of one run stand: one question to Slurm an interval, whatever their number, silence tolerated.

submitit itself reads only `sacct`, and without accounting a killed job would stay unknown for ever; `squeue` knows
every job that lives and, for a while, those that ended. Nothing is concluded from silence.
"""

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass

from matproof.core.clock import elapsed
from matproof.core.processes import run
from matproof.core.slurm import GONE

_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What Slurm said of a job."""

    state: str
    """Slurm's word, or GONE."""
    reason: str = ""
    """Why it waits."""


class StepWatch:
    """Shared by the threads that wait for jobs; asks at most once in `poll_s` seconds."""

    def __init__(self, poll_s: float, tell: Callable[[str], None]) -> None:
        self._poll_s = poll_s
        self._tell = tell
        self._lock = threading.Lock()
        self._jobs: set[str] = set()
        self._seen: dict[str, Seen] = {}
        self._asked: float | None = None
        self._silent_since: float | None = None

    def add(self, job: str) -> None:
        """Ask for this job from now on."""
        with self._lock:
            self._jobs.add(job)

    def drop(self, job: str) -> None:
        """Ask for it no more."""
        with self._lock:
            self._jobs.discard(job)
            self._seen.pop(job, None)

    def look(self, job: str) -> Seen | None:
        """How it stood when Slurm last said something, now or an interval ago; None where it never did."""
        with self._lock:
            if self._asked is None or elapsed() - self._asked >= self._poll_s:
                self._ask()
                self._asked = elapsed()
            return self._seen.get(job)

    def _ask(self) -> None:
        said = _squeue(sorted(self._jobs))
        if isinstance(said, str):
            if self._silent_since is None:
                self._silent_since = elapsed()
                self._tell(f"Slurm does not answer ({said}); steps go on, and it is asked again")
            return
        if self._silent_since is not None:
            self._tell(f"Slurm answers again after {elapsed() - self._silent_since:.0f} s")
            self._silent_since = None
        missing = [job for job in self._jobs if job not in said]
        said |= {job: Seen(state) for job, state in accounted(missing).items()} if missing else {}
        self._seen |= {job: said.get(job, Seen(GONE)) for job in self._jobs}


def _squeue(jobs: list[str]) -> dict[str, Seen] | str:
    """Each job that the controller knows, or why it does not answer."""
    argv = ["squeue", f"--user={os.getuid()}", f"--jobs={','.join(jobs)}", "--states=all", "--noheader"]
    try:
        finished = run([*argv, "--format=%A|%T|%r"], timeout_s=_TIMEOUT_S)
    except OSError as error:
        return f"squeue: {error.strerror}"
    if not finished.ok and "invalid job id" not in finished.stderr.lower():
        return one_line(finished.stderr) if finished.ending == "exited" else f"squeue {finished.ending}"
    return parse_squeue(finished.stdout)


def parse_squeue(text: str) -> dict[str, Seen]:
    """Lines of `id|state|reason`, by id."""
    rows = (line.strip().split("|", 2) for line in text.splitlines())
    return {row[0]: Seen(row[1], row[2]) for row in rows if len(row) == 3}


def accounted(jobs: list[str]) -> dict[str, str]:
    """States by the accounting; nothing where there is none, which is no reason to think anything."""
    try:
        finished = run(["sacct", "-X", "-n", "-P", "-o", "JobIDRaw,State", "-j", ",".join(jobs)], timeout_s=_TIMEOUT_S)
    except OSError:
        return {}
    rows = (line.strip().split("|", 1) for line in finished.stdout.splitlines()) if finished.ok else ()
    return {row[0]: row[1] for row in rows if len(row) == 2 and row[0] in jobs}


def one_line(message: str) -> str:
    """Slurm's own message without its prefixes, as one line."""
    lines = [re.sub(r"^(?:sbatch|squeue|scancel): (?:error: )?", "", line.strip()) for line in message.splitlines()]
    return "; ".join(line for line in lines if line) or "no message"
