"""The functions that run other programs: `run`, and `attached` for one that a person watches.

Every program of ours is started here, from an argument list that a pure function built: no shell, its own session,
both streams drained into capped logs, and on a timeout or a cancel the whole process group ended, gently, then not.
A log that can't be written never stops the program: its streams are drained all the same, and the error comes after.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError

TAIL_BYTES = 64_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a program ended. Streams are the last `TAIL_BYTES` of each, undecodable bytes replaced."""

    argv: tuple[str, ...]
    returncode: int
    """Exit status; negative for the signal that ended it."""
    ending: Literal["exited", "timeout", "cancelled"]
    seconds: float
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with status 0."""
        return self.ending == "exited" and self.returncode == 0


class RotatingLog:
    """A log of at most two files of `max_bytes` each: `path`, and `path.1` with what came before."""

    def __init__(self, path: Path | None, max_bytes: int) -> None:
        self.problem: OSError | None = None
        """Why the file is not whole, where it is not."""
        self._lock = threading.Lock()
        self._path = path
        self._max_bytes = max_bytes
        self._written = 0
        self._tail = bytearray()
        self._stream: IO[bytes] | None = None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._stream = path.open("wb")
            except OSError as error:
                self.problem = error

    def write(self, chunk: bytes) -> None:
        """Append `chunk`, rotating first where it would not fit. After an OSError only the tail is kept."""
        with self._lock:
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]
            try:
                self._append(chunk)
            except OSError as error:
                self._give_up(error)

    def _append(self, chunk: bytes) -> None:
        if self._stream is None or self._path is None:
            return
        if self._written and self._written + len(chunk) > self._max_bytes:
            self._stream.close()
            self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._stream = self._path.open("wb")
            self._written = 0
        self._stream.write(chunk)
        self._stream.flush()
        self._written += len(chunk)

    def close(self) -> None:
        """Close the file; later writes reach the tail only, which stays readable."""
        with self._lock:
            stream, self._stream = self._stream, None
            if stream is not None:
                try:
                    stream.close()
                except OSError as error:
                    self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.problem = self.problem or error
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(OSError):  # closing writes what is left, which fails again
                stream.close()

    @property
    def tail(self) -> str:
        """The last `TAIL_BYTES` as text."""
        with self._lock:
            return self._tail.decode(errors="replace")


_halted = threading.Event()


def halt() -> None:
    """End every program that `run` runs, in whichever thread, and start no other until `resume`.

    For a process that was told to end: what its other threads wait for ends, and nothing follows.
    """
    _halted.set()


def resume() -> None:
    """Allow programs again."""
    _halted.clear()


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout_s: float | None = None,
    grace_s: float = 2.0,
    stdout_to: Path | None = None,
    stderr_to: Path | None = None,
    max_log_bytes: int = 20_000_000,
    cancel: threading.Event | None = None,
) -> Finished:
    """Run `argv` to its end and say how it ended.

    `env` of None inherits this process's; `timeout_s` and `grace_s` are seconds; logs rotate at `max_log_bytes`.
    Setting `cancel` from another thread ends the program. Raises FileNotFoundError where the program is missing,
    ValueError or another OSError where the system takes no such arguments, and InfrastructureError where a log could
    not be written, after the program has ended, or after `halt`.
    """
    if _halted.is_set():
        raise InfrastructureError("this process is about to end: nothing more is started")
    started = elapsed()
    process = subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=None if env is None else dict(env),
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    logs = (RotatingLog(stdout_to, max_log_bytes), RotatingLog(stderr_to, max_log_bytes))
    pumps = [
        threading.Thread(target=_pump, args=(stream, log), daemon=True)
        for stream, log in zip((process.stdout, process.stderr), logs, strict=True)
    ]
    if stdin is not None:
        pumps.append(threading.Thread(target=_feed, args=(process.stdin, stdin.encode()), daemon=True))
    for pump in pumps:
        pump.start()
    try:
        ending = _wait(process, timeout_s, cancel)
    except BaseException:
        end_group(process, grace_s=0)
        raise
    if ending != "exited":
        end_group(process, grace_s=grace_s)
    for pump in pumps:
        # A daemonised child may hold the pipe open for ever; what it writes later is not ours to wait for.
        pump.join(timeout=5)
    for log, path in zip(logs, (stdout_to, stderr_to), strict=True):
        log.close()
        if log.problem is not None:
            raise InfrastructureError(f"the log {path} could not be written: {log.problem}") from log.problem
    return Finished(
        argv=tuple(argv),
        returncode=process.wait(),
        ending=ending,
        seconds=elapsed() - started,
        stdout=logs[0].tail,
        stderr=logs[1].tail,
    )


def attached(argv: Sequence[str]) -> int:
    """Run `argv` in this terminal, with its streams, and return its exit status; negative for a signal.

    Ctrl-C reaches it from the terminal and SIGTERM from here, and it decides what becomes of them: it is waited for.
    Call it from the main thread. Raises FileNotFoundError where the program is missing.
    """
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, _frame: object) -> None:
        if number != signal.SIGTERM:
            return
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    # A handler of ours is not inherited, as ignoring would be: the program starts with the usual ones.
    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        process = subprocess.Popen(list(argv))
        for number in early:  # came while the program was being started
            process.send_signal(number)
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(
    process: subprocess.Popen[bytes], timeout_s: float | None, cancel: threading.Event | None
) -> Literal["exited", "timeout", "cancelled"]:
    deadline = None if timeout_s is None else elapsed() + timeout_s
    while True:
        if _halted.is_set() or (cancel is not None and cancel.is_set()):
            return "cancelled"
        left = None if deadline is None else deadline - elapsed()
        if left is not None and left <= 0:
            return "timeout"
        try:
            process.wait(0.1 if left is None else min(0.1, left))
        except subprocess.TimeoutExpired:
            continue
        return "exited"


def end_group(process: subprocess.Popen[bytes], *, grace_s: float) -> None:
    """End the process group that `process` leads: SIGTERM, `grace_s` seconds, then SIGKILL."""
    for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        if number is signal.SIGTERM and grace_s <= 0:
            continue
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


def _pump(stream: IO[bytes] | None, log: RotatingLog) -> None:
    while stream is not None and (chunk := os.read(stream.fileno(), 65_536)):
        log.write(chunk)


def _feed(stream: IO[bytes] | None, data: bytes) -> None:
    if stream is None:
        return
    try:
        stream.write(data)
        stream.close()
    except BrokenPipeError:
        return  # the program ended before it read its input; its exit status tells
