"""What this machine offers a sandbox: programs, kernel, limits; and what to do where it offers too little."""

import functools
import os
import re
import resource
import shutil
from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InfrastructureError
from matproof.core.processes import run
from matproof.sandbox.cgroups import CgroupHome, find_homes
from matproof.sandbox.limits import HostLimits

_INSTALL = "install it with: apt-get install bubblewrap socat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """The installed bubblewrap."""

    path: str
    version: str
    options: frozenset[str]
    """Its long options, such as `--size`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apptainer:
    """The installed Apptainer."""

    path: str
    version: str


_APPTAINER_NEEDS = ("--no-eval", "--no-mount", "--no-privs", "--security", "--userns")
_INSTALL_APPTAINER = (
    "load it (often `module load apptainer`), ask the site for it, or choose engine bubblewrap; see docs/sandbox.md"
)


def find_program(name: str, install: str = _INSTALL) -> str:
    """Absolute path of `name`. Raises InfrastructureError saying how to install it."""
    found = shutil.which(name)
    if found is None:
        raise InfrastructureError(f"{name} is not on PATH, and no sandbox can be made without it; {install}")
    return os.path.realpath(found)


def find_apptainer() -> Apptainer:
    """The Apptainer on PATH. Raises InfrastructureError where there is none, or one that lacks what is needed."""
    return _apptainer_at(find_program("apptainer", _INSTALL_APPTAINER))


@functools.cache
def _apptainer_at(path: str) -> Apptainer:
    told = run([path, "--nocolor", "--version"], timeout_s=30)
    words = told.stdout.split()
    if not told.ok or not words:
        raise entry_failure(told.stderr)
    known = set(re.findall(r"--[a-z][a-z0-9-]*", run([path, "exec", "--help"], timeout_s=30).stdout))
    if missing := [option for option in _APPTAINER_NEEDS if option not in known]:
        raise InfrastructureError(f"apptainer {words[-1]} is too old: it has no {', '.join(missing)}; 1.2 or later has")
    return Apptainer(path=path, version=words[-1])


@functools.cache
def find_bubblewrap(path: str) -> Bubblewrap:
    """What the bubblewrap at `path` can do."""
    told = run([path, "--version"], timeout_s=10)
    words = told.stdout.split()
    if not told.ok or not words:
        raise InfrastructureError(f"{path} --version failed: {told.stderr.strip() or 'it said nothing'}")
    options = re.findall(r"--[a-z][a-z0-9-]*", run([path, "--help"], timeout_s=10).stdout)
    return Bubblewrap(path=path, version=words[-1], options=frozenset(options))


def host_limits(*, with_cgroups: bool = True) -> HostLimits:
    """The facts that decide how limits are enforced here."""
    hard = {}
    for name, number in (
        ("core", resource.RLIMIT_CORE),
        ("data", resource.RLIMIT_DATA),
        ("fsize", resource.RLIMIT_FSIZE),
        ("nofile", resource.RLIMIT_NOFILE),
        ("nproc", resource.RLIMIT_NPROC),
    ):
        _, most = resource.getrlimit(number)
        if most != resource.RLIM_INFINITY:
            hard[name] = most
    homes: tuple[CgroupHome, ...] = find_homes() if with_cgroups else ()
    return HostLimits(root=os.geteuid() == 0, kernel=kernel_version(os.uname().release), cgroups=homes, hard=hard)


def kernel_version(release: str) -> tuple[int, int]:
    """(major, minor) of a kernel release; (0, 0) where it can't be read."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


_NO_USER_NAMESPACE = (
    "No permissions to create new namespace",
    "No permissions to creating new namespace",
    "Creating new namespace failed",
    "setting up uid map",
    "Unable to create user namespace",
    "Failed to create user namespace",
)
_APPTAINER_KNOWN = (
    ("unknown userid", "Apptainer runs only for users whom this machine knows by name (getent passwd)"),
    ("squashfuse", "an image file needs squashfuse and a writable /dev/fuse here; or use a directory as the image"),
    ("/dev/fuse", "an image file needs squashfuse and a writable /dev/fuse here; or use a directory as the image"),
)


class NoUserNamespaceError(InfrastructureError):
    """The kernel or a container around us lets us make no user namespace; root can do without, weaker."""


class NoPrivatePlacesError(InfrastructureError):
    """Apptainer may start here, but we can mount nothing for it."""


def entry_failure(stderr: str, *, proc: Path = Path("/proc")) -> InfrastructureError:
    """Why a sandbox could not be entered and what an administrator does about it, in one line."""
    said = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "it said nothing")
    if any(words in stderr for words in _NO_USER_NAMESPACE):
        return NoUserNamespaceError(f"user namespaces can't be made here ({said}); {_user_namespace_remedy(proc)}")
    if "FATAL:" in stderr:
        remedy = next((remedy for words, remedy in _APPTAINER_KNOWN if words in stderr), None)
        fatal = next(line for line in stderr.splitlines() if "FATAL:" in line).partition("FATAL:")[2].strip()
        return InfrastructureError(f"the container could not be started: {fatal}" + (f"; {remedy}" if remedy else ""))
    if "private places can't be mounted" in stderr:
        return NoPrivatePlacesError(said.removeprefix("matproof: "))
    if "mount proc" in stderr:
        return InfrastructureError(
            f"this container covers parts of /proc, so the kernel allows no fresh one inside ({said}); "
            "start the container with --security-opt systempaths=unconfined, or run on the host"
        )
    return InfrastructureError(f"the sandbox could not be entered: {said}")


def _user_namespace_remedy(proc: Path) -> str:
    def is_set(name: str, value: str) -> bool:
        try:
            return (proc / "sys" / name).read_text().strip() == value
        except OSError:
            return False

    if is_set("kernel/apparmor_restrict_unprivileged_userns", "1"):
        return (
            "AppArmor restricts them (Ubuntu 23.10 and later): as root, install a profile for bwrap that allows "
            "`userns`, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if is_set("kernel/unprivileged_userns_clone", "0"):
        return "as root: sysctl kernel.unprivileged_userns_clone=1"
    if is_set("user/max_user_namespaces", "0"):
        return "as root: sysctl user.max_user_namespaces=10000 (inside another sandbox this can't be changed)"
    return (
        "a container that forbids them is the usual reason: start it with "
        "--security-opt seccomp=unconfined --security-opt apparmor=unconfined, or run on the host"
    )
