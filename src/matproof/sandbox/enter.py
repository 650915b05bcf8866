"""The door: a program of its own that prepares what only a running process can and becomes bubblewrap.

Run as `python -I -S enter.py ORDER COMMAND…`; ORDER is JSON from `bubblewrap.py`. It uses the standard library alone,
because every sandbox waits for it. It

- closes every descriptor but the three streams, so nothing that was open outside is open inside;
- hands bubblewrap its arguments, small files and system call filter through memory, so that no host path and no
  variable stands in a command line that is visible inside;
- enters control groups, and leaves a watcher behind, outside, that enforces what they can't and removes them;
- replaces itself by bubblewrap with an empty environment, since `/proc/1/environ` inside is bubblewrap's own.

Being replaced rather than being a parent keeps signals, streams and exit status exactly bubblewrap's.
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

STATUS_FD = 9
"""Where the script inside says that the command is about to start; closed before the command runs."""
FAILED = 75
LOOK_EVERY_S = 0.2
PREFIX = "matproof-"


def main(arguments: list[str]) -> NoReturn:
    """Become bubblewrap. Exits with 75 and one line where that is impossible."""
    order: dict[str, Any] = json.loads(arguments[0])
    try:
        os.closerange(3, 1 << 20)
        _open_status(order["status"])
        groups = [_make_group(group) for group in order["groups"]]
        if groups or order["watch"]:
            _leave_watcher(order, groups)
        for group in groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        argv = [order["bwrap"], "--args", str(_bwrap_arguments(order)), "--", *order["inner"], *arguments[1:]]
        os.execve(argv[0], argv, {})  # noqa: S606 - replaces this process; there is no shell
    except OSError as error:
        _say(f"matproof: the sandbox can't be entered: {error}")
    os._exit(FAILED)


def _open_status(path: str | None) -> None:
    handle = os.open(path or os.devnull, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.dup2(handle, STATUS_FD, inheritable=True)
    if handle != STATUS_FD:
        os.close(handle)


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


def _make_group(group: dict[str, Any]) -> Path:
    home = Path(group["home"])
    _sweep(home)
    directory = home / f"{PREFIX}{os.getpid()}"
    directory.mkdir()
    for name, text in group["files"].items():
        file = directory / name.rstrip("?")
        if file.exists() or not name.endswith("?"):
            file.write_text(text)
    return directory


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


def _leave_watcher(order: dict[str, Any], groups: list[Path]) -> None:
    sandbox = os.getpid()
    if os.fork():
        return
    try:
        os.setsid()
        os.chdir("/")
        os.close(STATUS_FD)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        _watch(sandbox, order["watch"])
        for group, told in zip(groups, order["groups"], strict=True):
            _tell_events(group, told["events"])
        os.dup2(null, 2)
        for group in groups:
            _remove(group, patience_s=10)
    finally:
        os._exit(0)


def _watch(sandbox: int, limits: dict[str, int | None] | None) -> None:
    """Return when `sandbox`, our parent, has ended; end it when it holds more than `limits`."""
    ended = select.poll()
    with contextlib.suppress(OSError):  # a kernel before 5.3: the end is then seen by losing the parent
        ended.register(os.pidfd_open(sandbox), select.POLLIN)
    pause_ms = int(LOOK_EVERY_S * 1000) if limits else 5000
    while os.getppid() == sandbox:
        if ended.poll(pause_ms):
            return
        excess = _excess(sandbox, limits) if limits else None
        if excess and os.getppid() == sandbox:
            _say(f"matproof: the sandbox was ended: {excess}")
            os.kill(sandbox, signal.SIGKILL)


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
    for entry in os.listdir("/proc"):  # noqa: PTH208 - five times a second
        if not entry.isdecimal() or int(entry) == os.getpid():
            continue
        try:
            fields = Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        # After the name in parentheses: state, parent, … ; 18th is threads, 22nd resident pages.
        children.setdefault(int(fields[1]), []).append((int(entry), int(fields[17]), int(fields[21]) * page))
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
