"""The Apptainer engine: a root file system from an image, and the same policy as bubblewrap's around it.

Every command gets a fresh container. What enters it is `enter.py`, which starts `private.py` for the places in memory;
the script below is the first thing inside: it says which process namespace it is in, waits until the bridge to the
gateway listens, and becomes the command. So the command starts after everything else succeeded, and a container that
can't be started is told from a command that failed. The image must bring `/bin/sh` and `readlink`; sessions also need
`bash`, and the Claude client the GNU C library 2.17 or later.
"""

import csv
import io
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matproof.core.errors import InfrastructureError
from matproof.records.run import SandboxReport
from matproof.sandbox import enter, layout, private
from matproof.sandbox.entered import EnteredSandbox, bridged, common_order
from matproof.sandbox.host import Apptainer
from matproof.sandbox.limits import GIGABYTE, LimitPlan
from matproof.sandbox.seccomp_profile import seccomp_profile
from matproof.sandbox.spec import HOME, Mount, SandboxSpec

_PRIVATE = {"/tmp": ("tmp", 0o1777), HOME: ("home", 0o700), "/dev/shm": ("shm", 0o1777)}  # noqa: S108
"""Place inside → name below the folder of the run, mode."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_SEALED = ("sys", "irq", "bus", "fs", "sysrq-trigger")
"""Parts of `/proc` that a process of the host's root could write, its capabilities or not: read-only."""
_ENGINES_OWN = "APPTAINER_CONTAINER SINGULARITY_CONTAINER APPTAINER_BIND SINGULARITY_BIND PROMPT_COMMAND PS1"
_CAN_NOT_RUN = (126, 127)
_ABLE: dict[tuple[str, str | None], set[str]] = {}
"""Image → programs of ours that were seen to run in it, so that each is tried once."""
_BEGIN = rf"""
readlink /proc/self/ns/pid >&{enter.BEGIN_FD} || exit {enter.FAILED}
if [ "$1" = bridge ]; then read -r _ <&{enter.GO_FD} || exit {enter.FAILED}; fi
shift
exec {enter.BEGIN_FD}>&- {enter.GO_FD}<&-
unset {_ENGINES_OWN}
export HOME={HOME}
exec "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What differs from host to host and from image to image."""

    program: Apptainer
    image: Path
    sized: bool = True
    """Whether `private.py` mounts the private places; otherwise they are Apptainer's own."""
    shared_network: bool = False
    visible_devices: str | None = None
    """CUDA_VISIBLE_DEVICES of this job, which Apptainer would drop."""


def mount_arguments(mounts: Iterable[Mount]) -> list[str]:
    """`--mount` for each, outer before inner; quoted, as a path may hold commas and colons."""
    arguments: list[str] = []
    for mount in sorted(mounts, key=lambda mount: len(Path(mount.target).parts)):
        fields = ["type=bind", f"source={mount.source}", f"destination={mount.target}"]
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([*fields, *([] if mount.writable else ["ro"])])
        arguments += ["--mount", line.getvalue()]
    return arguments


def kernel_mounts(root: Path = Path("/")) -> list[Mount]:
    """What of `/proc` is covered or sealed; `root` is where the host's is looked at."""
    proc = root / "proc"
    covered = [Mount(Path("/dev/null"), f"/proc/{name}") for name in layout.MASKED if (proc / name).exists()]
    empty = Path(enter.FOLDER, "empty")
    covered += [Mount(empty, f"/proc/{name}") for name in layout.MASKED_DIRECTORIES if (proc / name).is_dir()]
    taken = {mount.target for mount in covered}
    sealed = [Mount(proc / name, f"/proc/{name}") for name in _SEALED if (proc / name).exists()]
    return covered + [mount for mount in sealed if mount.target not in taken]


def devices(*, gpu: bool, root: Path = Path("/")) -> list[str]:
    """Names below `/dev` that are visible inside; `root` is where the host's are looked at."""
    found = sorted((root / "dev").glob("nvidia*")) if gpu else []
    plain = [path for path in found if not path.is_dir()] + [each for path in found for each in path.glob("*")]
    return [*_DEVICES, *(str(path.relative_to(root / "dev")) for path in plain)]


def private_places(spec: SandboxSpec) -> list[str]:
    """What `private.py` mounts, in its words."""
    size = int(spec.policy.limits.tmp_gb * GIGABYTE)
    places = [f"{size}:{mode:o}:{enter.FOLDER}/{name}" for name, mode in _PRIVATE.values()]
    return [f"dev:{','.join(devices(gpu=spec.engine.gpu))}:{enter.FOLDER}/dev", *places]


def small_files(container: Container, user: int, group: int) -> dict[str, str | None]:
    """Files of the run's folder, by name; None is a directory."""
    files: dict[str, str | None] = dict.fromkeys(("dev", "empty", *(name for name, _ in _PRIVATE.values())))
    for target, text in layout.etc_files(shared_network=container.shared_network, user=user, group=group).items():
        files[Path(target).name] = text
    if not container.shared_network:
        files["resolv.conf"] = ""
    profile = seccomp_profile(platform.machine())
    return files if profile is None else {**files, "seccomp.json": profile}


