"""The door: a program of its own that prepares what only a running process can and becomes bubblewrap.

Run as `python -I -S enter.py ORDER COMMAND…`; ORDER is JSON from `bubblewrap.py`. It uses the standard library alone,
because every sandbox waits for it. It

- closes every descriptor but the three streams, so nothing that was open outside is open inside;
- hands bubblewrap its arguments, small files and system call filter through memory, so that no host path and no
  variable stands in a command line that is visible inside;
- enters control groups;
- leaves a watcher behind, outside and in a session of its own, which enforces what groups can't, sees to it that
  nothing is left when bubblewrap has ended, and removes the groups;
- replaces itself by bubblewrap with an empty environment, since `/proc/1/environ` inside is bubblewrap's own.

Being replaced rather than being a parent keeps signals, streams and exit status exactly bubblewrap's.

The watcher must look for survivors: bubblewrap's first process inside ties its life to the outer one only some time
after it was made, and killed in between, the outer one leaves it running (7 of 120 kills in the first 40 ms). A random
name in the command line of both tells them apart from all others.
"""

import base64
import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

BEGIN_FD = 9
"""Where the script inside names its process namespace just before the command starts; closed to the command."""
FAILED = 75
LOOK_EVERY_S = 0.2
END_WITHIN_S = 10.0
PREFIX = "matproof-"


def main(arguments: list[str]) -> NoReturn:
    """Become bubblewrap. Exits with 75 and one line where that is impossible."""
    order: dict[str, Any] = json.loads(arguments[0])
    try:
        os.closerange(3, 1 << 20)
        told = _open_begin()
        life = Path(order["life"], str(os.getpid())) if order["life"] else None
        name = f"sandbox-{os.urandom(8).hex()}"
        groups = [Path(group["home"], f"{PREFIX}{os.getpid()}") for group in order["groups"]]
        # The watcher comes first, so that it removes whatever is made from here on.
        _leave_watcher(order, groups, told, life, name)
        if life is not None:
            life.parent.mkdir(parents=True, exist_ok=True)
            life.touch(exist_ok=False)
        for group, asked in zip(groups, order["groups"], strict=True):
            _enter_group(group, asked["files"])
        inner = [name if word == "NAME" else word for word in order["inner"]]
        argv = [order["bwrap"], "--args", str(_bwrap_arguments(order)), "--", *inner, *arguments[1:]]
        os.execve(argv[0], argv, {})  # noqa: S606 - replaces this process; there is no shell
    except OSError as error:
        _say(f"matproof: the sandbox can't be entered: {error}")
    os._exit(FAILED)


def _open_begin() -> int:
    told, begin = os.pipe()
    told = os.dup2(told, BEGIN_FD + 1, inheritable=False)
    os.dup2(begin, BEGIN_FD, inheritable=True)
    os.closerange(3, BEGIN_FD)
    return told


def _in_memory(data: bytes) -> int:
    handle = os.memfd_create("matproof", 0)
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _bwrap_arguments(order: dict[str, Any]) -> int:
    arguments: list[str] = []
    if order["seccomp"]:
        arguments += ["--seccomp", str(_in_memory(base64.b64decode(order["seccomp"])))]
    for target, text in order["files"].items():
        arguments += ["--perms", "0444", "--file", str(_in_memory(text.encode())), target]
    arguments += order["arguments"]
    return _in_memory(b"".join(os.fsencode(item) + b"\0" for item in arguments))


def _enter_group(group: Path, files: dict[str, str]) -> None:
    _sweep(group.parent)
    group.mkdir()
    for name, text in files.items():
        file = group / name.rstrip("?")
        if file.exists() or not name.endswith("?"):
            file.write_text(text)
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _sweep(home: Path) -> None:
    """Remove groups whose sandbox and watcher were both killed; one that is in use can't be removed."""
    for directory in home.glob(f"{PREFIX}*"):
        owner = directory.name.removeprefix(PREFIX)
        if owner.isdecimal() and not Path("/proc", owner).exists():
            _remove(directory, patience_s=0)


def _remove(directory: Path, *, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            directory.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= deadline:
                return
            time.sleep(0.02)
        else:
            return


def _leave_watcher(order: dict[str, Any], groups: list[Path], told: int, life: Path | None, name: str) -> None:
    sandbox = os.getpid()
    if os.fork():
        os.close(told)
        return
    try:
        os.setsid()
        os.chdir("/")
        os.close(BEGIN_FD)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        namespace = _watch(sandbox, order["watch"], told)
        for group, asked in zip(groups, order["groups"], strict=True):
            _tell_events(group, asked["events"])
        os.dup2(null, 2)
        gone = _end_survivors(name, namespace)
        for group in groups:
            _remove(group, patience_s=END_WITHIN_S)
        if life is not None and gone:
            with contextlib.suppress(FileNotFoundError):
                life.rename(life.with_suffix(".begun" if namespace else ".failed"))
    finally:
        os._exit(0)


def _watch(sandbox: int, limits: dict[str, int | None] | None, told: int) -> str:
    """Return the process namespace when `sandbox`, our parent, has ended; end it when it holds more than `limits`."""
    events = select.poll()
    with contextlib.suppress(OSError):  # a kernel before 5.3: the end is then seen by losing the parent
        events.register(os.pidfd_open(sandbox), select.POLLIN)
    events.register(told, select.POLLIN)
    namespace = ""
    while os.getppid() == sandbox:
        ready = {handle for handle, _ in events.poll(int(LOOK_EVERY_S * 1000) if limits else 1000)}
        if told in ready:
            # Only what comes first is from our script: the command could write there too, through /proc.
            namespace = os.read(told, 64).decode(errors="replace").strip()
            events.unregister(told)
            os.close(told)
            told = -1
        excess = _excess(sandbox, limits) if limits else None
        if excess and os.getppid() == sandbox:
            _say(f"matproof: the sandbox was ended: {excess}")
            os.kill(sandbox, signal.SIGKILL)
    if told >= 0:
        os.set_blocking(told, False)
        with contextlib.suppress(BlockingIOError):
            namespace = os.read(told, 64).decode(errors="replace").strip()
    return namespace


def _end_survivors(name: str, namespace: str) -> bool:
    """End what is left of the sandbox and say whether nothing is; only bubblewrap and our script have `name`."""
    deadline = time.monotonic() + END_WITHIN_S
    while True:
        named = [pid for pid in _processes() if _has_argument(pid, name.encode())]
        for pid in named:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not named and not (namespace and any(_lives_in(pid, namespace) for pid in _processes())):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)


def _processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]  # noqa: PTH208 - five times a second


def _has_argument(pid: int, word: bytes) -> bool:
    try:
        return word in Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False  # ended meanwhile


def _lives_in(pid: int, namespace: str) -> bool:
    try:
        if os.readlink(f"/proc/{pid}/ns/pid") != namespace:  # noqa: PTH115
            return False
        # A dead process that nobody has collected yet still names its namespace.
        return _stat(pid)[0] not in ("Z", "X")
    except OSError:
        return False  # ended meanwhile, or another user's, so not in the sandbox


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


def _tell_events(group: Path, events: dict[str, list[str]]) -> None:
    for name, (counter, meaning) in events.items():
        try:
            lines = (group / name).read_text().splitlines()
        except OSError:
            continue
        if any(line.split()[:1] == [counter] and line.split()[1] != "0" for line in lines):
            _say(f"matproof: {meaning}")


def _say(text: str) -> None:
    try:
        os.write(2, f"{text}\n".encode(errors="replace"))
    except OSError:
        return  # nobody reads the stream any more


if __name__ == "__main__":
    main(sys.argv[1:])
