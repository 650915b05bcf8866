"""Private places of limited size, and a `/dev` of chosen devices, for a program that can't make them itself.

Run as `python -I -S private.py PLACE… -- COMMAND…`. It takes a mount namespace of its own, in a user namespace where
the user needs one for it. A PLACE `BYTES:MODE:DIRECTORY` becomes a file system in memory of that size and mode;
`dev:DEVICE,DEVICE:DIRECTORY` a read-only one with those devices of the host and terminals of its own. Then it ties its
life to its parent's and becomes COMMAND. The user keeps the same id, and but for root no capability outlasts that.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

NEW_MOUNTS, NEW_USER = 0x0002_0000, 0x1000_0000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXECUTION = 1, 2, 4, 8
REMOUNT, BIND, RECURSIVE, PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
LINKS = {"fd": "/proc/self/fd", "ptmx": "pts/ptmx"} | {
    name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))
}
END_WITH_PARENT = 1
FAILED = 75


def main(arguments: list[str]) -> None:
    """Become the command. Exits with 75 and one line where that is impossible."""
    libc = ctypes.CDLL(None, use_errno=True)
    end = arguments.index("--")
    places, command = arguments[:end], arguments[end + 1 :]
    try:
        if places:
            _unshare(libc)
            _call(libc.mount, b"none", b"/", None, RECURSIVE | PRIVATE, None)
        for place in places:
            size, mode, directory = place.split(":", 2)
            if size == "dev":
                _make_devices(libc, Path(directory), mode.split(","))
                continue
            options = f"size={size},mode={mode}".encode()
            _call(libc.mount, b"tmpfs", os.fsencode(directory), b"tmpfs", NO_SUID | NO_DEVICES, options)
    except OSError as error:
        print(f"matproof: private places can't be mounted: {error}", file=sys.stderr)
        sys.exit(FAILED)
    libc.prctl(END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    os.execv(command[0], command)  # noqa: S606 - replaces this process; there is no shell


def _make_devices(libc: ctypes.CDLL, place: Path, names: list[str]) -> None:
    _call(libc.mount, b"tmpfs", os.fsencode(place), b"tmpfs", NO_SUID | NO_EXECUTION, b"size=65536,mode=755")
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
        _call(libc.mount, os.fsencode(f"/dev/{name}"), os.fsencode(place / name), None, BIND, None)
    for name, target in LINKS.items():
        (place / name).symlink_to(target)
    for name in ("pts", "shm"):
        (place / name).mkdir()
    terminals = os.fsencode(place / "pts")
    _call(libc.mount, b"devpts", terminals, b"devpts", NO_SUID | NO_EXECUTION, b"newinstance,ptmxmode=0666,mode=620")
    _call(libc.mount, b"none", os.fsencode(place), None, REMOUNT | READ_ONLY | NO_SUID | NO_EXECUTION, b"size=65536")


def _unshare(libc: ctypes.CDLL) -> None:
    user, group = os.geteuid(), os.getegid()
    try:
        _call(libc.unshare, NEW_MOUNTS)
    except PermissionError:
        _call(libc.unshare, NEW_USER | NEW_MOUNTS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _call(function: "ctypes._NamedFuncPointer", *arguments: object) -> None:
    if function(*arguments):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), function.__name__)


if __name__ == "__main__":
    main(sys.argv[1:])
