"""`sandbox/*.yaml`: what a sandbox must enforce, whatever the engine."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from matproof.config.base import HandWritten
from matproof.core.files import read_model

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _absolute(text: str) -> str:
    if not text.startswith("/") or ".." in Path(text).parts or Path(text) == Path("/"):
        raise ValueError(f"{text!r} is not an absolute path below /")
    return text


def _variable(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name of an environment variable")
    return name


def _plain(value: str) -> str:
    if "\0" in value:
        raise ValueError("holds a null byte")
    return value


HostPath = Annotated[str, AfterValidator(_absolute), AfterValidator(_plain)]
Variable = Annotated[str, AfterValidator(_variable)]


class PolicyLimits(HandWritten):
    """What the processes of one sandbox may use. Core dumps are always off; wall time is the caller's."""

    memory_gb: float | None = Field(default=4, gt=0)
    """Memory of all processes together, in gigabytes (10^9 bytes); null is unlimited. A claim's need replaces it."""
    processes: int | None = Field(default=512, ge=8)
    """Processes and threads at one time; null is unlimited."""
    file_gb: float = Field(default=10, gt=0)
    """Size of any one file, in gigabytes."""
    tmp_gb: float = Field(default=1, gt=0)
    """Size of each private place in memory (`/tmp`, the home, `/dev/shm`), in gigabytes."""
    open_files: int = Field(default=4096, ge=64)
    """Open files of one process."""


class Policy(HandWritten):
    """The whole file."""

    version: Literal[1]
    """Version of the format."""
    network: Literal["none", "gateway"]
    """`none`: nothing at all. `gateway`: the model gateway on a loopback port, and nothing else."""
    software: list[HostPath] = []
    """Directories of the host visible read-only at their own paths, beside `/usr` and the Python in use."""
    optional_software: list[HostPath] = []
    """As `software`, but left out where they do not exist."""
    environment: dict[Variable, Annotated[str, AfterValidator(_plain)]] = {}
    """Variables of every process inside. Nothing comes from outside."""
    limits: PolicyLimits = PolicyLimits()
    """What the processes may use."""


def load_policy(path: Path) -> Policy:
    """The policy in `path`. Raises InputError naming the wrong field."""
    return read_model(Policy, path)
