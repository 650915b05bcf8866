"""What Slurm and the jobs themselves say, read: pure functions from text to how a job stands."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from matproof.core.slurm import STATES, meaning
from snakemake_executor_plugin_matproof_slurm.identity import read_comment

_LAUNCH_FAILED = "launch failed requeued held"
_NEVER = {"BadConstraints", "DependencyNeverSatisfied"}
_TAIL_BYTES = 16_000
_MEMORY = re.compile(r"slurmstepd.*(?:exceeded .*memory limit|oom[-_ ]kill)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of `squeue`."""

    job: str
    state: str
    reason: str
    comment: str

    @property
    def identity(self) -> tuple[str, str] | None:
        """Key and work of one of our jobs."""
        return read_comment(self.comment)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one job stands."""

    standing: Literal["alive", "done", "failed"]
    words: str = ""
    again: bool = True
    cancel: bool = False
    """Whether Slurm keeps it although it can't go on."""


def parse_squeue(text: str) -> dict[str, Listed]:
    """Lines of `id|state|reason|comment`, by id."""
    rows = (line.split("|", 3) for line in text.splitlines())
    return {
        row[0].strip(): Listed(row[0].strip(), row[1].strip(), row[2].strip(), row[3]) for row in rows if len(row) == 4
    }


def parse_sacct(text: str) -> dict[str, str]:
    """Lines of `id|state`, by id; of several records of one job the last counts."""
    rows = (line.split("|", 1) for line in text.splitlines())
    return {row[0].strip(): row[1].strip() for row in rows if len(row) == 2}


def read_note(note: Path) -> tuple[int, str] | None:
    """Exit status and work that a job noted; None where it did not."""
    try:
        status, work = note.read_text(encoding="utf-8").split()
        return int(status), work
    except (OSError, ValueError):
        return None


def listed_verdict(listed: Listed, seen_before: bool) -> Verdict:
    """What a line of `squeue` says; a state that may precede a requeue counts only where it was seen before."""
    means = meaning(listed.state)
    if means.standing == "failed":
        if means.perhaps_requeued and not seen_before:
            return Verdict("alive")
        return Verdict("failed", f"{listed.state}: {means.words}", means.again)
    if means.standing == "done":
        return Verdict("done")
    if listed.state == "PENDING" and listed.reason.lower().replace("_", " ") == _LAUNCH_FAILED:
        return Verdict("failed", "its node could not start it, and Slurm holds it", cancel=True)
    if listed.state == "PENDING" and listed.reason in _NEVER:
        return Verdict("failed", f"it can never start ({listed.reason})", again=False, cancel=True)
    return Verdict("alive")


def noted_verdict(note: Path) -> Verdict | None:
    """What a job's own exit note says."""
    found = read_note(note)
    if found is None:
        return None
    return Verdict("done") if found[0] == 0 else Verdict("failed", f"it ended with exit status {found[0]}")


def with_memory(verdict: Verdict, log: str) -> Verdict:
    """The verdict on a failed job, where Slurm's own lines in its log say that memory ran out.

    Slurm calls such a job FAILED where it measures memory itself instead of leaving that to the kernel.
    """
    if verdict.standing != "failed" or not _MEMORY.search(log):
        return verdict
    means = STATES["OUT_OF_MEMORY"]
    return replace(verdict, words=f"OUT_OF_MEMORY: {means.words}", again=means.again)


def read_tail(log: Path) -> str:
    """The end of a log; nothing where there is none."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""
