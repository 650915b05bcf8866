"""What this machine offers a run: programs and graphics processors."""

import platform
import shutil
import sys
from collections.abc import Iterator

from matproof.commands.doctor.findings import Finding

_PROGRAMS = {
    "pw.x": "quantum-espresso",
    "lmp": "lammps",
}


def python() -> Iterator[Finding]:
    """The Python in use, and the agents' client beside it."""
    yield Finding("python", "ok", f"{platform.python_version()} in {sys.prefix}")
    from matproof.models.session import client_version

    yield Finding("claude client", "ok", client_version())


def software() -> Iterator[Finding]:
    """Programs of the sample claims; a claim whose program is missing is skipped by name."""
    for program, package in _PROGRAMS.items():
        path = shutil.which(program)
        remedy = None if path else f"apt-get install {package}, a module of the site, or an image (docs/containers.md)"
        yield Finding(program, "ok" if path else "weak", path or "not on PATH", remedy)


def graphics() -> Iterator[Finding]:
    """GPUs, as the driver lists them."""
    from matproof.core.processes import run

    if shutil.which("nvidia-smi") is None:
        yield Finding("GPUs", "ok", "none: there is no nvidia-smi; claims that ask for one need a node that has it")
        return
    asked = run(["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"], timeout_s=30)
    if not asked.ok:
        said = " ".join((asked.stderr or asked.stdout).split())
        yield Finding("GPUs", "bad", f"nvidia-smi failed: {said}", "ask the site about its driver")
        return
    for line in asked.stdout.splitlines():
        yield Finding("GPU", "ok", line.strip())
