"""Control groups that this process may make children of: version 2 where delegated, version 1 as root.

What counts is what the directory allows, not who we are. A directory is used only if a child of it can be made, shows
the limit's file and can be removed again: some hosts offer directories that are writable but inert. Version 2 forbids
children with limits beside processes, so our own group's parent is looked at too; never further up, because there the
limits of a batch job would be left behind.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PREFIX = "matproof-"
"""Start of the names of groups that we make; what follows is the process that made it."""


@dataclass(frozen=True, slots=True)
class CgroupHome:
    """A directory below which a group for one sandbox can be made."""

    directory: Path
    version: int
    controllers: frozenset[str]
    """Those of `memory` and `pids` that it can limit."""


def find_homes(*, root: Path = Path("/"), controllers: Iterable[str] = ("memory", "pids")) -> tuple[CgroupHome, ...]:
    """Where groups with `controllers` can be made: one version 2 home, or one version 1 home a controller, or none.

    `root` is where `/proc/self` and the directories they name are looked up.
    """
    try:
        mounts = (root / "proc/self/mountinfo").read_text()
        groups = (root / "proc/self/cgroup").read_text()
    except OSError:
        return ()
    wanted = set(controllers)
    own = {names: path for _, names, path in (line.split(":", 2) for line in groups.splitlines() if line)}
    old: list[CgroupHome] = []
    for mounted, kind, options, base in _cgroup_mounts(mounts):
        place = root / mounted.lstrip("/")
        if kind == "cgroup2":
            home = usable_v2(place, _below(place, base, own.get("", "/")), wanted)
            if home is not None:
                return (home,)
            continue
        for names, path in own.items():
            have = wanted & set(names.split(",")) & options
            directory = _below(place, base, path)
            if have and all(usable(directory, _V1_FILES[name]) for name in have):
                old.append(CgroupHome(directory, 1, frozenset(have)))
    return tuple(old)


def usable_v2(mount: Path, own: Path, wanted: set[str]) -> CgroupHome | None:
    """The first of `own` and its parent that hands all `wanted` controllers down to children that we may make."""
    for directory in (own, own.parent):
        if not directory.is_relative_to(mount):
            continue
        try:
            handed_down = set((directory / "cgroup.subtree_control").read_text().split())
        except OSError:
            continue
        if wanted <= handed_down and all(usable(directory, f"{name}.max") for name in wanted):
            return CgroupHome(directory, 2, frozenset(wanted))
    return None


_V1_FILES = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}


def usable(directory: Path, limit: str) -> bool:
    """Whether a child of `directory` can be made, has a writable `limit`, and can be removed."""
    if not os.access(directory / "cgroup.procs", os.W_OK):
        return False
    child = directory / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        child.mkdir()
    except OSError:
        return False
    try:
        return os.access(child / limit, os.W_OK)
    finally:
        child.rmdir()


def limits_of(home: CgroupHome, *, memory_bytes: int | None, processes: int | None) -> dict[str, str]:
    """Files to write in a group of `home`, in order, and their text. Names that end in `?` may be missing."""
    files: dict[str, str] = {}
    if "memory" in home.controllers and memory_bytes is not None:
        if home.version == 2:
            files |= {"memory.max": str(memory_bytes), "memory.swap.max?": "0"}
        else:
            files |= {"memory.limit_in_bytes": str(memory_bytes), "memory.memsw.limit_in_bytes?": str(memory_bytes)}
    if "pids" in home.controllers and processes is not None:
        files["pids.max"] = str(processes)
    return files


def events_of(home: CgroupHome) -> dict[str, tuple[str, str]]:
    """File of events → (counter in it, what a count above zero means)."""
    events: dict[str, tuple[str, str]] = {}
    if "memory" in home.controllers:
        name = "memory.events" if home.version == 2 else "memory.oom_control"
        events[name] = ("oom_kill", "processes were ended: together they needed more memory than allowed")
    if "pids" in home.controllers:
        events["pids.events"] = ("max", "new processes were refused: there were as many as allowed")
    return events


def _cgroup_mounts(mountinfo: str) -> list[tuple[str, str, set[str], str]]:
    rows = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) > 4 and kind and kind[0] in ("cgroup", "cgroup2"):
            rows.append((_unescape(fields[4]), kind[0], set(kind[-1].split(",")), _unescape(fields[3])))
    return rows


def _unescape(text: str) -> str:
    """Mount table paths write space, tab, newline and backslash as octal."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def _below(mount: Path, base: str, own: str) -> Path:
    """Directory of group `own` where the mount shows the hierarchy from `base` down; `..` can't leave it."""
    relative = own.removeprefix(base) if base != "/" and (own == base or own.startswith(base + "/")) else own
    parts = [part for part in relative.split("/") if part not in ("", "..")]
    return mount.joinpath(*parts)
