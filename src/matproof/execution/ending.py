"""Being told to end: SIGTERM (a batch system, Snakemake) and SIGINT (a person) end a run in order.

The signal becomes an exception in the main thread, wherever that is: in a session's event loop, in a system call, or
waiting for steps that run in other threads. What those wait for is ended at the same time by a thread that stands
ready: programs through `processes.halt`, clients of sessions as children of this process. The exception is a
SystemExit, because event loops let only that and KeyboardInterrupt through.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import psutil

from matproof.core import processes
from matproof.core.clock import elapsed

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_PATIENCE_S = 10.0


class EndedBySignal(SystemExit):
    """Raised in the main thread when the process was told to end."""


class Ending:
    """Whether this process was told to end. `reason` is None as long as it was not."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.heard = False
        """Whether signals reach this."""
        self._why: str | None = None
        self._armed = True
        self._told, self._tell = os.pipe()
        self._seen: list[psutil.Process] = []
        self._looked = threading.Event()
        self._over = threading.Event()
        self._killer = threading.Thread(target=self._kill, name="ending", daemon=True)
        self._killer.start()

    def take(self, number: int, frame: FrameType | None) -> None:
        """The signal handler; the first signal counts."""
        if self.reason is not None or not self._armed:
            return
        self.reason = self._why or f"ended by signal {signal.Signals(number).name}"
        os.write(self._tell, b"!")
        raise EndedBySignal(self.reason)

    def stop(self, why: str) -> None:
        """End the run from another thread, as a signal would, because of `why`; nothing where no signal is heard."""
        if self.heard and self._armed:
            self._why = why
            os.kill(os.getpid(), signal.SIGTERM)

    def disarm(self) -> None:
        """From here on signals are ignored: what is left to do is short and must not be cut."""
        self._armed = False

    def wait_until_alone(self) -> bool:
        """After a signal: wait until everything that ran below this process is gone; False where some of it is not."""
        deadline = elapsed() + _PATIENCE_S
        self._looked.wait(_PATIENCE_S)
        while any(_lives(process) for process in list(self._seen)):
            if elapsed() > deadline:
                return False
            threading.Event().wait(0.02)
        return True

    def close(self) -> None:
        """Let the thread go and allow programs again."""
        self._over.set()
        os.close(self._tell)
        self._killer.join(_PATIENCE_S)
        os.close(self._told)
        processes.resume()

    def _kill(self) -> None:
        if not os.read(self._told, 1):
            return
        processes.halt()
        while not self._over.is_set():
            me = psutil.Process()
            self._seen += [process for process in me.children(recursive=True) if process not in self._seen]
            for child in me.children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
            self._looked.set()
            self._over.wait(0.1)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def ended_by_signal() -> Iterator[Ending]:
    """Turn signals into EndedBySignal for the length of the block; in another thread than the main one, none come."""
    ending = Ending()
    before = {}
    if threading.current_thread() is threading.main_thread():
        wanted = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, ending.take) for number in wanted}
        ending.heard = signal.SIGTERM in before
    try:
        yield ending
    finally:
        ending.disarm()
        for number, handler in before.items():
            signal.signal(number, handler)
        ending.close()
