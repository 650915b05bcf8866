"""Which mechanism enforces which limit on this host: decided from facts, so that every case can be tested.

Memory and processes are limited by a control group where one can be made. Elsewhere RLIMIT_DATA bounds each process's
memory and a watcher outside ends the sandbox when all of them together hold more; RLIMIT_NPROC bounds processes,
except root's and those of kernels that count a user's processes outside too (before 5.14): there the watcher counts.
RLIMIT_AS is not used: clients reserve far more address space than they touch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from matproof.sandbox.cgroups import CgroupHome, events_of, limits_of

GIGABYTE = 1_000_000_000
LEAST_DATA_BYTES = 2 * GIGABYTE
"""The Claude client starts with RLIMIT_DATA at 1 GiB and not at 0.5 GiB, so lower limits are left to the watcher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """What decides on this host."""

    root: bool
    kernel: tuple[int, int]
    cgroups: tuple[CgroupHome, ...] = ()
    hard: Mapping[str, int]
    """prlimit's option name → hard limit of this process; infinity is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One control group to make for each run."""

    home: str
    files: Mapping[str, str]
    events: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitPlan:
    """How the limits are enforced."""

    prlimit: tuple[str, ...]
    """Options of prlimit, run inside just before the command."""
    groups: tuple[Group, ...]
    watch_memory: int | None
    """Bytes that the watcher allows all processes together."""
    watch_processes: int | None
    """Threads that the watcher allows."""
    enforced: Mapping[str, str]
    """Limit → mechanism, for the record."""


def plan_limits(
    host: HostLimits,
    *,
    memory_gb: float | None,
    processes: int | None,
    file_gb: float,
    open_files: int,
    inside: bool = True,
) -> LimitPlan:
    """The mechanisms for these limits on `host`.

    Without `inside` resource limits are set before the sandbox is made, where RLIMIT_NPROC would count all processes
    of the user.
    """
    rlimits = {"core": 0, "fsize": int(file_gb * GIGABYTE), "nofile": open_files}
    enforced = {
        "file size": f"RLIMIT_FSIZE: {file_gb:g} GB a file",
        "open files": f"RLIMIT_NOFILE: {open_files} a process",
        "core dumps": "RLIMIT_CORE: none",
    }
    watch_memory = watch_processes = None
    memory = None if memory_gb is None else int(memory_gb * GIGABYTE)
    if memory is None:
        enforced["memory"] = "no limit asked"
    elif home := _home(host, "memory"):
        enforced["memory"] = f"control group version {home.version}: {memory_gb:g} GB together, with /tmp"
    else:
        watch_memory = memory
        rlimits["data"] = max(memory, LEAST_DATA_BYTES)
        enforced["memory"] = (
            f"RLIMIT_DATA: {rlimits['data'] / GIGABYTE:g} GB a process; "
            f"watcher, five times a second: {memory_gb:g} GB resident together"
        )
    if processes is None:
        enforced["processes"] = "no limit asked"
    elif home := _home(host, "pids"):
        enforced["processes"] = f"control group version {home.version}: {processes} together"
    elif inside and not host.root and host.kernel >= (5, 14):
        rlimits["nproc"] = processes
        enforced["processes"] = f"RLIMIT_NPROC in its own user namespace: {processes} together"
    else:
        watch_processes = processes
        enforced["processes"] = f"watcher, five times a second: {processes} together, then the sandbox ends"
    return LimitPlan(
        prlimit=tuple(f"--{name}={_capped(host, name, value)}" for name, value in sorted(rlimits.items())),
        groups=_groups(host, memory, processes),
        watch_memory=watch_memory,
        watch_processes=watch_processes,
        enforced=enforced,
    )


def _home(host: HostLimits, controller: str) -> CgroupHome | None:
    return next((home for home in host.cgroups if controller in home.controllers), None)


def _groups(host: HostLimits, memory: int | None, processes: int | None) -> tuple[Group, ...]:
    groups = []
    for home in host.cgroups:
        files = limits_of(home, memory_bytes=memory, processes=processes)
        if files:
            groups.append(Group(home=str(home.directory), files=files, events=events_of(home)))
    return tuple(groups)


def _capped(host: HostLimits, name: str, value: int) -> int:
    """A limit above our own hard limit could not be set, and ours holds inside anyway."""
    return min(value, host.hard.get(name, value))
