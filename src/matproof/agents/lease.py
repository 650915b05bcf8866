"""Who works in a run directory: one owner at a time, even on a shared file system.

The owner file is created exclusively (O_EXCL through a hard link, which NFS honours) and says who holds it. A runner
that was killed leaves its file behind: an owner on this host whose process is gone is removed, under a lock that the
system gives to one process at a time and takes back when it dies; then all compete for the free place. So the file of
a live owner is never moved, not even for a moment. An owner elsewhere, batch job or not, is never guessed dead; the
error says what to look at.
"""

import contextlib
import fcntl
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from matproof.core.clock import timestamp
from matproof.core.errors import BusyError
from matproof.core.files import to_json


@contextlib.contextmanager
def exclusive(owner: Path) -> Iterator[None]:
    """Hold `owner` for the length of the block. Raises BusyError where another live process holds it."""
    owner.parent.mkdir(parents=True, exist_ok=True)
    mine = _identity()
    if not _create(owner, mine):
        _evict_dead(owner)
        if not _create(owner, mine):
            raise BusyError(_who(owner))
    try:
        yield
    finally:
        if _read(owner) == mine:
            owner.unlink(missing_ok=True)


def _identity() -> dict[str, object]:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "process_started": psutil.Process().create_time(),
        "job": os.environ.get("SLURM_JOB_ID"),
        "since": timestamp(),
    }


def _create(owner: Path, identity: dict[str, object]) -> bool:
    handle, name = tempfile.mkstemp(dir=owner.parent, prefix=".owner.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(to_json(identity))
        os.link(name, owner)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink()
    return True


def _read(owner: Path) -> dict[str, object] | None:
    try:
        data = json.loads(owner.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return data if isinstance(data, dict) else None


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
    held = _read(owner)
    return held is not None and _is_dead(held)


def _is_dead(held: dict[str, object]) -> bool:
    if held.get("host") != socket.gethostname():
        return False
    try:
        return bool(psutil.Process(int(str(held["pid"]))).create_time() != held.get("process_started"))
    except (psutil.NoSuchProcess, KeyError, ValueError):
        return True


def _who(owner: Path) -> str:
    held = _read(owner) or {}
    job = f", job {held['job']}" if held.get("job") else ""
    return (
        f"{owner.parent} is being worked on by process {held.get('pid')} on {held.get('host')}{job} "
        f"since {held.get('since')}; wait for it, or delete {owner.name} if that process no longer exists"
    )
