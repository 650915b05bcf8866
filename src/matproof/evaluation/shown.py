"""What a judge is shown, and which file of it a path means. Paths that a judge writes are data and stay inside.

A judge sees the run at `RUN` and the reference at `REFERENCE`. It may name a file as it sees it, below the run, or,
for what the attempt wrote, below `artifacts/`.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within

RUN = "/work/run"
REFERENCE = "/work/reference"
MOST_BYTES = 16_000_000
"""Longest file that a citation is looked up in; what is larger can't be verified, and says so."""
MOST_FILES = 20_000
_KEPT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file as it was read."""

    name: str
    """Path below the run, or `reference/…`."""
    data: bytes
    sha256: str
    lines: tuple[str, ...] | None
    """Text by line; None where it is not text."""


class NotShownError(Exception):
    """There is no such file to read; `str` says why, in words for the judge."""


@dataclass(slots=True)
class Shown:
    """The two directories outside the sandbox that a judge sees inside."""

    run: Path
    reference: Path
    left_out: frozenset[str] = frozenset()
    """Paths below the run that exist and are not shown."""
    _read: dict[str, Content] = field(default_factory=dict)

    def name_of(self, cited: str) -> str:
        """The path below the run, or `reference/…`, that `cited` means; where nothing is there, as cited."""
        text = cited.strip()
        for prefix, instead in ((f"{RUN}/", ""), (f"{REFERENCE}/", "reference/")):
            if text.startswith(prefix):
                text = instead + text.removeprefix(prefix)
        if not text.startswith("/"):
            text = str(PurePosixPath(text))
        below = f"artifacts/{text}"
        if not self._is_there(text) and not text.startswith("/") and self._is_there(below):
            return below
        return text

    def place(self, name: str) -> tuple[Path, str]:
        """The directory that `name` lies in, and its path below that."""
        if name.startswith("reference/"):
            return self.reference, name.removeprefix("reference/")
        return self.run, name

    def read(self, cited: str) -> Content:
        """The file that `cited` means. Raises NotShownError."""
        name = self.name_of(cited)
        if name in self._read:
            return self._read[name]
        _refuse_departure(name)
        root, relative = self.place(name)
        try:
            data = read_within(root, relative, limit=MOST_BYTES + 1)
        except FileNotFoundError as error:
            raise NotShownError("there is no such file") from error
        except UnsafePathError as error:
            raise NotShownError("it is no plain file inside the run: cite the file itself, not a link to it") from error
        except OSError as error:
            raise NotShownError("it can't be read") from error
        if len(data) > MOST_BYTES:
            raise NotShownError(f"it is larger than {MOST_BYTES // 1_000_000} MB: cite a log or a summary of it")
        content = Content(name=name, data=data, sha256=hashlib.sha256(data).hexdigest(), lines=_lines(data))
        if len(self._read) >= _KEPT:
            self._read.pop(next(iter(self._read)))
        self._read[name] = content
        return content

    def is_absent(self, cited: str) -> bool:
        """Whether nothing was left under that name in the run. Raises NotShownError where that can't be said."""
        name = self.name_of(cited)
        if name.startswith("reference/"):
            raise NotShownError("only of the run can it be said that something was not left")
        _refuse_departure(name)
        if name in self.left_out or f"artifacts/{name}" in self.left_out:
            return False
        try:
            read_within(self.run, name, limit=1)
        except FileNotFoundError:
            return True
        except (UnsafePathError, OSError):
            return False
        return False

    def files(self) -> Iterator[tuple[str, int]]:
        """Plain files of the run below `run` with their sizes in bytes, at most `MOST_FILES`, by name."""
        found: list[tuple[str, int]] = []
        folders = [""]
        while folders and len(found) < MOST_FILES:
            folder = folders.pop()
            try:
                with os.scandir(self.run / folder) as entries:
                    for entry in entries:
                        name = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(name)
                        elif entry.is_file(follow_symlinks=False):
                            found.append((name, entry.stat(follow_symlinks=False).st_size))
            except OSError:
                found.append((f"{folder} (can't be listed)", 0))
        yield from sorted(found)[:MOST_FILES]

    def _is_there(self, name: str) -> bool:
        root, relative = self.place(name)
        try:
            read_within(root, relative, limit=0)
        except FileNotFoundError:
            return False
        except (UnsafePathError, OSError):
            return ".." not in PurePosixPath(relative).parts
        return True


def _refuse_departure(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise NotShownError("the path leaves the run")


def _lines(data: bytes) -> tuple[str, ...] | None:
    """Lines as `sed -n` counts them; None for bytes that are no text."""
    if b"\0" in data:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)
