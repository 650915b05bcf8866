"""`inventory.json`: every file that an attempt left, as it was when its last process had ended.

Whoever reads the evidence later compares it with this: what differs was changed after the run. Its own hash stands in
`run.json`. Paths are below the attempt's directory. A file larger than `WHOLE` bytes is hashed at both ends only, which
`whole` says; hashing stops after `LONGEST_S` seconds, and what comes later has no hash, only size and times.
"""

import hashlib
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from matproof.core.clock import elapsed
from matproof.core.errors import UnsafePathError
from matproof.core.files import open_within
from matproof.core.trees import FoundFile, plain_files, printable
from matproof.records.base import Record
from matproof.records.places import AttemptPlace

WHOLE = 64_000_000
END = 16_000_000
"""Bytes of each end of a larger file that are hashed."""
MOST_FILES = 20_000
LONGEST_S = 15.0
_BLOCK = 1 << 20


class LeftFile(BaseModel):
    """One file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    path: str
    """Below the attempt's directory, unprintable characters escaped."""
    size: int
    """Bytes."""
    modified_ns: int
    """Modification time, nanoseconds since 1970."""
    changed_ns: int
    """When the inode changed last, nanoseconds since 1970."""
    sha256: str | None
    """Of the content; null where there was no time for it, or the file could not be read."""
    whole: bool = True
    """Whether all of the content is hashed; false: size, first and last 16 MB."""


class Inventory(Record):
    """The file."""

    files: list[LeftFile] = []
    """By path."""
    complete: bool = True
    """False: there are more files than are listed here."""
    at: str
    """When it was taken, ISO 8601, UTC."""


def take(place: AttemptPlace, at: str) -> Inventory:
    """The inventory of `place` now. Never raises for what an agent left there."""
    deadline = elapsed() + LONGEST_S
    found, whole = evidence_files(place)
    files = [
        LeftFile(
            path=printable(file.name),
            size=file.size,
            modified_ns=file.modified_ns,
            changed_ns=file.changed_ns,
            sha256=digest(place.root, file.name, file.size) if elapsed() < deadline else None,
            whole=file.size <= WHOLE,
        )
        for file in found
    ]
    return Inventory(files=files, complete=whole, at=at)


def evidence_files(place: AttemptPlace) -> tuple[list[FoundFile], bool]:
    """What an attempt left as evidence, by path below its directory; and whether that is all of it."""
    found: list[FoundFile] = []
    whole = True
    for folder in (place.artifacts, place.steps):
        if not folder.exists() and folder != place.artifacts:
            continue  # no step was executed
        tree = plain_files(folder, MOST_FILES)
        whole = whole and tree.whole
        found += [
            FoundFile(f"{folder.name}/{file.name}", file.size, file.modified_ns, file.changed_ns) for file in tree.files
        ]
    for file in (place.exchanges, place.orchestration, place.trace):
        if file.is_file():
            status = file.stat()
            found.append(FoundFile(file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return found, whole


def digest(root: Path, name: str, size: int) -> str | None:
    """SHA-256 of the file `name` below `root`; of a large one its size and both ends. None where it can't be read."""
    try:
        handle = open_within(root, name)
    except (OSError, UnsafePathError):
        return None
    try:
        with os.fdopen(handle, "rb") as stream:
            if size <= WHOLE:
                return hashlib.file_digest(stream, "sha256").hexdigest()
            found = hashlib.sha256(str(size).encode())
            for start in (0, size - END):
                stream.seek(start)
                left = END
                while left and (block := stream.read(min(_BLOCK, left))):
                    found.update(block)
                    left -= len(block)
            return found.hexdigest()
    except OSError:
        return None
