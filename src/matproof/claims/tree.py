"""The files of a package, walked without ever following a link out of it, opening a pipe or running in a circle."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAX_ENTRIES = 200_000

Kind = Literal["file", "directory", "special", "outside", "broken", "loop", "unreadable", "too_many"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a package and what is really behind it."""

    path: Path
    """As it stands in the package."""
    kind: Kind
    """`outside`, `broken` and `loop` are links; `special` a pipe, socket or device, linked or not."""
    real: Path | None = None
    """Where it really is, links resolved; None where that is nowhere or elsewhere."""
    link: str | None = None
    """The link's own text, where it is one."""


def walk(root: Path, start: Path | None = None) -> Iterator[Entry]:
    """Every name below `start` (default `root`), sorted, depth first. Links must stay inside `root`."""
    home = root.resolve()
    left = MAX_ENTRIES
    for entry in _walk(home, start or root, ()):
        left -= 1
        if left < 0:
            yield Entry(path=root, kind="too_many")
            return
        yield entry


def entry_of(root: Path, path: Path) -> Entry | None:
    """What `path` below `root` is, or None where there is nothing of that name."""
    return _entry(root.resolve(), path) if os.path.lexists(path) else None


def read_bytes(entry: Entry, limit: int) -> bytes:
    """At most `limit` bytes of a plain file; never waits on a pipe. Raises OSError."""
    if entry.real is None or entry.kind != "file":
        raise OSError(f"{entry.path} is not a plain file")
    return read_plain(entry.real, limit)


def read_plain(path: Path, limit: int) -> bytes:
    """At most `limit` bytes of the plain file `path`; a pipe or device raises OSError at once."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a plain file")
        return stream.read(limit)


def _walk(home: Path, directory: Path, chain: tuple[Path, ...]) -> Iterator[Entry]:
    here = directory.resolve()
    try:
        names = sorted(item.name for item in directory.iterdir())
    except OSError:
        yield Entry(path=directory, kind="unreadable")
        return
    for name in names:
        entry = _entry(home, directory / name)
        if entry.kind == "directory" and entry.real is not None:
            if entry.real in (*chain, here) or here.is_relative_to(entry.real):
                yield Entry(path=entry.path, kind="loop", link=entry.link)
                continue
            yield entry
            yield from _walk(home, entry.path, (*chain, here))
        else:
            yield entry


def _entry(home: Path, path: Path) -> Entry:
    link: str | None = None
    try:
        if path.is_symlink():
            link = str(path.readlink())
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        if link is None:
            return Entry(path=path, kind="unreadable")
        circle = isinstance(error, RuntimeError) or getattr(error, "errno", None) == 40
        return Entry(path=path, kind="loop" if circle else "broken", link=link)
    if not real.is_relative_to(home):
        return Entry(path=path, kind="outside", link=link)
    if stat.S_ISREG(mode):
        readable = os.access(real, os.R_OK)
        return Entry(path=path, kind="file" if readable else "unreadable", real=real, link=link)
    if stat.S_ISDIR(mode):
        return Entry(path=path, kind="directory", real=real, link=link)
    return Entry(path=path, kind="special", real=real, link=link)
