"""Who works in a run directory: one owner at a time, even on a shared file system.

The owner file is created exclusively (O_EXCL through a hard link, which NFS honours) and says who holds it. A runner
that was killed leaves its file behind: an owner on this host whose process is gone is removed, under a lock that the
system gives to one process at a time and takes back when it dies; then all compete for the free place. So the file of
a live owner is never moved, not even for a moment. An owner elsewhere is never guessed dead: it is where Slurm says
that its batch job is over, or started that very job again here. Otherwise the error says what to look at.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matproof.core.clock import timestamp
from matproof.core.errors import BusyError
from matproof.core.files import to_json
from matproof.core.slurm import GONE, cluster_name, job_state, meaning
from matproof.records.owner import Owner, read_owner, restart_count, this_process


@contextlib.contextmanager
def exclusive(owner: Path) -> Iterator[None]:
    """Hold `owner` for the length of the block. Raises BusyError where another live process holds it."""
    owner.parent.mkdir(parents=True, exist_ok=True)
    mine = this_process(timestamp())
    if not _create(owner, mine):
        _evict_dead(owner)
        if not _create(owner, mine):
            raise BusyError(_who(owner))
    try:
        yield
    finally:
        if read_owner(owner) == mine:
            owner.unlink(missing_ok=True)


def _create(owner: Path, identity: Owner) -> bool:
    handle, name = tempfile.mkstemp(dir=owner.parent, prefix=".owner.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(to_json(identity.to_json()))
        os.link(name, owner)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink()
    return True


def _evict_dead(owner: Path) -> None:
    if not _holder_is_dead(owner):
        return
    with owner.with_name(f".{owner.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            return  # no locks on this file system: the error tells a person what to delete
        # Looked at again, since another successor may have been here; nobody else removes a dead owner's file.
        if _holder_is_dead(owner):
            owner.unlink(missing_ok=True)


def _holder_is_dead(owner: Path) -> bool:
    held = read_owner(owner)
    return held is not None and (held.is_gone or _job_is_over(held))


def _job_is_over(held: Owner) -> bool:
    """Whether Slurm says that the owner's batch job, on another host, has ended. No answer means no."""
    if held.is_here or held.job is None or held.cluster is None:
        return False
    if held.cluster != (os.environ.get("SLURM_CLUSTER_NAME") or cluster_name()):
        return False
    if held.job == os.environ.get("SLURM_JOB_ID"):
        return held.restart is not None and held.restart < (restart_count() or 0)
    state = job_state(held.job)
    return state is not None and (state == GONE or meaning(state).standing in ("done", "failed"))


def _who(owner: Path) -> str:
    held = read_owner(owner) or Owner()
    job = f", job {held.job}" if held.job else ""
    return (
        f"{owner.parent} is being worked on by process {held.pid} on {held.host}{job} "
        f"since {held.since}; wait for it, or delete {owner.name} if that process no longer exists"
    )
