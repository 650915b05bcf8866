"""What a caller asks of a sandbox, and what every engine's sandbox can do."""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from matproof.core.processes import Finished
from matproof.records.run import SandboxReport
from matproof.sandbox.policy import Policy

GATEWAY_PORT = 8080
GATEWAY_URL = f"http://127.0.0.1:{GATEWAY_PORT}"
"""Where the gateway is found inside."""
HOME = "/home/agent"
LONGEST_END_S = 60.0
"""How long what was killed may take to be gone; longer than the watcher beside it looks for survivors."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or directory of the host and where it is seen inside; missing parents of `target` are made."""

    source: Path
    target: str
    """Absolute path inside."""
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Which program makes the sandbox, and out of what."""

    name: str = "bubblewrap"
    image: Path | None = None
    """SIF file or directory of the image, for apptainer."""
    digest: str | None = None
    """`sha256:…` that the image must have; null is any, and recorded."""
    software: tuple[Path, ...] = ()
    """Directories of the host that are visible in the image, beside the policy's."""
    own_python: bool = False
    """Whether the running Python is visible in the image and first on PATH."""
    gpu: bool = False
    """Whether the node's GPUs are visible inside."""

    def shown(self) -> list[Path]:
        """Everything of the host that the engine shows by itself."""
        return [*self.software, *(python_software() if self.own_python else ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """One sandbox. Each command run in it gets fresh namespaces and a fresh `/tmp` and home."""

    policy: Policy
    mounts: tuple[Mount, ...] = ()
    workdir: str = "/tmp"  # noqa: S108 - private to the sandbox
    """Working directory inside."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside the policy's; these win."""
    gateway_socket: Path | None = None
    """Unix socket of the gateway; used where the policy's network is `gateway`."""
    memory_gb: float | None = None
    """Replaces the policy's, in gigabytes."""
    processes: int | None = None
    """Replaces the policy's."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts that the claim must reach."""
    hidden: tuple[Path, ...] = ()
    """Host paths that must not be visible: a mount or software directory that would show one is refused."""
    engine: Engine = Engine()
    """What holds it."""


class Sandbox(Protocol):
    """A way to run commands under one spec; as many at a time as wanted."""

    @property
    def report(self) -> SandboxReport:
        """What is enforced, and by what."""

    def argv(self, command: Sequence[str]) -> list[str]:
        """Arguments that enter the sandbox and run `command`; standard streams pass through untouched."""

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float | None,
        stdout_to: Path | None = None,
        stderr_to: Path | None = None,
        cancel: threading.Event | None = None,
        stdin: str | None = None,
        max_log_bytes: int = 20_000_000,
    ) -> Finished:
        """Run `command` to its end; when this returns, nothing that it started is alive.

        `timeout_s` in seconds. Raises InfrastructureError where the sandbox could not be entered.
        """

    def write_launcher(self, path: Path, program: str) -> Path:
        """Write a program at `path` that runs `program` inside with the arguments it is given.

        Ending it, by any signal, ends everything inside; so does the end of the thread that started it.
        """

    def wait_until_empty(self, timeout_s: float = LONGEST_END_S) -> bool:
        """Return when nothing that a launcher started runs any more, and whether each of them got inside.

        Raises InfrastructureError after `timeout_s` seconds.
        """


def python_software() -> tuple[Path, ...]:
    """Directories that the running Python needs and that are not below /usr: its environment and its base."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    wanted: list[Path] = []
    for path in (*prefixes, *(prefix.resolve() for prefix in prefixes)):
        if not path.is_relative_to("/usr") and path not in wanted:
            wanted.append(path)
    return tuple(wanted)


def python_path() -> str:
    """PATH inside: the running Python's environment first."""
    own = [f"{sys.prefix}/bin"] if sys.prefix != "/usr" else []
    return ":".join([*own, "/usr/local/bin", "/usr/bin", "/bin"])
