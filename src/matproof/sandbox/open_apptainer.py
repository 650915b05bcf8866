"""Opening a sandbox made by Apptainer: what it can't enforce here is refused by name, and the rest is tried."""

import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.records.run import SandboxReport
from matproof.sandbox import layout
from matproof.sandbox.apptainer import ApptainerSandbox, Container
from matproof.sandbox.entered import bridged
from matproof.sandbox.host import NoPrivatePlacesError, find_apptainer
from matproof.sandbox.image import checked_digest
from matproof.sandbox.limits import HostLimits, LimitPlan, plan_limits
from matproof.sandbox.seccomp import denied_calls
from matproof.sandbox.spec import GATEWAY_URL, SandboxSpec

_DEVICES = ("nvidiactl", "nvidia0")


def open_apptainer(spec: SandboxSpec, host: HostLimits, *, allow_weaker: bool) -> ApptainerSandbox:
    """See `engine.open_sandbox`; `host` tells what limits can be set on this machine."""
    if spec.engine.image is None:
        raise RefusedError("engine apptainer needs an image: `sandbox: {engine: apptainer, image: …}`")
    program = find_apptainer()
    image = spec.engine.image.resolve()
    digest = checked_digest(image, spec.engine.digest)
    software = [Path(text) for text in (*spec.policy.software, *spec.policy.optional_software)]
    layout.refuse_views_of(
        spec.hidden, [image, *software, *spec.engine.shown(), *(mount.source for mount in spec.mounts)]
    )
    container = Container(
        program=program,
        image=image,
        shared_network=bool(spec.allow_hosts),
        visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
    )
    weaker = unenforceable(spec)
    _agree(weaker, allow_weaker)
    try:
        return _open(spec, container, host, digest, weaker)
    except NoPrivatePlacesError as error:
        weaker = {
            **weaker,
            "temporary space": f"{error}; Apptainer's own places have the site's size, or none for root",
        }
        _agree(weaker, allow_weaker)
        return _open(spec, replace(container, sized=False), host, digest, weaker)
    except InfrastructureError:
        # A group may be there to make and still not to enter; without one nothing else is left to try.
        if not host.cgroups:
            raise
        return _open(spec, container, replace(host, cgroups=()), digest, weaker)


def _agree(weaker: Mapping[str, str], allow_weaker: bool) -> None:
    if weaker and not allow_weaker:
        asked = "; ".join(f"{name}: {why}" for name, why in weaker.items())
        raise RefusedError(f"apptainer can't enforce here what is asked ({asked}); --allow-weaker runs all the same")


def unenforceable(spec: SandboxSpec) -> dict[str, str]:
    """What the spec asks and Apptainer can't enforce → why not and what would happen instead."""
    weaker = {}
    if spec.allow_hosts:
        hosts = ", ".join(spec.allow_hosts)
        weaker["network"] = f"no filter by host, so to reach {hosts} the whole network of this machine is open"
    if spec.allow_hosts and bridged(spec):
        weaker["network"] += f", and {GATEWAY_URL} is a port of this machine"
    if not denied_calls(platform.machine()):
        weaker["system calls"] = f"no table of system calls for {platform.machine()}, so none is denied"
    return weaker


def _open(
    spec: SandboxSpec, container: Container, host: HostLimits, digest: str, weaker: Mapping[str, str]
) -> ApptainerSandbox:
    wanted = spec.policy.limits
    limits = plan_limits(
        host,
        memory_gb=wanted.memory_gb if spec.memory_gb is None else spec.memory_gb,
        processes=wanted.processes if spec.processes is None else spec.processes,
        file_gb=wanted.file_gb,
        open_files=wanted.open_files,
        inside=False,
    )
    sandbox = ApptainerSandbox(spec, container, limits, _report(spec, container, limits, digest, weaker))
    sandbox.check()
    return sandbox


def _report(
    spec: SandboxSpec, container: Container, limits: LimitPlan, digest: str, weaker: Mapping[str, str]
) -> SandboxReport:
    network = "own network namespace: nothing is reachable"
    if bridged(spec):
        network = f"own network namespace: {GATEWAY_URL} leads to the gateway, nothing else is reachable"
    enforced = {
        "files": "mount namespace: the image read-only, the policy's software and the mounts; nothing else",
        "network": network,
        "user": "user namespace, no capabilities, no new privileges",
        "environment": "cleared, and the image's own",
        "system calls": f"seccomp: {len(denied_calls(platform.machine()))} denied, and set-user-id bits",
        "process tree": "process namespace: ends with its first process, and that with ours",
        "temporary space": f"tmpfs: {spec.policy.limits.tmp_gb:g} GB each for /tmp, home and /dev/shm",
        "wall time": "the caller's clock",
        **limits.enforced,
    }
    if spec.engine.gpu:
        found = [name for name in _DEVICES if Path("/dev", name).exists()]
        enforced["gpu"] = "--nv: the node's GPUs are visible" if found else "--nv: asked for, and this node shows none"
    for name in weaker:
        enforced.pop(name, None)
    return SandboxReport(
        engine="apptainer",
        version=container.program.version,
        image=container.image.name,
        image_digest=digest,
        enforced=enforced,
        weaker=dict(weaker),
    )
