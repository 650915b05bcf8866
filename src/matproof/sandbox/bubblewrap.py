"""The bubblewrap engine: own user, process, IPC, host name and network namespaces, and a root made of parts.

Every command gets fresh namespaces. What enters them is `enter.py`; the script below is the first thing inside: it
opens the bridge to the gateway and does not go on before the bridge listens, then says that the command starts.
"""

import base64
import json
import platform
import shlex
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.core.files import write_text
from matproof.core.processes import Finished, run
from matproof.records.run import SandboxReport
from matproof.sandbox import enter, layout
from matproof.sandbox.host import Bubblewrap, entry_failure
from matproof.sandbox.limits import LimitPlan
from matproof.sandbox.seccomp import build_filter
from matproof.sandbox.spec import GATEWAY_PORT, SandboxSpec, python_software

_BEGIN = rf"""
listening() {{
    while read -r _ here _ state _; do
        [ "$here $state" = "0100007F:{GATEWAY_PORT:04X} 0A" ] && return 0
    done </proc/net/tcp
    return 1
}}
if [ "$1" = bridge ]; then
    if listening; then echo "matproof: port {GATEWAY_PORT} is taken" >&2; exit {enter.FAILED}; fi
    socat TCP-LISTEN:{GATEWAY_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:{layout.GATEWAY_SOCKET} \
        </dev/null >/dev/null 2>&1 {enter.BEGIN_FD}>&- &
    until listening; do
        kill -0 $! 2>/dev/null || {{ echo "matproof: the bridge to the gateway ended" >&2; exit {enter.FAILED}; }}
        sleep 0.005
    done
fi
shift
readlink /proc/self/ns/pid >&{enter.BEGIN_FD}
exec {enter.BEGIN_FD}>&-
exec "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What differs from host to host."""

    program: Bubblewrap
    user_namespace: bool = True
    shared_network: bool = False


def namespace_arguments(isolation: Isolation) -> list[str]:
    """Namespaces, identity and the tie to the parent's life."""
    arguments = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if isolation.user_namespace:
        arguments += ["--unshare-user", "--uid", str(layout.USER_ID), "--gid", str(layout.USER_ID)]
        if "--disable-userns" in isolation.program.options:
            arguments.append("--disable-userns")
    if not isolation.shared_network:
        arguments.append("--unshare-net")
    return [*arguments, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", layout.HOSTNAME]


def bwrap_arguments(spec: SandboxSpec, isolation: Isolation) -> list[str]:
    """Everything that bubblewrap is told, except descriptors. Raises RefusedError and InfrastructureError."""
    policy = spec.policy
    optional = [Path(text) for text in policy.optional_software]
    arguments = [
        *namespace_arguments(isolation),
        *layout.kernel_arguments(),
        *layout.private_arguments(policy.limits.tmp_gb),
        *layout.system_arguments(),
        *layout.software_arguments([*python_software(), *map(Path, policy.software)], optional),
        *layout.mount_arguments(spec.mounts),
    ]
    if bridged(spec):
        arguments += ["--ro-bind", str(spec.gateway_socket), layout.GATEWAY_SOCKET]
    if isolation.shared_network:
        arguments += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
    read_only = [item for place in ("/proc", "/dev", "/") for item in ("--remount-ro", place)]
    return [*arguments, *read_only, *layout.environment_arguments(layout.environment(spec)), "--chdir", spec.workdir]


def bridged(spec: SandboxSpec) -> bool:
    """Whether the gateway is reachable inside."""
    return spec.policy.network == "gateway" and spec.gateway_socket is not None


def build_order(spec: SandboxSpec, isolation: Isolation, limits: LimitPlan, life: Path | None) -> dict[str, Any]:
    """What `enter.py` is to do, as plain data."""
    program = build_filter(platform.machine())
    watched = {"memory": limits.watch_memory, "processes": limits.watch_processes}
    rlimits = ["prlimit", *limits.prlimit, "--"]
    return {
        "bwrap": isolation.program.path,
        "arguments": bwrap_arguments(spec, isolation),
        "files": layout.etc_files(shared_network=isolation.shared_network),
        "seccomp": base64.b64encode(program).decode() if program else "",
        "life": None if life is None else str(life.absolute()),
        "groups": [
            {"home": group.home, "files": dict(group.files), "events": {k: list(v) for k, v in group.events.items()}}
            for group in limits.groups
        ],
        "watch": watched if any(value is not None for value in watched.values()) else None,
        "inner": ["/bin/sh", "-c", _BEGIN, "NAME", "bridge" if bridged(spec) else "alone", *rlimits],
    }


class BubblewrapSandbox:
    """A `Sandbox`; made by `engine.open_sandbox`, which checks that it can be entered."""

    def __init__(self, spec: SandboxSpec, isolation: Isolation, limits: LimitPlan, report: SandboxReport) -> None:
        self._spec = spec
        self._isolation = isolation
        self._limits = limits
        self._lives: list[Path] = []
        self.report = report

    def argv(self, command: Sequence[str]) -> list[str]:
        """Arguments that enter the sandbox and run `command`."""
        return self._argv(command, None)

    def _argv(self, command: Sequence[str], life: Path | None) -> list[str]:
        order = json.dumps(build_order(self._spec, self._isolation, self._limits, life))
        return [sys.executable, "-I", "-S", enter.__file__, order, *command]

    def check(self) -> None:
        """Run `true` inside, without the gateway. Raises InfrastructureError."""
        alone = BubblewrapSandbox(replace(self._spec, gateway_socket=None), self._isolation, self._limits, self.report)
        finished = alone.run(["true"], timeout_s=60)
        if not finished.ok:
            raise InfrastructureError(f"`true` in a sandbox {finished.ending}: {finished.stderr.strip()}")

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
        """See `Sandbox.run`."""
        with tempfile.TemporaryDirectory(prefix="matproof-") as folder:
            life = Path(folder, "life")
            finished = run(
                self._argv(command, life),
                stdin=stdin,
                timeout_s=timeout_s,
                stdout_to=stdout_to,
                stderr_to=stderr_to,
                max_log_bytes=max_log_bytes,
                cancel=cancel,
            )
            endings = _wait_for_end(life, timeout_s=10)
        if ".begun" not in endings and finished.ending == "exited":
            raise entry_failure(finished.stderr)
        return finished

    def write_launcher(self, path: Path, program: str) -> Path:
        """See `Sandbox.write_launcher`."""
        life = path.absolute().with_name(path.name + ".runs")
        line = shlex.join(self._argv([program], life))
        write_text(path, f'#!/bin/sh\n# Enters a sandbox and runs a program in it.\nexec {line} "$@"\n', mode=0o700)
        self._lives.append(life)
        return path.absolute()

    def wait_until_empty(self, timeout_s: float = 10.0) -> bool:
        """See `Sandbox.wait_until_empty`; speaks of what launchers of this sandbox started."""
        endings = [_wait_for_end(life, timeout_s=timeout_s) for life in self._lives]
        return all(".begun" in ending for ending in endings)


def _wait_for_end(life: Path, *, timeout_s: float) -> set[str]:
    """Return how the runs of which `life` keeps account ended (`.begun`, `.failed`), once all have."""
    deadline = elapsed() + timeout_s
    while True:
        runs = list(life.iterdir()) if life.is_dir() else []
        if all(file.suffix for file in runs):
            return {file.suffix for file in runs}
        if elapsed() > deadline:
            pids = ", ".join(file.name for file in runs if not file.suffix)
            raise InfrastructureError(f"what sandbox {pids} started is perhaps still alive")
        threading.Event().wait(0.005)
