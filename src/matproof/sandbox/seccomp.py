"""System calls that nothing inside a sandbox may make, as a classic BPF program for the kernel.

Namespaces do not cover them: the kernel's log and the session keyring are shared with the host, and bpf, perf,
io_uring and userfaultfd are where kernels have been broken out of. No file may get a set-user-id bit: left
among the artifacts, outside, it would be the user's own program. (A set-group-id bit may be copied, as directories
shared by a group have one.) A denied call fails with EPERM, as in Docker's default profile, so programs that only try
it go on. Calls of another architecture (32-bit programs) are all denied.
"""

import struct
from dataclasses import dataclass

_ALLOW, _DENY, _UNKNOWN = 0x7FFF_0000, 0x0005_0001, 0x0005_0026
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_X32 = 0x4000_0000
_OPENAT2 = 437
"""Hides its mode in memory, so the kernel pretends not to have it, and programs fall back to openat."""
_SET_USER_ID = 0o4000
_CREATING = 0o100 | 0o20_000_000  # O_CREAT, O_TMPFILE

_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}


@dataclass(frozen=True, slots=True)
class ModeCall:
    """A call that gives a file its mode."""

    name: str
    number: int
    mode: int
    """Place of the mode among its arguments, from zero."""
    flags: int | None = None
    """Place of open's flags: the mode counts only where these create a file."""


_SAME_EVERYWHERE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "quotactl_fd": 443,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "syslog": 103, "pivot_root": 155, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166,
        "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "clock_settime": 227,
        "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
        "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308, "finit_module": 313,
        "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "umount2": 39, "mount": 40, "pivot_root": 41, "quotactl": 60, "acct": 89, "unshare": 97, "kexec_load": 104,
        "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "reboot": 142,
        "sethostname": 161, "setdomainname": 162, "settimeofday": 170, "add_key": 217, "request_key": 218,
        "keyctl": 219, "swapon": 224, "swapoff": 225, "perf_event_open": 241, "open_by_handle_at": 265,
        "setns": 268, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}  # fmt: skip

_MODES = {
    "x86_64": [
        ModeCall("open", 2, mode=2, flags=1),
        ModeCall("creat", 85, mode=1),
        ModeCall("chmod", 90, mode=1),
        ModeCall("fchmod", 91, mode=1),
        ModeCall("mknod", 133, mode=1),
        ModeCall("openat", 257, mode=3, flags=2),
        ModeCall("mknodat", 259, mode=2),
        ModeCall("fchmodat", 268, mode=2),
        ModeCall("fchmodat2", 452, mode=2),
    ],
    "aarch64": [
        ModeCall("mknodat", 33, mode=2),
        ModeCall("fchmod", 52, mode=1),
        ModeCall("fchmodat", 53, mode=2),
        ModeCall("openat", 56, mode=3, flags=2),
        ModeCall("fchmodat2", 452, mode=2),
    ],
}


def denied_calls(machine: str) -> dict[str, int]:
    """Name → number of each denied call on `machine` (as `platform.machine()`); empty where we have no table."""
    known = _NUMBERS.get(machine)
    return {} if known is None else dict(sorted((known | _SAME_EVERYWHERE).items()))


def mode_calls(machine: str) -> list[ModeCall]:
    """The calls on `machine` whose mode is looked at."""
    return _MODES.get(machine, [])


@dataclass(frozen=True, slots=True)
class _Line:
    code: int
    value: int
    yes: str = ""
    no: str = ""
    label: str = ""


def build_filter(machine: str) -> bytes | None:
    """The program that `bwrap --seccomp` loads, or None on a machine that we have no table for."""
    numbers = sorted(denied_calls(machine).values())
    if not numbers:
        return None
    lines = [_Line(_LOAD, 4), _Line(_EQUAL, _ARCHITECTURES[machine], no="deny"), _Line(_LOAD, 0)]
    if machine == "x86_64":
        lines.append(_Line(_AT_LEAST, _X32, yes="deny"))
    calls = mode_calls(machine)
    lines += [_Line(_EQUAL, call.number, yes=call.name) for call in calls]
    lines += [_Line(_EQUAL, number, yes="deny") for number in numbers]
    lines += [_Line(_EQUAL, _OPENAT2, yes="unknown"), _Line(_RETURN, _ALLOW)]
    for call in calls:
        lines += _mode_check(call)
    lines += [_Line(_RETURN, _ALLOW, label="allow"), _Line(_RETURN, _DENY, label="deny")]
    lines.append(_Line(_RETURN, _UNKNOWN, label="unknown"))
    return b"".join(_assembled(lines))


def _mode_check(call: ModeCall) -> list[_Line]:
    lines = []
    if call.flags is not None:
        lines += [_Line(_LOAD, _argument(call.flags)), _Line(_ANY_OF, _CREATING, no="allow")]
    lines += [_Line(_LOAD, _argument(call.mode)), _Line(_ANY_OF, _SET_USER_ID, yes="deny", no="allow")]
    first = lines[0]
    return [_Line(first.code, first.value, first.yes, first.no, call.name), *lines[1:]]


def _argument(place: int) -> int:
    """Offset of the lower half of an argument in what the kernel shows the program; both machines are little-endian."""
    return 16 + 8 * place


def _assembled(lines: list[_Line]) -> list[bytes]:
    places = {line.label: place for place, line in enumerate(lines) if line.label}

    def jump(place: int, label: str) -> int:
        return places[label] - place - 1 if label else 0

    return [
        struct.pack("=HBBI", line.code, jump(place, line.yes), jump(place, line.no), line.value)
        for place, line in enumerate(lines)
    ]
