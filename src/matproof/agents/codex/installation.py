"""Where `make agents` puts the Codex client: the native program, which needs no node.

Only that installation counts. A `codex` on PATH would be of any version and of a person's own set-up.
"""

import json
import platform
from dataclasses import dataclass
from pathlib import Path

import matproof
from matproof.agents.cli_client import REMEDY
from matproof.core.errors import InfrastructureError

PLACE = Path(matproof.__file__).parents[2] / ".agents"
"""What `make agents` fills: a directory of the checkout."""
_BUILDS = {
    "x86_64": ("linux-x64", "x86_64-unknown-linux-musl"),
    "aarch64": ("linux-arm64", "aarch64-unknown-linux-musl"),
}
"""Machine, as `platform.machine()` → suffix of the package, and the directory in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One installed client."""

    program: Path
    software: Path
    """Directory with the program and the tools that come with it."""
    version: str


def find() -> Installation:
    """The client below `PLACE`. Raises InfrastructureError, in one line, where it is not."""
    machine = platform.machine()
    if machine not in _BUILDS:
        raise InfrastructureError(f"there is no codex client for {machine}; known: {', '.join(_BUILDS)}")
    suffix, target = _BUILDS[machine]
    software = PLACE / f"node_modules/@openai/codex-{suffix}/vendor/{target}"
    program, package = software / "bin/codex", PLACE / "node_modules/@openai/codex/package.json"
    if not program.is_file() or not package.is_file():
        raise InfrastructureError(f"the codex client is not installed in {PLACE}: {REMEDY}")
    described = json.loads(package.read_text(encoding="utf-8"))
    return Installation(program=program, software=software, version=str(described["version"]))
