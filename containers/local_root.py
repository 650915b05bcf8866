"""A small root file system out of this machine's own programs, for an image that needs no network.

usage: python3 containers/local_root.py DIRECTORY [--bare]

It holds a shell, the usual small tools, the C library and this system's Python with its own library: enough to try the
sandbox and to run claims that need nothing else. A site's real images come from the definitions beside this file.
Copied are the programs named below, the libraries that `ldd` names, and nothing of /etc. With `--bare` nothing is
copied: a setting or site shows this machine's programs in it by `software: [/usr]`.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = """
    awk base64 basename bash cat chmod chown cmp cp cut date dd df diff dirname du echo env expr false file find
    grep gzip head hostname id ipcs kill ln ls mkdir mknod mktemp mv nproc od paste printf ps pwd readlink realpath
    rm rmdir sed seq setsid sh sha256sum sleep sort split stat tail tar tee test timeout touch tr true uname uniq
    wc which xargs yes
""".split()  # noqa: SIM905 - many short words
DIRECTORIES = (
    "dev",
    "etc",
    "home/agent",
    "opt",
    "proc",
    "root",
    "run",
    "sys",
    "tmp",
    "usr/local/bin",
    "var/tmp",
    "work",
)
LEFT_OUT = ("__pycache__", "dist-packages", "ensurepip", "idlelib", "lib2to3", "test", "tests", "tkinter", "turtledemo")
PYTHON = Path("/usr/bin/python3")
C_LIBRARY = ("libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libutil.so.1")
"""Parts of it that older programs are linked with."""


def build(root: Path, *, bare: bool) -> None:
    """Fill `root`, a directory that isn't there yet."""
    for name in DIRECTORIES:
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in ("passwd", "group", "hosts", "nsswitch.conf", "resolv.conf", "hostname"):
        (root / "etc" / name).touch()
    if not bare:
        _fill(root)


def _fill(root: Path) -> None:
    programs = [shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") for name in PROGRAMS]
    wanted = [Path(program) for program in programs if program is not None]
    if PYTHON.exists():
        library = _python_library()
        shutil.copytree(library, root / str(library).lstrip("/"), ignore=shutil.ignore_patterns(*LEFT_OUT))
        wanted += [PYTHON, *sorted((library / "lib-dynload").glob("*.so"))]
        (root / "usr/bin/python").symlink_to("python3")
    libraries = _libraries(wanted)
    folders = {path.parent for path in libraries if path.name == "libc.so.6"}
    more = {folder / name for folder in folders for name in C_LIBRARY if (folder / name).exists()}
    for path in sorted({*wanted, *libraries, *more}):
        _copy(path, root)


def _python_library() -> Path:
    told = subprocess.run(
        [PYTHON, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(told.stdout.strip())


def _libraries(programs: list[Path]) -> set[Path]:
    told = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(/\S+\.so\S*) \(0x", told)}


def _copy(path: Path, root: Path) -> None:
    """The file behind `path`, at `path` with the links of its directory followed."""
    target = root / str(path.parent.resolve() / path.name).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy2(path.resolve(), target)


if __name__ == "__main__":
    build(Path(sys.argv[1]), bare="--bare" in sys.argv[2:])
