"""Opening a sandbox: what an engine can't enforce is refused by name, and what it can is tried before it is relied on.

Other rooms import from here.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.records.run import SandboxReport
from matproof.sandbox import layout
from matproof.sandbox.bubblewrap import BubblewrapSandbox, Isolation
from matproof.sandbox.entered import bridged
from matproof.sandbox.host import Bubblewrap, NoUserNamespaceError, find_bubblewrap, find_program, host_limits
from matproof.sandbox.limits import LimitPlan, plan_limits
from matproof.sandbox.open_apptainer import open_apptainer
from matproof.sandbox.seccomp import denied_calls
from matproof.sandbox.spec import (
    GATEWAY_PORT,
    GATEWAY_URL,
    Engine,
    Mount,
    Sandbox,
    SandboxSpec,
    python_path,
    python_software,
)

__all__ = [
    "GATEWAY_PORT",
    "GATEWAY_URL",
    "Engine",
    "Mount",
    "Sandbox",
    "SandboxSpec",
    "open_sandbox",
    "python_path",
    "python_software",
]


def open_sandbox(spec: SandboxSpec, *, allow_weaker: bool = False) -> Sandbox:
    """A sandbox that was entered once to see that it works.

    Raises RefusedError naming what the spec's engine can't enforce, unless `allow_weaker`, which records it in the
    report; InfrastructureError where programs or images are missing or the machine does not let a sandbox be made.
    """
    if spec.engine.name == "bubblewrap":
        return _open_bubblewrap(spec, allow_weaker=allow_weaker)
    if spec.engine.name == "apptainer":
        return open_apptainer(spec, host_limits(), allow_weaker=allow_weaker)
    raise RefusedError(f"there is no sandbox engine {spec.engine.name!r}; known: bubblewrap, apptainer")


def _open_bubblewrap(spec: SandboxSpec, *, allow_weaker: bool) -> Sandbox:
    program = find_bubblewrap(find_program("bwrap"))
    if bridged(spec):
        find_program("socat")
    software = [Path(text) for text in (*spec.policy.software, *spec.policy.optional_software)]
    visible = [Path("/usr"), *python_software(), *software, *(mount.source for mount in spec.mounts)]
    layout.refuse_views_of(spec.hidden, visible)
    weaker = unenforceable(spec, program)
    if weaker and not allow_weaker:
        raise _refusal(weaker)
    isolation = Isolation(program=program, shared_network=bool(spec.allow_hosts))
    try:
        return _open(spec, isolation, weaker)
    except NoUserNamespaceError as error:
        if os.geteuid() != 0:
            raise
        weaker = {**weaker, "user namespace": f"{error}; processes are root without capabilities"}
        if not allow_weaker:
            raise _refusal(weaker) from error
        return _open(spec, replace(isolation, user_namespace=False), weaker)


def _refusal(weaker: Mapping[str, str]) -> RefusedError:
    asked = "; ".join(f"{name}: {why}" for name, why in weaker.items())
    return RefusedError(f"bubblewrap can't enforce here what is asked ({asked}); --allow-weaker runs all the same")


def unenforceable(spec: SandboxSpec, program: Bubblewrap) -> dict[str, str]:
    """What the spec asks and this bubblewrap can't enforce → why not and what would happen instead."""
    weaker = {}
    if spec.allow_hosts:
        hosts = ", ".join(spec.allow_hosts)
        weaker["network"] = f"no filter by host, so to reach {hosts} the whole network of this machine is open"
    if "--size" not in program.options:
        weaker["temporary space"] = f"bubblewrap {program.version} can't limit it (0.8 can), so it is unlimited"
    if not denied_calls(platform.machine()):
        weaker["system calls"] = f"no table of system calls for {platform.machine()}, so none is denied"
    return weaker


def _open(spec: SandboxSpec, isolation: Isolation, weaker: Mapping[str, str]) -> BubblewrapSandbox:
    wanted = spec.policy.limits
    for host in (host_limits(), host_limits(with_cgroups=False)):
        limits = plan_limits(
            host,
            memory_gb=wanted.memory_gb if spec.memory_gb is None else spec.memory_gb,
            processes=wanted.processes if spec.processes is None else spec.processes,
            file_gb=wanted.file_gb,
            open_files=wanted.open_files,
        )
        sandbox = BubblewrapSandbox(spec, isolation, limits, _report(spec, isolation, limits, weaker))
        try:
            sandbox.check()
        except NoUserNamespaceError:
            raise
        except InfrastructureError:
            # A group may be there to make and still not to enter; without one nothing else is left to try.
            if not limits.groups:
                raise
        else:
            return sandbox
    raise InfrastructureError("a sandbox could be entered neither with control groups nor without")


def _report(spec: SandboxSpec, isolation: Isolation, limits: LimitPlan, weaker: Mapping[str, str]) -> SandboxReport:
    network = "own network namespace: nothing is reachable"
    if bridged(spec):
        network = f"own network namespace: {GATEWAY_URL} leads to the gateway, nothing else is reachable"
    enforced = {
        "files": "mount namespace: /usr, the Python in use, the policy's software and the mounts; nothing else",
        "network": network,
        "user": "user namespace, no capabilities, no new privileges, no further user namespaces",
        "environment": "cleared",
        "system calls": f"seccomp: {len(denied_calls(platform.machine()))} denied, and set-user-id bits",
        "process tree": "process namespace: ends with its first process, and that with ours",
        "temporary space": f"tmpfs: {spec.policy.limits.tmp_gb:g} GB each for /tmp, home and /dev/shm",
        "wall time": "the caller's clock",
        **limits.enforced,
    }
    if not isolation.user_namespace:
        enforced["user"] = "no capabilities, no new privileges"
    elif "--disable-userns" not in isolation.program.options:
        enforced["user"] = "user namespace, no capabilities, no new privileges"
    for name in weaker:
        enforced.pop(name, None)
    return SandboxReport(engine="bubblewrap", version=isolation.program.version, enforced=enforced, weaker=dict(weaker))
