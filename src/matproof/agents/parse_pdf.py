"""What agents need of `papers` to have ParsePDF in a sandbox: the mounts of its server, and one PDF parsed aside."""

import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.papers.on_demand import TIMEOUT_S
from matproof.papers.server import NOT_PARSED
from matproof.papers.server_command import once_argv, shown
from matproof.papers.tool import NotParsedError
from matproof.sandbox.engine import Engine, Mount, SandboxSpec, open_sandbox, python_software

_MEMORY_GB = 3
_MOST_BYTES = 100_000_000
"""More than the parser writes, so that the log of its output is never divided."""


def server_mounts(engine: Engine) -> tuple[Mount, ...]:
    """Mounts with which `papers.server_command` works inside a sandbox of `engine`."""
    mounts = [Mount(source=path, target=target) for target, path in shown().items()]
    if engine.name == "apptainer" and not engine.own_python:
        mounts += [Mount(source=path, target=str(path)) for path in python_software()]
    return tuple(mounts)


class ParsedAside:
    """Reads PDFs that are not the claim's paper, one after another, each in a sandbox of its own without network.

    It is `other` of `parse_pdf_tool` where the tool is answered outside the sandbox; `close` ends it.
    """

    def __init__(self, spec: Callable[[], SandboxSpec], *, allow_weaker: bool, deadline: float) -> None:
        """`spec` gives a sandbox that shows payload and artifacts; `deadline` is on the clock of `core.clock.elapsed`.

        It is asked anew for each PDF: the agent may have closed the artifacts since.
        """
        self._spec = spec
        self._allow_weaker = allow_weaker
        self._deadline = deadline
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, inside: str) -> str:
        """The Markdown of the PDF that the agent sees at `inside`.

        Raises NotParsedError; RefusedError and InfrastructureError where there is no sandbox to read it in.
        """
        with self._lock, tempfile.TemporaryDirectory(prefix="matproof-parsed-") as scratch:
            left = self._deadline - elapsed()
            if left <= 0 or self._closed.is_set():
                raise NotParsedError("Not parsed: the session is over.")
            out = Path(scratch, "paper.md")
            finished = open_sandbox(_reading(self._spec()), allow_weaker=self._allow_weaker).run(
                once_argv(inside),
                timeout_s=min(TIMEOUT_S + 20, left),
                stdout_to=out,
                max_log_bytes=_MOST_BYTES,
                cancel=self._closed,
            )
            if finished.ok:
                return out.read_text(encoding="utf-8", errors="replace")
        if finished.ending != "exited":
            raise NotParsedError(f"Not parsed: reading {inside[:200]!r} took too long.")
        if finished.returncode == NOT_PARSED:
            raise NotParsedError(finished.stderr.strip().splitlines()[-1])
        raise InfrastructureError(f"the PDF reader did not start in its sandbox: {finished.stderr.strip()[-500:]}")

    def close(self) -> None:
        """End what is being read and wait for it; nothing more is read."""
        self._closed.set()
        with self._lock:
            return


def _reading(spec: SandboxSpec) -> SandboxSpec:
    """The same files, all read-only, with the reader and without a way out."""
    mounts = (*(replace(mount, writable=False) for mount in spec.mounts), *server_mounts(spec.engine))
    return replace(spec, mounts=mounts, gateway_socket=None, allow_hosts=(), memory_gb=_MEMORY_GB)
