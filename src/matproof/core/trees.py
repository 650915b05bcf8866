"""The plain files below a directory that somebody else wrote: bounded, no link followed, nothing opened."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A plain file. Times in nanoseconds since 1970, as the file system has them."""

    name: str
    """Path below the root, with `/`; bytes that are no UTF-8 as lone surrogates, so that it can be opened."""
    size: int
    modified_ns: int
    changed_ns: int
    """When the inode changed last: content, mode, name or links. No program inside a sandbox can set it back."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What was found."""

    files: tuple[FoundFile, ...]
    """By name."""
    whole: bool
    """False: there are more, or a directory could not be listed."""


def plain_files(root: Path, most: int) -> Tree:
    """At most `most` plain files below `root`; a root that is missing or closed is an empty tree that is not whole.

    Nor is one whole that has ten times as many entries of any kind: directories and links take time too.
    """
    found: list[FoundFile] = []
    left = 10 * most
    whole = True
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return Tree(tuple(sorted(found, key=_name)), whole=False)
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                    elif entry.is_file(follow_symlinks=False):
                        if len(found) >= most:
                            return Tree(tuple(sorted(found, key=_name)), whole=False)
                        status = entry.stat(follow_symlinks=False)
                        found.append(FoundFile(name, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
        except OSError:  # closed by its owner, deeper than a path may be long, or gone
            whole = False
    return Tree(tuple(sorted(found, key=_name)), whole=whole)


def printable(name: str) -> str:
    """A file's name as text that any file of ours can hold: what is no printable character is escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in name)


def _name(file: FoundFile) -> str:
    return file.name
