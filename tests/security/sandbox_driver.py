"""One attempt to do something inside or outside a sandbox, for the attack tests: order in, outcome out, both JSON.

A program of its own, so that a test can run it as another user, with secrets in its environment and session keyring.
"""

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

from matproof.core.errors import MatproofError
from matproof.core.processes import Finished, run
from matproof.sandbox import engine, host
from matproof.sandbox.policy import Policy

ADD_KEY, KEYCTL, JOIN_SESSION, SESSION = 248, 250, 1, -3


def put_in_session_keyring(name: str, secret: str) -> None:
    """A key that every child of this process may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(KEYCTL, JOIN_SESSION, None) < 0:
        raise OSError(ctypes.get_errno(), "no session keyring")
    if libc.syscall(ADD_KEY, b"user", name.encode(), secret.encode(), len(secret), SESSION) < 0:
        raise OSError(ctypes.get_errno(), "no key")


def spec_of(order: dict[str, Any]) -> engine.SandboxSpec:
    """The sandbox that the test asks for."""
    mounts = tuple(engine.Mount(Path(source), target, writable) for source, target, writable in order["mounts"])
    return engine.SandboxSpec(
        policy=Policy.model_validate(order["policy"]),
        mounts=mounts,
        workdir=order["workdir"],
        gateway_socket=Path(order["gateway_socket"]) if order["gateway_socket"] else None,
        allow_hosts=tuple(order["allow_hosts"]),
        engine=engine.Engine(name="apptainer", image=Path(order["image"])) if order["image"] else engine.Engine(),
    )


def attempt(order: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked and say what came of it."""
    if order["key"]:
        put_in_session_keyring(*order["key"])
    if order["outside"]:
        return {"report": None, **told(run(order["command"], timeout_s=order["timeout_s"]))}
    if not order["cgroups"]:
        facts = host.host_limits(with_cgroups=False)
        engine.host_limits = lambda **_: facts  # type: ignore[attr-defined]
    try:
        sandbox = engine.open_sandbox(spec_of(order), allow_weaker=order["allow_weaker"])
        finished = sandbox.run(order["command"], timeout_s=order["timeout_s"])
    except MatproofError as error:
        return {"error": type(error).__name__, "text": str(error)}
    return {"report": sandbox.report.model_dump(), **told(finished)}


def told(finished: Finished) -> dict[str, Any]:
    """What a test looks at."""
    names = ("returncode", "ending", "stdout", "stderr", "seconds")
    return {name: getattr(finished, name) for name in names}


if __name__ == "__main__":
    print(json.dumps(attempt(json.load(sys.stdin))))
