"""The bubblewrap engine: own user, process, IPC, host name and network namespaces, and a root made of parts.

Every command gets fresh namespaces. What enters them is `enter.py`; the script below is the first thing inside: it
opens the bridge to the gateway and does not go on before the bridge listens, then says that the command starts.
"""

import base64
import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matproof.records.run import SandboxReport
from matproof.sandbox import enter, layout
from matproof.sandbox.entered import EnteredSandbox, bridged, common_order
from matproof.sandbox.host import Bubblewrap
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


def build_order(spec: SandboxSpec, isolation: Isolation, limits: LimitPlan, life: Path | None) -> dict[str, Any]:
    """What `enter.py` is to do, as plain data."""
    program = build_filter(platform.machine())
    rlimits = ["prlimit", *limits.prlimit, "--"]
    return {
        **common_order(limits, life),
        "bwrap": isolation.program.path,
        "arguments": bwrap_arguments(spec, isolation),
        "files": layout.etc_files(shared_network=isolation.shared_network),
        "seccomp": base64.b64encode(program).decode() if program else "",
        "inner": ["/bin/sh", "-c", _BEGIN, "NAME", "bridge" if bridged(spec) else "alone", *rlimits],
    }


class BubblewrapSandbox(EnteredSandbox):
    """A `Sandbox` made by bubblewrap."""

    def __init__(self, spec: SandboxSpec, isolation: Isolation, limits: LimitPlan, report: SandboxReport) -> None:
        super().__init__(report)
        self._spec = spec
        self._isolation = isolation
        self._limits = limits

    def order(self, life: Path | None, *, bridge: bool = True, program: str | None = None) -> dict[str, Any]:
        """See `EnteredSandbox.order`; every program of the Python in use is visible anyway."""
        spec = self._spec if bridge else replace(self._spec, gateway_socket=None)
        return build_order(spec, self._isolation, self._limits, life)
