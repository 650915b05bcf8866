"""The watcher beside a sandbox: outside it, in a session of its own, with the standard library alone.

It enforces what control groups can't, opens Apptainer's bridge to the gateway, and sees to it that nothing is left when
the engine has ended.

The watcher must look for survivors: bubblewrap's first process inside ties its life to the outer one only some time
after it was made, and killed in between, the outer one leaves it running (7 of 120 kills in the first 40 ms). A random
name in the command line or environment of both tells them apart from all others.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LOOK_EVERY_S = 0.2
END_WITHIN_S = 40.0
"""A killed process that still writes to a slow file system takes a while to be gone."""


class Namespace(NamedTuple):
    """A process namespace, told from a later one that the kernel gave the same number."""

    name: str
    """As `/proc/PID/ns/pid` has it; empty where none was named."""
    named_at: int
    """Clock ticks since the machine started when it was named: its first process is no younger."""

    def holds(self, pid: int) -> bool:
        """Whether a process that lives is in it."""
        return bool(self.name) and _lives_in(pid, self.name)

    def survives(self) -> bool:
        """Whether anything in it is alive.

        Numbers of namespaces are used again at once, by whatever sandbox starts next on this machine.
        """
        inside = [pid for pid in _processes() if self.holds(pid)]
        first = next((pid for pid in inside if _number_inside(pid) == 1), None)
        return bool(inside) and (first is None or _started_at(first) <= self.named_at)


class Bridge:
    """The program that listens inside, on behalf of the gateway outside."""

    def __init__(self, socket: str | None, go: int) -> None:
        self._socket = socket
        self._go = go
        self._pid = 0
        self.failed = False

    def open(self, namespace: Namespace) -> None:
        """Start it in the network of `namespace`, and let the script inside go on when it listens."""
        if self._socket is None:
            return
        inside = next((pid for pid in _processes() if namespace.holds(pid)), None)
        ready, tell = os.pipe()
        os.set_inheritable(tell, True)
        program = str(Path(__file__).with_name("bridge.py"))
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        argv = [sys.executable, "-I", "-S", program, str(inside), self._socket, str(tell)]
        self._pid = os.posix_spawn(sys.executable, argv, {}, file_actions=null)
        os.close(tell)
        said = os.read(ready, 500).decode(errors="replace") if select.select([ready], [], [], END_WITHIN_S)[0] else ""
        os.close(ready)
        if said == "ready":
            os.write(self._go, b"go\n")
        else:
            self.failed = True
            say(f"matproof: the bridge to the gateway can't be opened: {said or 'it said nothing'}")
        os.close(self._go)

    def end(self) -> None:
        """End it."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def watch(
    sandbox: int, limits: dict[str, int | None] | None, told: int, bridge: Bridge, starter: int | None
) -> Namespace:
    """Return the process namespace when `sandbox`, our parent, has ended.

    End it when it holds more than `limits`, or when `starter`, its own parent, has ended: bubblewrap sees to that
    itself, but a Go program such as Apptainer may lose the signal when it replaces itself from another thread.
    """
    events = select.poll()
    for pid in (sandbox, starter):
        with contextlib.suppress(OSError):  # a kernel before 5.3: the end is then seen by losing the parent
            if pid is not None:
                events.register(os.pidfd_open(pid), select.POLLIN)
    events.register(told, select.POLLIN)
    namespace = Namespace("", 0)
    while os.getppid() == sandbox:
        ready = {handle for handle, _ in events.poll(int(LOOK_EVERY_S * 1000) if limits else 1000)}
        if told in ready:
            # Only what comes first is from our script: the command could write there too, through /proc.
            namespace = _named(told)
            events.unregister(told)
            os.close(told)
            told = -1
            if namespace.name:
                bridge.open(namespace)
        if starter is not None and _parent(sandbox) not in (starter, None):
            os.kill(sandbox, signal.SIGKILL)
            starter = None
        excess = _excess(sandbox, limits) if limits else None
        if excess and os.getppid() == sandbox:
            say(f"matproof: the sandbox was ended: {excess}")
            os.kill(sandbox, signal.SIGKILL)
    if told >= 0:
        os.set_blocking(told, False)
        with contextlib.suppress(BlockingIOError):
            namespace = _named(told)
    return namespace


