"""What the file system of the results does: the promises that attempts, owners and ledgers stand on."""

import contextlib
import fcntl
import os
import secrets
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path

from matproof.commands.doctor.findings import Finding
from matproof.core.clock import elapsed

_ROUNDS = 10
_SLOW_S = 0.2
_ROOM_GB = 5


def results(directory: Path) -> Iterator[Finding]:
    """Atomic rename, exclusive links, locks, how long a durable write takes, room. Leaves nothing behind."""
    directory.mkdir(parents=True, exist_ok=True)
    place = directory / f".doctor-{secrets.token_hex(4)}"
    place.mkdir()
    try:
        yield _rename(place)
        yield _links(place)
        yield _locks(place)
        yield _latency(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    free = shutil.disk_usage(directory).free / 1e9
    short = free < _ROOM_GB
    remedy = "free some, or write results elsewhere (`results` in config.yaml)" if short else None
    yield Finding("room for results", "bad" if short else "ok", f"{free:.0f} GB free in {directory}", remedy)


def _rename(place: Path) -> Finding:
    new, old = place / "new", place / "old"
    new.write_text("new")
    old.write_text("old")
    new.replace(old)
    if old.read_text() == "new" and not new.exists():
        return Finding("rename over a file", "ok", "replaces it in one step")
    return Finding("rename over a file", "bad", "does not replace it", "put results on another file system")


def _links(place: Path) -> Finding:
    """A run's owner is made by linking a file: it must fail where the name is taken."""
    (place / "mine").write_text("mine")
    (place / "taken").write_text("taken")
    try:
        os.link(place / "mine", place / "free")
    except OSError as error:
        return Finding("hard links", "bad", f"can't be made: {error.strerror}", "put results on another file system")
    with contextlib.suppress(FileExistsError):
        os.link(place / "mine", place / "taken")
        return Finding("hard links", "bad", "overwrite a file of that name", "put results on another file system")
    return Finding("hard links", "ok", "are exclusive")


def _locks(place: Path) -> Finding:
    with (place / "lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return Finding(
                "file locks",
                "weak",
                f"refused ({error.strerror}); needed only to clear away a dead owner of a run",
                "mount with locks (Lustre: -o flock), or delete owner.json by hand where a run says so",
            )
    return Finding("file locks", "ok", "work")


def _latency(place: Path) -> Finding:
    taken = []
    for number in range(_ROUNDS):
        began = elapsed()
        with (place / str(number)).open("wb") as stream:
            stream.write(b"x" * 4096)
            stream.flush()
            os.fsync(stream.fileno())
        taken.append(elapsed() - began)
    median = statistics.median(taken)
    slow = median > _SLOW_S
    remedy = "each model request waits for some of these: put results on a faster file system" if slow else None
    return Finding("durable write", "weak" if slow else "ok", f"{1000 * median:.1f} ms (median of {_ROUNDS})", remedy)