def all_mounts(spec: SandboxSpec, container: Container, files: Mapping[str, str | None]) -> list[Mount]:
    """Everything that is bound, in order. Raises RefusedError and InfrastructureError."""
    policy = spec.policy
    mounts = kernel_mounts()
    if container.sized:
        mounts.append(Mount(Path(enter.FOLDER, "dev"), "/dev", writable=True))
        mounts += [Mount(Path(enter.FOLDER, name), place, writable=True) for place, (name, _) in _PRIVATE.items()]
    etc = [name for name, text in files.items() if text is not None and name not in ("seccomp.json", "hostname")]
    mounts += [Mount(Path(enter.FOLDER, name), f"/etc/{name}") for name in etc]
    software = layout.software_mounts(
        [*map(Path, policy.software), *spec.engine.shown()], map(Path, policy.optional_software)
    )
    return [*mounts, *software, *layout.checked_mounts(spec.mounts)]


def exec_arguments(spec: SandboxSpec, container: Container, files: Mapping[str, str | None]) -> list[str]:
    """What Apptainer is told, without its own path and without the command."""
    arguments = ["--quiet", "--nocolor", "exec", "--userns", "--containall", "--no-home", "--cleanenv", "--no-eval"]
    left_out = "sys,home,tmp,hostfs,bind-paths,cwd" + (",dev,devpts" if container.sized else "")
    arguments += ["--no-privs", "--no-mount", left_out, "--hostname", layout.HOSTNAME]
    if not container.shared_network:
        arguments += ["--net", "--network", "none"]
    if "seccomp.json" in files:
        arguments += ["--security", f"seccomp:{enter.FOLDER}/seccomp.json"]
    if not container.sized:
        arguments += ["--scratch", ",".join(_PRIVATE)]
    if spec.engine.gpu:
        arguments.append("--nv")
    arguments += mount_arguments(all_mounts(spec, container, files))
    return [*arguments, "--cwd", spec.workdir, str(container.image)]


def engine_environment(spec: SandboxSpec, container: Container) -> dict[str, str]:
    """Environment of Apptainer itself: where it finds its helpers, and `APPTAINERENV_…` for each variable inside.

    PATH inside is the image's, unless setting, policy or caller give one. HOME is the script's: Apptainer takes none.
    """
    inside = layout.environment(spec, own_path=spec.engine.own_python)
    inside.pop("HOME")
    if spec.engine.gpu and container.visible_devices is not None:
        inside.setdefault("CUDA_VISIBLE_DEVICES", container.visible_devices)
    own = {
        "PATH": f"{Path(container.program.path).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "APPTAINER_CONFIGDIR": f"{enter.FOLDER}/config",
        "APPTAINER_CACHEDIR": f"{enter.FOLDER}/cache",
        "LANG": "C.UTF-8",
    }
    return {**own, **{f"APPTAINERENV_{name}": value for name, value in sorted(inside.items())}}


def build_order(spec: SandboxSpec, container: Container, limits: LimitPlan, life: Path | None) -> dict[str, Any]:
    """What `enter.py` is to do, as plain data. Resource limits are set outside: what starts inside inherits them."""
    if bridged(spec) and spec.gateway_socket is not None and not spec.gateway_socket.is_socket():
        raise InfrastructureError(f"there is no gateway at {spec.gateway_socket}")
    files = small_files(container, os.geteuid(), os.getegid())
    places = private_places(spec) if container.sized else []
    door = [sys.executable, "-I", "-S", private.__file__, *places, "--"]
    return {
        **common_order(limits, life),
        "exec": [*door, *limited(limits), container.program.path, *exec_arguments(spec, container, files)],
        "environment": engine_environment(spec, container),
        "files": files,
        "bridge": str(spec.gateway_socket) if bridged(spec) else None,
        "inner": ["/bin/sh", "-c", _BEGIN, "NAME", "bridge" if bridged(spec) else "alone"],
    }


def limited(limits: LimitPlan) -> list[str]:
    """The program that sets resource limits before Apptainer starts."""
    return ["/usr/bin/prlimit", *limits.prlimit, "--"] if limits.prlimit else []


class ApptainerSandbox(EnteredSandbox):
    """A `Sandbox` made by Apptainer."""

    def __init__(self, spec: SandboxSpec, container: Container, limits: LimitPlan, report: SandboxReport) -> None:
        super().__init__(report)
        self._spec = spec
        self._container = container
        self._limits = limits
        self._able = _ABLE.setdefault((str(container.image), report.image_digest), set())

    def write_launcher(self, path: Path, program: str) -> Path:
        """See `Sandbox.write_launcher`. Raises InfrastructureError where the image lacks what `program` is linked with.

        The program is ours, not the image's, so that it can't run there must not look like the agent's failure.
        """
        if Path(program).is_absolute() and program not in self._able:
            tried = self._run([program, "--version"], bridge=False, program=program, timeout_s=60)
            if tried.returncode in _CAN_NOT_RUN:
                said = tried.stderr.strip() or f"exit status {tried.returncode}"
                raise InfrastructureError(f"the image {self._container.image} can't run {Path(program).name}: {said}")
            self._able.add(program)
        return super().write_launcher(path, program)

    def order(self, life: Path | None, *, bridge: bool = True, program: str | None = None) -> dict[str, Any]:
        """See `EnteredSandbox.order`. `program` is the host's: it is shown at its own path, and nothing beside it."""
        spec = self._spec if bridge else replace(self._spec, gateway_socket=None)
        if program is not None and Path(program).is_absolute():
            spec = replace(spec, mounts=(*spec.mounts, Mount(Path(program), program)))
        return build_order(spec, self._container, self._limits, life)
