"""What appeared in the artifact directory while a step ran: sizes and times before and after, looked at without links.

Steps that run side by side write into one directory, so each sees what the other left as well.
"""

import os
from collections.abc import Mapping
from pathlib import Path

MOST_FILES = 50_000
"""Files that are looked at; a directory with more is not compared, and that is said (null)."""
MOST_NAMES = 200
"""Names that are kept for one attempt."""
Marks = Mapping[str, tuple[int, int]]
"""File below the artifacts → size in bytes and modification time in ns."""


def marks(artifacts: Path) -> Marks | None:
    """The files there are; None where they are more than MOST_FILES, or deeper than a thousand directories.

    A directory that can't be read is left out.
    """
    try:
        return _marks(artifacts)
    except (OSError, RecursionError):
        return None


def _marks(artifacts: Path) -> Marks | None:
    found: dict[str, tuple[int, int]] = {}
    root = os.fsencode(artifacts)
    for folder, _, names, handle in os.fwalk(root, follow_symlinks=False):
        if len(found) + len(names) > MOST_FILES:
            return None
        for name in names:
            try:
                status = os.stat(name, dir_fd=handle, follow_symlinks=False)
            except OSError:  # gone again: another step works beside this one
                continue
            shown = os.path.relpath(os.path.join(folder, name), root)  # noqa: PTH118 - bytes: any name may be there
            found[shown.decode("utf-8", errors="replace")] = (status.st_size, status.st_mtime_ns)
    return found


def appeared(before: Marks | None, after: Marks | None, *, expected: tuple[str, ...]) -> tuple[list[str], int | None]:
    """Names of files that are new or changed, expected ones first, at most MOST_NAMES; and how many there are.

    Where the files could not be compared, no names and None.
    """
    if before is None or after is None:
        return [], None
    new = [name for name, mark in after.items() if before.get(name) != mark]
    new.sort(key=lambda name: (name not in expected, name))
    return new[:MOST_NAMES], len(new)
