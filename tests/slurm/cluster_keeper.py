"""The process that starts and ends the daemons of a test cluster, and outlives nobody.

Run as `python cluster_keeper.py DIRECTORY`. It reads one request a line, as JSON, and answers each with a line; when
its input ends, because whoever started it closed it or died in whatever way, it ends every daemon and every process
that these left, then removes DIRECTORY. Orphans of the daemons become its children (it is their subreaper), so it ends
exactly what it started, by process id, and a daemon can't outlive it (its parent-death signal).
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE_S = 5.0
_libc = ctypes.CDLL(None, use_errno=True)


class Keeper:
    """The daemons by name."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """`start` a daemon, `signal` it, `end` it and wait, or give its `pid` and whether it lives."""
        name = request["name"]
        if request["do"] == "start":
            self._start(name, request["argv"], request["env"], Path(request["log"]))
        elif request["do"] == "signal":
            os.kill(self._pids[name], request["number"])
        elif request["do"] == "end":
            self._end(name, request["number"])
        return {"pid": self._pids.get(name), "alive": self._lives(name)}

    def reap(self) -> None:
        """Collect children that ended, daemons or orphans."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._pids = {name: known for name, known in self._pids.items() if known != pid}

    def end_all(self) -> None:
        """Daemons gently, in reverse order; then everything that is left below this process."""
        for name in reversed(list(self._pids)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pids[name], signal.SIGCONT)
            self._end(name, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while (left := descendants(os.getpid())) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.reap()
            time.sleep(0.02)

    def _start(self, name: str, argv: list[str], env: dict[str, str], log: Path) -> None:
        if self._lives(name):
            return
        with log.open("ab") as stream:
            child = subprocess.Popen(
                argv,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        child.returncode = 0  # collected by `reap`, with the orphans
        self._pids[name] = child.pid

    def _end(self, name: str, number: int) -> None:
        for attempt in (number, signal.SIGKILL):
            if name in self._pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._pids[name], attempt)
            deadline = time.monotonic() + PATIENCE_S
            while name in self._pids and time.monotonic() < deadline:
                self.reap()
                time.sleep(0.01)

    def _lives(self, name: str) -> bool:
        self.reap()
        return name in self._pids


def descendants(root: int) -> list[int]:
    """Every process below `root`, those nearest first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, queue = [], [root]
    while queue:
        queue += (below := children.get(queue.pop(0), []))
        found += below
    return found


def _heard(number: int, frame: object) -> None:
    """Ctrl-C is for whoever started this; the end of the input tells. (Ignoring would be inherited by every job.)"""


def main() -> None:
    """Answer until the input ends."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _heard)
    keeper, pending = Keeper(), b""
    while True:
        ready, _, _ = select.select([0], [], [], 0.5)
        keeper.reap()
        if not ready:
            continue
        chunk = os.read(0, 65536)
        if not chunk:
            break
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            try:
                said = keeper.answer(json.loads(line))
            except (OSError, KeyError) as error:
                said = {"error": f"{type(error).__name__}: {error}"}
            with contextlib.suppress(BrokenPipeError):
                os.write(1, json.dumps(said).encode() + b"\n")
    keeper.end_all()
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
