"""Jobs that a Snakemake that was killed left behind: found by their comment while Slurm lists them, then by their note.

Only a job that nobody has dealt with yet counts: one that lives, or one whose exit note is still there, since the
Snakemake that sees a job's end removes the note.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matproof.core.slurm import meaning
from snakemake_executor_plugin_matproof_slurm.identity import Identity
from snakemake_executor_plugin_matproof_slurm.verdicts import Listed, read_note
from snakemake_executor_plugin_matproof_slurm.watch import ask_squeue


@dataclass(frozen=True, slots=True)
class Taken:
    """What there is of an earlier start."""

    job: str | None = None
    """The same work, alive or well ended."""
    outdated: str | None = None
    """A live job that writes the same files from other input."""


class Orphans:
    """Asked once for each job before it is submitted. Safe in several threads."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes
        self._lock = threading.Lock()
        self._listed: dict[str, list[Listed]] | None = None

    def take(self, identity: Identity, outputs: Sequence[str], *, forced: bool) -> Taken | None:
        """What is left of this job, if anything; each orphan is given once. Raises NoAnswerError.

        `forced` says that a person asked for the job again: a result that is there does not count then.
        """
        with self._lock:
            if self._listed is None:
                self._listed = _by_key(ask_squeue())
            live = self._listed.pop(identity.key, [])
        for orphan in live:
            if orphan.identity == (identity.key, identity.work):
                return Taken(job=orphan.job)
        finished = self._finished(identity, () if forced else outputs)
        if finished is not None:
            return Taken(job=finished)
        return Taken(outdated=live[0].job) if live else None

    def look_again(self) -> None:
        """Something may have been submitted without our knowing its id."""
        with self._lock:
            self._listed = None

    def _finished(self, identity: Identity, outputs: Sequence[str]) -> str | None:
        """A job that ended well after its Snakemake had been killed; notes of others are of no use any more."""
        found = None
        for note in self._notes.glob(f"{identity.key}.*.exit"):
            if read_note(note) == (0, identity.work) and outputs and all(Path(path).exists() for path in outputs):
                found = note.name.split(".")[1]
            else:
                note.unlink(missing_ok=True)
        return found


def _by_key(listed: dict[str, Listed]) -> dict[str, list[Listed]]:
    found: dict[str, list[Listed]] = {}
    for row in listed.values():
        if row.identity is not None and meaning(row.state).standing in ("alive", "held"):
            found.setdefault(row.identity[0], []).append(row)
    return found
