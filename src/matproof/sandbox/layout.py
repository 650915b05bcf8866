"""What is seen inside, as bubblewrap arguments: pure functions of the spec and of what the host's root looks like.

Order matters, because a later mount covers an earlier one: kernel and private file systems first, so that software
and mounts below /tmp or a home stay visible; then the system, the software, the caller's mounts; last everything that
is not meant to be written is made read-only. `/proc` as a whole is, because a process of the host's root owns
`/proc/sys` inside too and could otherwise set the host's core pattern.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.sandbox.limits import GIGABYTE
from matproof.sandbox.spec import HOME, Mount, SandboxSpec, python_path

HOSTNAME = "sandbox"
USER_ID = 1000
GATEWAY_SOCKET = "/run/gateway.sock"

_ETC = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "mime.types",
    "openmpi",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
)
"""What programs need of /etc and what holds nothing of this host or its users."""
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
MASKED = (
    *("kcore", "keys", "key-users", "kmsg", "kallsyms", "latency_stats", "sched_debug", "slabinfo"),
    *("timer_list", "timer_stats", "vmallocinfo", "iomem", "ioports", "pagetypeinfo", "mtrr", "cmdline"),
)
MASKED_DIRECTORIES = ("acpi", "scsi", "driver", "fs")
_RESERVED = ("/", "/usr", "/proc", "/dev", "/etc", "/sys", "/run", "/tmp", *(f"/{name}" for name in _TOP))  # noqa: S108


def system_arguments(root: Path = Path("/")) -> list[str]:
    """`/usr`, the links to it and the parts of `/etc` that hold no secret; `root` is where the host's are looked at."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = root / name
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            arguments += ["--ro-bind", f"/{name}", f"/{name}"]
    for name in _ETC:
        if (root / "etc" / name).exists():
            arguments += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    return arguments


def kernel_arguments(root: Path = Path("/")) -> list[str]:
    """`/proc` of the sandbox's own processes without the host's inner state, and a `/dev` of harmless devices."""
    arguments = ["--proc", "/proc"]
    for name in MASKED:
        if (root / "proc" / name).exists():
            arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for name in MASKED_DIRECTORIES:
        if (root / "proc" / name).is_dir():
            arguments += ["--size", "4096", "--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    return [*arguments, "--dev", "/dev"]


def private_arguments(tmp_gb: float) -> list[str]:
    """Writable places in memory, each of at most `tmp_gb` gigabytes."""
    size = str(int(tmp_gb * GIGABYTE))
    return [
        *("--perms", "1777", "--size", size, "--tmpfs", "/tmp"),  # noqa: S108 - private to the sandbox
        *("--perms", "0700", "--size", size, "--tmpfs", HOME),
        *("--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"),  # noqa: S108
    ]


def software_mounts(directories: Iterable[Path], optional: Iterable[Path] = ()) -> list[Mount]:
    """Directories at their own paths, read-only. Raises InfrastructureError naming one that is missing."""
    wanted = list(directories)
    for directory in wanted:
        if not directory.exists():
            raise InfrastructureError(f"software directory {directory} does not exist on this machine")
    return [Mount(path, str(path)) for path in [*wanted, *(path for path in optional if path.exists())]]


def software_arguments(directories: Iterable[Path], optional: Iterable[Path] = ()) -> list[str]:
    """`software_mounts` for bubblewrap."""
    return _bound(software_mounts(directories, optional))


def checked_mounts(mounts: Iterable[Mount]) -> list[Mount]:
    """The caller's mounts, outer before inner. Raises RefusedError for a target that would replace the system."""
    checked: list[Mount] = []
    for mount in sorted(mounts, key=lambda mount: len(PurePosixPath(mount.target).parts)):
        target = PurePosixPath(mount.target)
        if not target.is_absolute() or ".." in target.parts or str(target) in _RESERVED or "\0" in mount.target:
            raise RefusedError(f"nothing can be mounted at {mount.target!r} inside a sandbox")
        if target.is_relative_to("/proc") or target.is_relative_to("/dev"):
            raise RefusedError(f"nothing can be mounted at {mount.target!r} inside a sandbox")
        if not mount.source.exists():
            raise InfrastructureError(f"{mount.source} is to be mounted at {mount.target} and does not exist")
        checked.append(Mount(mount.source.resolve(), str(target), mount.writable))
    return checked


def mount_arguments(mounts: Iterable[Mount]) -> list[str]:
    """`checked_mounts` for bubblewrap."""
    return _bound(checked_mounts(mounts))


def _bound(mounts: Iterable[Mount]) -> list[str]:
    return [
        word
        for mount in mounts
        for word in ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)
    ]


def etc_files(*, shared_network: bool, user: int = USER_ID, group: int = USER_ID) -> dict[str, str]:
    """Small files of our own where the host's would tell of its users and network."""
    files = {
        "/etc/passwd": f"agent:x:{user}:{group}:agent:{HOME}:/bin/bash\nroot:x:0:0:root:/:/usr/sbin/nologin\n"
        "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "/etc/group": f"agent:x:{group}:\nroot:x:0:\nnogroup:x:65534:\n",
        "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
        "/etc/hostname": f"{HOSTNAME}\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    if shared_network:
        files["/etc/nsswitch.conf"] = "passwd: files\ngroup: files\nhosts: files dns\n"
    return files


def environment(spec: SandboxSpec, *, own_path: bool = True) -> dict[str, str]:
    """Every variable that a process inside starts with; the caller's win over the policy's, and those over ours.

    Without `own_path` PATH is left to the image.
    """
    base = {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
        "TMPDIR": "/tmp",  # noqa: S108
        "TZ": "UTC",
        "USER": "agent",
    }
    return {**base, **({"PATH": python_path()} if own_path else {}), **spec.policy.environment, **spec.environment}


def environment_arguments(variables: Mapping[str, str]) -> list[str]:
    """An environment of just these."""
    arguments = ["--clearenv"]
    for name, value in sorted(variables.items()):
        arguments += ["--setenv", name, value]
    return arguments


def refuse_views_of(hidden: Iterable[Path], visible: Iterable[Path]) -> None:
    """Raise RefusedError where a visible path is or holds a hidden one."""
    shown = [(path, path.resolve()) for path in visible]
    for secret in hidden:
        for path, place in shown:
            if secret.resolve().is_relative_to(place):
                raise RefusedError(f"{secret} must stay hidden, and {path}, which is visible inside, holds it")
