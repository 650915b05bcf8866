"""What the sandboxes of all engines have in common: they are entered through `enter.py`, which keeps account of it.

An engine is a subclass that says, as plain data, what the door is to do (`order`).
"""

import json
import shlex
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.core.files import write_text
from matproof.core.processes import Finished, run
from matproof.records.run import SandboxReport
from matproof.sandbox import enter
from matproof.sandbox.host import entry_failure
from matproof.sandbox.limits import LimitPlan
from matproof.sandbox.spec import LONGEST_END_S, SandboxSpec


def bridged(spec: SandboxSpec) -> bool:
    """Whether the gateway is reachable inside."""
    return spec.policy.network == "gateway" and spec.gateway_socket is not None


def common_order(limits: LimitPlan, life: Path | None) -> dict[str, Any]:
    """The part of an order that does not depend on the engine."""
    watched = {"memory": limits.watch_memory, "processes": limits.watch_processes}
    return {
        "life": None if life is None else str(life.absolute()),
        "groups": [
            {"home": group.home, "files": dict(group.files), "events": {k: list(v) for k, v in group.events.items()}}
            for group in limits.groups
        ],
        "watch": watched if any(value is not None for value in watched.values()) else None,
    }


class EnteredSandbox(ABC):
    """A `Sandbox`; made by `engine.open_sandbox`, which checks that it can be entered."""

    def __init__(self, report: SandboxReport) -> None:
        self._lives: list[Path] = []
        self.report = report

    @abstractmethod
    def order(self, life: Path | None, *, bridge: bool = True, program: str | None = None) -> dict[str, Any]:
        """What `enter.py` is to do. Without `bridge` the gateway is left out; `program` must be visible inside."""

    def argv(self, command: Sequence[str]) -> list[str]:
        """Arguments that enter the sandbox and run `command`."""
        return _argv(self.order(None), command)

    def check(self) -> None:
        """Run `true` inside, without the gateway. Raises InfrastructureError."""
        finished = self._run(["true"], bridge=False, timeout_s=60)
        if not finished.ok:
            raise InfrastructureError(f"`true` in a sandbox {finished.ending}: {finished.stderr.strip()}")

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float | None,
        stdout_to: Path | None = None,
        stderr_to: Path | None = None,
        cancel: threading.Event | None = None,
        stdin: str | None = None,
        max_log_bytes: int = 20_000_000,
    ) -> Finished:
        """See `Sandbox.run`."""
        return self._run(
            command,
            timeout_s=timeout_s,
            stdout_to=stdout_to,
            stderr_to=stderr_to,
            cancel=cancel,
            stdin=stdin,
            max_log_bytes=max_log_bytes,
        )

    def _run(self, command: Sequence[str], *, bridge: bool = True, program: str | None = None, **how: Any) -> Finished:
        with tempfile.TemporaryDirectory(prefix="matproof-") as folder:
            life = Path(folder, "life")
            finished = run(_argv(self.order(life, bridge=bridge, program=program), command), **how)
            endings = _wait_for_end(life, timeout_s=LONGEST_END_S)
        if ".begun" not in endings and finished.ending == "exited":
            raise entry_failure(finished.stderr)
        return finished

    def write_launcher(self, path: Path, program: str) -> Path:
        """See `Sandbox.write_launcher`."""
        life = path.absolute().with_name(path.name + ".runs")
        line = shlex.join(_argv(self.order(life, program=program), [program]))
        write_text(path, f'#!/bin/sh\n# Enters a sandbox and runs a program in it.\nexec {line} "$@"\n', mode=0o700)
        self._lives.append(life)
        return path.absolute()

    def wait_until_empty(self, timeout_s: float = LONGEST_END_S) -> bool:
        """See `Sandbox.wait_until_empty`; speaks of what launchers of this sandbox started."""
        endings = [_wait_for_end(life, timeout_s=timeout_s) for life in self._lives]
        return all(".begun" in ending for ending in endings)


def _argv(order: dict[str, Any], command: Sequence[str]) -> list[str]:
    # Imported rather than run as a file, so that Python keeps it compiled.
    door = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from matproof.sandbox.enter import main; main(sys.argv[1:])"
    )
    place = str(Path(enter.__file__).parents[2])
    return [sys.executable, "-I", "-S", "-c", door, place, json.dumps(order), *command]


def _wait_for_end(life: Path, *, timeout_s: float) -> set[str]:
    """Return how the runs of which `life` keeps account ended (`.begun`, `.failed`), once all have."""
    deadline = elapsed() + timeout_s
    while True:
        runs = list(life.iterdir()) if life.is_dir() else []
        if all(file.suffix for file in runs):
            return {file.suffix for file in runs}
        if elapsed() > deadline:
            pids = ", ".join(file.name for file in runs if not file.suffix)
            raise InfrastructureError(f"what sandbox {pids} started is perhaps still alive")
        threading.Event().wait(0.005)