def _named(told: int) -> Namespace:
    name = os.read(told, 64).decode(errors="replace").strip()
    return Namespace(name, int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")))


def end_survivors(name: str, namespace: Namespace) -> bool:
    """End what is left of the sandbox and say whether nothing is; only the engine and our script have `name`."""
    deadline = time.monotonic() + END_WITHIN_S
    while True:
        named = [pid for pid in _processes() if _is_named(pid, name.encode())]
        for pid in named:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not named and not namespace.survives():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)


def _processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]  # noqa: PTH208 - five times a second


def _is_named(pid: int, name: bytes) -> bool:
    """Whether it is the engine or our script; Apptainer puts other words into its command line."""
    for source in ("cmdline", "environ"):
        try:
            if name in Path("/proc", str(pid), source).read_bytes():
                return True
        except OSError:
            continue  # ended meanwhile, or another user's
    return False


def _lives_in(pid: int, namespace: str) -> bool:
    try:
        if os.readlink(f"/proc/{pid}/ns/pid") != namespace:  # noqa: PTH115
            return False
        # A dead process that nobody has collected yet still names its namespace.
        return _stat(pid)[0] not in ("Z", "X")
    except OSError:
        return False  # ended meanwhile, or another user's, so not in the sandbox


def _number_inside(pid: int) -> int | None:
    """Number of a process in its own namespace; None where it has ended."""
    try:
        lines = Path("/proc", str(pid), "status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), None)


def _started_at(pid: int) -> int:
    """Clock ticks since the machine started; 0 where it has ended, so that it is looked at again."""
    try:
        return int(_stat(pid)[19])
    except OSError:
        return 0


def _parent(pid: int) -> int | None:
    """Parent of a process, or None where it has ended."""
    try:
        return int(_stat(pid)[1])
    except OSError:
        return None


def _stat(pid: int) -> list[str]:
    """State, parent and what follows the name in parentheses."""
    return Path("/proc", str(pid), "stat").read_text(errors="replace").rpartition(")")[2].split()


def _excess(sandbox: int, limits: dict[str, int | None]) -> str | None:
    inside = list(_descendants(sandbox))
    allowed = limits["processes"]
    threads = sum(count for _, count, _ in inside)
    if allowed is not None and threads > allowed:
        return f"{threads} processes and threads are more than {allowed}"
    allowed = limits["memory"]
    if allowed is not None and sum(resident for _, _, resident in inside) > allowed:
        held = sum(_proportional(pid, resident) for pid, _, resident in inside)
        if held > allowed:
            return f"{held / 1e9:.2f} GB of memory are more than {allowed / 1e9:.2f}"
    return None


def _descendants(top: int) -> Iterator[tuple[int, int, int]]:
    """(process, threads, resident bytes) of everything below `top`, except this watcher."""
    page = os.sysconf("SC_PAGE_SIZE")
    children: dict[int, list[tuple[int, int, int]]] = {}
    for pid in _processes():
        if pid == os.getpid():
            continue
        try:
            fields = _stat(pid)
        except OSError:
            continue
        # Second is the parent, 18th threads, 22nd resident pages.
        children.setdefault(int(fields[1]), []).append((pid, int(fields[17]), int(fields[21]) * page))
    waiting = [top]
    while waiting:
        for row in children.get(waiting.pop(), []):
            waiting.append(row[0])
            yield row


def _proportional(pid: int, resident: int) -> int:
    """Resident bytes with shared pages divided among those who share them; plain resident where that is not told."""
    try:
        for line in Path("/proc", str(pid), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return resident
    return resident


def tell_events(group: Path, events: dict[str, list[str]]) -> None:
    for name, (counter, meaning) in events.items():
        try:
            lines = (group / name).read_text().splitlines()
        except OSError:
            continue
        if any(line.split()[:1] == [counter] and line.split()[1] != "0" for line in lines):
            say(f"matproof: {meaning}")


def say(text: str) -> None:
    try:
        os.write(2, f"{text}\n".encode(errors="replace"))
    except OSError:
        return  # nobody reads the stream any more
