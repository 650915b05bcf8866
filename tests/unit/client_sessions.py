"""Real clients in real sessions with a scripted gateway: what each wrote to its output, and what the gateway saw."""

import os
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from gateway_fixture import Open, on_tcp

from matproof.agents.cli_client import Briefing, Client
from matproof.core.files import write_text


@dataclass(frozen=True)
class Session:
    """What is left of one session."""

    stdout: Path
    exchanges: Path
    work: Path
    returncode: int


def session(client: Client, here: Open, home: Path, *, model: str, prompt: str = "go", resume: bool = False) -> Session:
    """Run `client` once, in a home of its own; everything it may reach is the gateway on loopback."""
    work, own, system = home / "work", home / "client", home / "system.md"
    for directory in (work, own):
        directory.mkdir(parents=True, exist_ok=True)
    system.write_text("You answer briefly.\n")
    with on_tcp(here.socket) as address:
        briefing = Briefing(
            url=f"{address}/s/{here.labels['plan']}",
            model=model,
            session_id=str(uuid.UUID(int=7)),
            directory=str(own),
            workdir=str(work),
            system_prompt=str(system),
        )
        for name, text in client.files(briefing).items():
            write_text(own / name, text)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "IS_SANDBOX": "1",
            **client.environment(briefing),
        }
        finished = subprocess.run(
            [str(client.program()), *client.arguments(briefing, resume=resume)],
            cwd=work,
            env=environment,
            input=prompt,
            capture_output=True,
            text=True,
            timeout=120,
        )
    number = len(list(home.glob("stdout-*"))) + 1
    stdout = home / f"stdout-{number}.jsonl"
    stdout.write_text(finished.stdout)
    (home / f"stderr-{number}.txt").write_text(finished.stderr)
    return Session(stdout=stdout, exchanges=here.file, work=work, returncode=finished.returncode)
