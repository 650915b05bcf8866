"""What agents need of `papers` to have ParsePDF in a sandbox: the mounts of its server, and one PDF parsed aside."""

import tempfile
from dataclasses import replace
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.papers.on_demand import TIMEOUT_S
from matproof.papers.server import NOT_PARSED
from matproof.papers.server_command import once_argv, shown
from matproof.papers.tool import NotParsedError
from matproof.sandbox.engine import Engine, Mount, Sandbox, SandboxSpec, open_sandbox, python_software

_MOST_CHARACTERS = 20_000_000


def server_mounts(engine: Engine) -> tuple[Mount, ...]:
    """Mounts with which `papers.server_command` works inside a sandbox of `engine`."""
    mounts = [Mount(source=path, target=target) for target, path in shown().items()]
    if engine.name == "apptainer" and not engine.own_python:
        mounts += [Mount(source=path, target=str(path)) for path in python_software()]
    return tuple(mounts)


class ParsedAside:
    """Reads PDFs that are not the claim's paper, each in a sandbox without network; `other` of `parse_pdf_tool`."""

    def __init__(self, spec: SandboxSpec, *, allow_weaker: bool, deadline: float) -> None:
        """`spec` shows payload and artifacts; `deadline` is on the clock of `core.clock.elapsed`."""
        mounts = (*(replace(mount, writable=False) for mount in spec.mounts), *server_mounts(spec.engine))
        self._spec = replace(spec, mounts=mounts, gateway_socket=None, allow_hosts=())
        self._allow_weaker = allow_weaker
        self._deadline = deadline
        self._sandbox: Sandbox | None = None

    def __call__(self, inside: str) -> str:
        """The Markdown of the PDF that the agent sees at `inside`. Raises NotParsedError."""
        left = self._deadline - elapsed()
        if left <= 0:
            raise NotParsedError("Not parsed: the run is over.")
        if self._sandbox is None:
            self._sandbox = open_sandbox(self._spec, allow_weaker=self._allow_weaker)
        with tempfile.TemporaryDirectory(prefix="matproof-parsed-") as scratch:
            out = Path(scratch, "paper.md")
            finished = self._sandbox.run(
                once_argv(inside), timeout_s=min(TIMEOUT_S + 20, left), stdout_to=out, max_log_bytes=_MOST_CHARACTERS
            )
            if finished.ok:
                return out.read_text(encoding="utf-8", errors="replace")
        if finished.ending != "exited":
            raise NotParsedError(f"Not parsed: reading {inside[:200]!r} took too long.")
        if finished.returncode == NOT_PARSED:
            raise NotParsedError(finished.stderr.strip().splitlines()[-1])
        raise InfrastructureError(f"the PDF reader did not start in its sandbox: {finished.stderr.strip()[-500:]}")
