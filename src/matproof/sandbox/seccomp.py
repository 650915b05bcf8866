"""System calls that nothing inside a sandbox may make, as a classic BPF program for the kernel.

Namespaces do not cover them: the kernel's log and the session keyring are shared with the host, and bpf, perf,
io_uring and userfaultfd are where kernels have been broken out of. A denied call fails with EPERM, as in Docker's
default profile, so programs that only try it go on. Calls of another architecture (32-bit programs) are all denied.
"""

import struct

_ALLOW, _DENY = 0x7FFF_0000, 0x0005_0001
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x4000_0000

_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}

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


def denied_calls(machine: str) -> dict[str, int]:
    """Name → number of each denied call on `machine` (as `platform.machine()`); empty where we have no table."""
    known = _NUMBERS.get(machine)
    return {} if known is None else dict(sorted((known | _SAME_EVERYWHERE).items()))


def build_filter(machine: str) -> bytes | None:
    """The program that `bwrap --seccomp` loads, or None on a machine that we have no table for."""
    numbers = sorted(denied_calls(machine).values())
    if not numbers:
        return None
    checks: list[tuple[int, int]] = [(_EQUAL, number) for number in numbers]
    if machine == "x86_64":
        checks.insert(0, (_AT_LEAST, _X32))
    program = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, len(checks) + 2, _ARCHITECTURES[machine]),
        (_LOAD, 0, 0, 0),
    ]
    # Each check jumps over the later checks and the one `allow` to `deny`.
    program += [(code, len(checks) - place, 0, value) for place, (code, value) in enumerate(checks)]
    program += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
    return b"".join(struct.pack("=HBBI", *line) for line in program)
