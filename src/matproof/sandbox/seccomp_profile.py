"""The same denied system calls as `seccomp.py`, as the JSON profile that `apptainer --security seccomp:FILE` reads."""

import json
from typing import Any

from matproof.sandbox.seccomp import ModeCall, denied_calls, mode_calls

_DENY = "SCMP_ACT_ERRNO"
_NOT_PERMITTED, _UNKNOWN = 1, 38
_SET_USER_ID = 0o4000
_CREATING = (0o100, 0o20_000_000)  # O_CREAT, O_TMPFILE


def seccomp_profile(machine: str) -> str | None:
    """The profile's text, or None on a machine that we have no table for.

    libseccomp leaves out calls that it does not know and denies calls of other architectures by itself.
    """
    denied = sorted(denied_calls(machine))
    if not denied:
        return None
    rules: list[dict[str, Any]] = [
        {"names": denied, "action": _DENY, "errnoRet": _NOT_PERMITTED},
        {"names": ["openat2"], "action": _DENY, "errnoRet": _UNKNOWN},
    ]
    for call in mode_calls(machine):
        rules += [
            {"names": [call.name], "action": _DENY, "errnoRet": _NOT_PERMITTED, "args": arguments}
            for arguments in _conditions(call)
        ]
    return json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules})


def _conditions(call: ModeCall) -> list[list[dict[str, Any]]]:
    """Each list is one rule; its conditions hold together."""
    bit = _masked(call.mode, _SET_USER_ID)
    if call.flags is None:
        return [[bit]]
    return [[_masked(call.flags, flag), bit] for flag in _CREATING]


def _masked(place: int, bit: int) -> dict[str, Any]:
    return {"index": place, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"}
