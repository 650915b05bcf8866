"""What Slurm's words for a job's state mean, in one table, and the state of one job.

Whoever decides anything about a batch job asks here: the executor that waits for it, and the owner of a run directory
who finds that a job owned it before. A word that this table lacks counts as running, since a live job that is taken
for dead is run twice, and a dead one that is taken for alive is only waited for.
"""

import re
from dataclasses import dataclass
from typing import Literal

from matproof.core.processes import run

_UNCONFIGURED = re.compile(r"configuration source|configuration file|fetch_config|slurm\.conf", re.IGNORECASE)
Standing = Literal["alive", "held", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What follows from a state."""

    standing: Standing
    """`held` is alive, but goes on only when a person lets it."""
    words: str = ""
    """For a person."""
    again: bool = True
    """Of a failure: whether the same job may end differently."""
    perhaps_requeued: bool = False
    """Of a failure: whether Slurm may still be about to start the job again under the same id."""


STATES: dict[str, Meaning] = {
    "PENDING": Meaning("alive", "waits in the queue"),
    "CONFIGURING": Meaning("alive", "its node is being prepared"),
    "RUNNING": Meaning("alive", "runs"),
    "COMPLETING": Meaning("alive", "is ending"),
    "RESIZING": Meaning("alive", "changes its size"),
    "SIGNALING": Meaning("alive", "is being signalled"),
    "STAGE_OUT": Meaning("alive", "writes its files back"),
    "STOPPED": Meaning("alive", "was stopped and keeps its cores"),
    "SUSPENDED": Meaning("alive", "was suspended"),
    "REQUEUED": Meaning("alive", "starts again"),
    "REQUEUE_FED": Meaning("alive", "starts again in the federation"),
    "POWER_UP_NODE": Meaning("alive", "its node is being switched on"),
    "UPDATE_DB": Meaning("alive", "is being entered into the accounting"),
    "REQUEUE_HOLD": Meaning("held", "was put back into the queue and is held"),
    "RESV_DEL_HOLD": Meaning("held", "is held because its reservation was deleted"),
    "SPECIAL_EXIT": Meaning("held", "was put back into the queue and is held"),
    "COMPLETED": Meaning("done"),
    "BOOT_FAIL": Meaning("failed", "its node did not start", perhaps_requeued=True),
    "CANCELLED": Meaning("failed", "somebody cancelled it", again=False),
    "DEADLINE": Meaning("failed", "it could not end before its deadline", again=False),
    "FAILED": Meaning("failed", "it ended with an error"),
    "LAUNCH_FAILED": Meaning("failed", "its node could not start it", perhaps_requeued=True),
    "NODE_FAIL": Meaning("failed", "its node failed", perhaps_requeued=True),
    "OUT_OF_MEMORY": Meaning("failed", "it needed more memory than it had asked for", again=False),
    "PREEMPTED": Meaning("failed", "another job took its place", perhaps_requeued=True),
    "RECONFIG_FAIL": Meaning("failed", "its node could not be prepared", perhaps_requeued=True),
    "REVOKED": Meaning("failed", "another cluster of the federation took it"),
    "TIMEOUT": Meaning("failed", "it reached the wall time that it had asked for"),
}

GONE = "GONE"
"""In place of a state: Slurm answers, and does not know the job (any more)."""


def meaning(state: str) -> Meaning:
    """What `state` means, as squeue, sacct or scontrol write it: also `CANCELLED by 1000` and `CANCELLED+`."""
    word = state.split()[0].rstrip("+").upper() if state.strip() else ""
    return STATES.get(word, Meaning("alive", f"is in a state that is not known here: {word or 'none'}"))


def job_state(job: str, *, timeout_s: float = 30) -> str | None:
    """State of a job by `scontrol`, GONE where Slurm does not know it, None where Slurm does not answer."""
    try:
        finished = run(["scontrol", "--oneliner", "show", "job", job], timeout_s=timeout_s)
    except OSError:
        return None
    if "invalid job id" in finished.stderr.lower():
        return GONE
    found = re.search(r"(?:^|\s)JobState=(\S+)", finished.stdout) if finished.ok else None
    return None if found is None else found.group(1)


def cluster_name(*, timeout_s: float = 30) -> str | None:
    """Name of the cluster that `scontrol` speaks to; None where it does not answer."""
    try:
        finished = run(["scontrol", "show", "config"], timeout_s=timeout_s)
    except OSError:
        return None
    found = re.search(r"^ClusterName\s*=\s*(\S+)", finished.stdout, re.MULTILINE)
    return found.group(1) if found and finished.ok else None


def is_unconfigured(message: str) -> bool:
    """Whether Slurm's programs are there and know no cluster, as on a host that is no submit host."""
    return bool(_UNCONFIGURED.search(message))
