"""A guest: a user under whom an attack is tried, outside first and then inside."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from matproof.core.processes import run

HERE = Path(__file__).parent
ORDINARY = 64_321
"""A user id without an account."""


NOBODY = 65_534
"""One with an account, which Apptainer asks for."""


def as_ordinary(*command: str, uid: int = ORDINARY) -> list[str]:
    """`command` as another user; the shell in between is where root's capabilities are lost."""
    change = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    return [*change, "/bin/sh", "-c", 'exec "$@"', "sh", *command]


class Outcome(dict[str, Any]):
    """What the driver tells: of a command, or of an error; asked for what it lacks, all of it is shown."""

    def __missing__(self, key: str) -> Any:
        pytest.fail(f"the outcome has no {key}: {dict(self)}")


@dataclass(frozen=True)
class Guest:
    """A user, a directory of theirs, and two ways to run a command as them."""

    name: str
    uid: int
    folder: Path
    python: str
    library: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    apptainer: Path | None = None
    """Directory of the program, where that is the engine."""
    image: Path | None = None

    def outside(self, *command: str, **order: Any) -> dict[str, Any]:
        """The outcome of `command` on the bare machine."""
        return self._drive(command, outside=True, **order)

    def inside(self, *command: str, **order: Any) -> dict[str, Any]:
        """The outcome of `command` in a sandbox."""
        return self._drive(command, outside=False, **order)

    def python_inside(self, program: str, **order: Any) -> dict[str, Any]:
        """The outcome of a Python program in a sandbox."""
        return self.inside("python3", "-c", program, **order)

    def python_outside(self, program: str, **order: Any) -> dict[str, Any]:
        """The outcome of a Python program on the bare machine."""
        return self.outside(self.python, "-c", program, **order)

    def argv(self, *command: str) -> list[str]:
        """`command` as this user."""
        if self.uid == os.geteuid():
            return list(command)
        return as_ordinary(*command, uid=self.uid)

    def environ(self) -> dict[str, str]:
        """Environment of the driver."""
        own = {"TMPDIR": str(self.folder), **self.environment}
        paths = {} if self.library is None else {"PYTHONPATH": str(self.library)}
        path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        path = path if self.apptainer is None else f"{self.apptainer}:{path}"
        return {"PATH": path, "LANG": "C.UTF-8", **paths, **own}

    def order(self, *command: str, outside: bool = False, limits: dict[str, Any] | None = None, **more: Any) -> str:
        """What the driver reads."""
        policy = {"version": 1, "network": more.pop("network", "none"), "limits": limits or {}}
        known: dict[str, Any] = {
            "policy": policy,
            "mounts": [],
            "workdir": "/tmp",
            "gateway_socket": None,
            "allow_hosts": [],
            "allow_weaker": False,
            "cgroups": True,
            "key": None,
            "timeout_s": 30,
            "image": None if self.image is None else str(self.image),
        }
        assert set(more) <= set(known), more
        return json.dumps({**known, **more, "command": list(command), "outside": outside})

    def _drive(self, command: tuple[str, ...], *, outside: bool, **more: Any) -> dict[str, Any]:
        driver = HERE if self.library is None else self.library
        finished = run(
            self.argv(self.python, str(driver / "sandbox_driver.py")),
            env=self.environ(),
            stdin=self.order(*command, outside=outside, **more),
            timeout_s=90,
            cwd=self.folder,
        )
        assert finished.ok, finished.stderr
        outcome = json.loads(finished.stdout)
        assert isinstance(outcome, dict)
        return Outcome(outcome)

    def write(self, name: str, text: str) -> Path:
        """A file of this user, readable by this user alone."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        self.own()
        return path

    def directory(self, name: str) -> Path:
        """A directory of this user."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        self.own()
        return path

    def own(self) -> None:
        """Give everything in the folder to this user."""
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, self.uid, self.uid, follow_symlinks=False)


def ordinary_python() -> str:
    """A Python that a user without an account can run and that fits the installed libraries; skips without one."""
    wanted = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for path in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        if Path(path).exists() and run(as_ordinary(path, "-I", "-c", wanted), timeout_s=30).ok:
            return path
    version = ".".join(map(str, sys.version_info[:2]))
    pytest.skip(f"no Python {version} that an ordinary user can run")
