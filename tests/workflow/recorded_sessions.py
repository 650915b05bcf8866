"""Real clients outside a sandbox, in a directory and with a home of their own, in front of a gateway of these tests."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from gateway_fixture import KEY, Open, on_tcp, opened

from matproof.agents.cli_client import Briefing
from matproof.agents.codex.configuration import KEY as CODEX_KEY
from matproof.agents.codex.configuration import config_toml
from matproof.agents.codex.installation import find
from matproof.config.models import Provider
from matproof.models.live import LiveBackend
from matproof.models.recording.recorder import record
from matproof.models.recording.writing import write_script
from matproof.models.scripted import ScriptedBackend
from matproof.models.session import Session, client_environment, client_program, hold

__all__ = ["KEY", "NOBODY", "Open", "Place", "hold_claude", "live", "opened", "place", "run_codex", "scripted_from"]
NOBODY = 65534


@dataclass(frozen=True)
class Place:
    """Where a session runs, and as whom (None: as we are)."""

    root: Path
    user: int | None = None

    @property
    def work(self) -> Path:
        """Working directory."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """Home of the user."""
        return self.root / "somebody"

    def environment(self) -> dict[str, str]:
        """What every client gets; nothing of ours."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def becoming(self) -> list[str]:
        """What goes in front of a command so that it runs as this user."""
        if self.user is None:
            return []
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]

    def reaches(self, program: str | Path) -> bool:
        """Whether this user can run `program`, which may lie below a directory that is closed to others."""
        return subprocess.run([*self.becoming(), "test", "-x", program], timeout=30).returncode == 0


@contextmanager
def place(name: str, *, user: int | None = None) -> Iterator[Place]:
    """A new place below /tmp that its user may write."""
    root = Path(tempfile.mkdtemp(prefix=name, dir="/tmp"))
    here = Place(root, user)
    try:
        root.chmod(0o755)
        for directory in (here.work, here.home, root / "tmp"):
            directory.mkdir()
            if user is not None:
                os.chown(directory, user, user)
        yield here
    finally:
        shutil.rmtree(root)


@contextmanager
def live(upstream: Path, file: Path, *, api: Any) -> Iterator[Open]:
    """A gateway with a live backend, whose provider on loopback is another gateway that answers from `upstream`."""
    with (
        opened(ScriptedBackend(upstream, files=())) as provider,
        on_tcp(provider.socket) as address,
        opened(
            LiveBackend(Provider(api=api, base_url=f"{address}/s/{provider.labels['plan']}"), KEY), file=file
        ) as here,
    ):
        yield here


def scripted_from(file: Path, script: Path) -> Path:
    """Record `file` to `script`."""
    write_script(script, record(file).script)
    return script


def hold_claude(here: Open, place: Place, prompt: str) -> tuple[str, dict[str, Any]]:
    """One session of the Claude client; how it ended ("done"), and the usage that the client itself reports."""
    system = place.root / "system.md"
    system.write_text(f"You test claims.\nWorking directory: {place.work}\n")
    results: list[Any] = []
    with on_tcp(here.socket) as address:
        environment = place.environment() | client_environment(here.labels["plan"], "priced", address)
        launcher = place.root / "enter"
        words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *place.becoming()]
        launcher.write_text(f'#!/bin/sh\nexec {" ".join(words)} {client_program()} "$@"\n')
        launcher.chmod(0o755)
        answered = hold(
            Session(
                model="priced",
                system_prompt_file=str(system),
                prompt=prompt,
                launcher=launcher,
                workdir=place.work,
                answer=None,
                timeout_s=90,
                builtin_tools=("Bash", "Read", "Write", "Agent"),
            ),
            lambda message: results.append(message) if type(message).__name__ == "ResultMessage" else None,
        )
    usage = results[-1].usage if results else {}
    told = {key: value for key, value in usage.items() if key.endswith("_tokens")}
    return answered.problem or answered.ending, told


def run_codex(here: Open, place: Place, prompt: str) -> tuple[str, dict[str, Any]]:
    """One session of the Codex client; how it ended ("done"), and the usage that the client itself reports."""
    codex_home, system = place.root / "codex", place.root / "system.md"
    system.write_text("You test claims.\n")
    codex_home.mkdir(exist_ok=True)
    with on_tcp(here.socket) as address:
        briefing = Briefing(
            model="gpt-5.5",
            url=f"{address}/s/{here.labels['plan']}",
            session_id="",
            directory=str(codex_home),
            system_prompt=str(system),
        )
        (codex_home / "config.toml").write_text(config_toml(briefing))
        if place.user is not None:
            os.chown(codex_home, place.user, place.user)
        arguments = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"]
        finished = subprocess.run(
            [*place.becoming(), str(find().program), *arguments],
            cwd=place.work,
            env=place.environment() | {"CODEX_HOME": str(codex_home), CODEX_KEY: "placeholder"},
            input=prompt,
            capture_output=True,
            text=True,
            timeout=90,
        )
    last = json.loads(finished.stdout.splitlines()[-1])
    if last["type"] != "turn.completed":
        return str(last), {}
    return "done", last["usage"]
