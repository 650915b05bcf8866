"""How the jobs stand: one question to Slurm an interval, whatever their number.

`squeue` knows every job that lives and, for a while, those that ended. A job that it no longer lists is looked up
where jobs leave their end: its own exit note, then `sacct` where accounting answers. Only a job of which nobody knows
anything for `lost_s` counts as lost; it is never assumed to have ended well.
"""

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.core.processes import run
from matproof.core.slurm import STATES, Meaning, is_unconfigured, meaning
from snakemake_executor_plugin_matproof_slurm.submission import one_line
from snakemake_executor_plugin_matproof_slurm.verdicts import (
    Listed,
    Verdict,
    listed_verdict,
    noted_verdict,
    parse_sacct,
    parse_squeue,
)

_TIMEOUT_S = 60.0
_STUCK = {
    "JobHeldAdmin",
    "JobHeldUser",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "PartitionDown",
    "ReservationDeleted",
}


class NoAnswerError(Exception):
    """Slurm did not answer."""


class Watch:
    """Asks Slurm, remembers what needs remembering, and tells a person once what they should know."""

    def __init__(self, *, accounting: bool, lost_s: float, outage_s: float, tell: Callable[[str], None]) -> None:
        self.cancel = threading.Event()
        self._accounting = accounting
        self._lost_s, self._outage_s = lost_s, outage_s
        self._tell = tell
        self._silent_since: float | None = None
        self._missing_since: dict[str, float] = {}
        self._failing: dict[str, str] = {}
        self._told: set[str] = set()

    def look(self, notes: dict[str, Path]) -> dict[str, Verdict]:
        """How each job stands, by id; `notes` has the exit note of each. Raises NoAnswerError after a long silence."""
        try:
            listed = ask_squeue(self.cancel)
        except NoAnswerError as error:
            self._endure(error)
            return {job: Verdict("alive") for job in notes}
        if self._silent_since is not None:
            self._tell(f"Slurm answers again after {elapsed() - self._silent_since:.0f} s")
            self._silent_since = None
        verdicts = {job: self._listed(listed[job]) for job in notes if job in listed}
        if missing := {job: note for job, note in notes.items() if job not in listed}:
            verdicts |= self._missing(missing)
        return verdicts

    def forget(self, job: str) -> None:
        """This job has been dealt with."""
        self._missing_since.pop(job, None)
        self._failing.pop(job, None)

    def _listed(self, listed: Listed) -> Verdict:
        self._missing_since.pop(listed.job, None)
        verdict = listed_verdict(listed, self._failing.get(listed.job) == listed.state)
        self._failing[listed.job] = listed.state
        means = meaning(listed.state)
        if means.standing == "held" or (listed.state == "PENDING" and listed.reason in _STUCK):
            why = means.words if means.standing == "held" else f"Slurm gives the reason {listed.reason}"
            self._once(f"Slurm job {listed.job} waits for a person: {why} (scontrol show job {listed.job})")
        elif listed.state not in STATES:
            self._once(f"Slurm job {listed.job} {means.words}")
        return verdict

    def _missing(self, notes: dict[str, Path]) -> dict[str, Verdict]:
        verdicts = {job: noted for job, note in notes.items() if (noted := noted_verdict(note)) is not None}
        rest = [job for job in notes if job not in verdicts]
        accounted = ask_sacct(rest, self.cancel) if self._accounting and rest else {}
        for job in rest:
            since = self._missing_since.setdefault(job, elapsed())
            means = meaning(accounted[job]) if job in accounted else Meaning("alive")
            if means.standing == "done":
                verdicts[job] = Verdict("done")
            elif means.standing == "failed":
                verdicts[job] = Verdict("failed", f"{accounted[job]}: {means.words}", means.again)
            elif elapsed() - since >= self._lost_s:
                verdicts[job] = Verdict("failed", "Slurm no longer knows it, and it left no exit status")
            else:
                verdicts[job] = Verdict("alive")
        return verdicts

    def _endure(self, error: NoAnswerError) -> None:
        if self._silent_since is None:
            self._silent_since = elapsed()
            minutes = self._outage_s / 60
            self._tell(f"Slurm does not answer ({error}); jobs go on, and it is asked again for {minutes:.0f} minutes")
        if elapsed() - self._silent_since > self._outage_s:
            raise error

    def _once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)


def ask_squeue(cancel: threading.Event | None = None) -> dict[str, Listed]:
    """Every job of this user that the controller knows, by id. Raises NoAnswerError."""
    text = _ask(
        ["squeue", f"--user={os.getuid()}", "--states=all", "--noheader", "--format=%A|%T|%r|%k"],
        cancel,
    )
    return parse_squeue(text)


def ask_sacct(jobs: Sequence[str], cancel: threading.Event | None = None) -> dict[str, str]:
    """States by the accounting; nothing where it does not answer, which is no reason to think anything."""
    try:
        text = _ask(["sacct", "-X", "-n", "-P", "-o", "JobIDRaw,State", "-j", ",".join(jobs)], cancel)
    except NoAnswerError:
        return {}
    return parse_sacct(text)


def has_accounting() -> bool:
    """Whether `sacct` answers here."""
    try:
        _ask(["sacct", "-X", "-n", "-P", "-o", "JobIDRaw", "-S", "now"], None)
    except NoAnswerError:
        return False
    return True


def require_cluster() -> None:
    """Raise Snakemake's WorkflowError where Slurm's programs know no cluster. One that is only away is waited for."""
    from snakemake_interface_common.exceptions import WorkflowError

    try:
        _ask(["scontrol", "ping"], None)
    except NoAnswerError as error:
        if is_unconfigured(str(error)):
            raise WorkflowError(
                f"no Slurm here: its programs know no cluster ({_last(str(error))}); start Snakemake on a submit host,"
                " set SLURM_CONF, or use --profile profiles/local"
            ) from error


def _last(words: str) -> str:
    return words.rpartition("; ")[2]


def _ask(argv: list[str], cancel: threading.Event | None) -> str:
    try:
        finished = run(argv, timeout_s=_TIMEOUT_S, cancel=cancel)
    except OSError as error:
        raise NoAnswerError(f"{argv[0]}: {error.strerror}") from error
    if not finished.ok:
        raise NoAnswerError(
            one_line(finished.stderr) if finished.ending == "exited" else f"{argv[0]} {finished.ending}"
        )
    return finished.stdout
