"""The Codex CLI as a `Client`. docs/agents.md tells what it is given and what it can't be told."""

from collections.abc import Iterator
from pathlib import Path

from matproof.agents.cli_client import Briefing
from matproof.agents.codex.configuration import KEY, RULES, config_toml
from matproof.agents.codex.installation import find
from matproof.traces.codex_exec import read
from matproof.traces.events import Event


class Codex:
    """See the module."""

    name = "codex"
    takes_system_prompt = True

    def program(self) -> Path:
        """The native program."""
        return find().program

    def software(self) -> tuple[Path, ...]:
        """The one directory that it needs."""
        return (find().software,)

    def version(self) -> str:
        """As its package says."""
        return find().version

    def environment(self, briefing: Briefing) -> dict[str, str]:
        """Where its configuration and history are, and a placeholder for the key."""
        return {"CODEX_HOME": briefing.directory, KEY: "no-key-inside-the-sandbox"}

    def files(self, briefing: Briefing) -> dict[str, str]:
        """Its configuration, and which commands it runs without asking."""
        return {"config.toml": config_toml(briefing), "rules/default.rules": RULES}

    def arguments(self, briefing: Briefing, *, resume: bool) -> list[str]:
        """One session to its end, with events on standard output; the prompt comes by standard input."""
        return [
            "exec",
            *(("resume", "--last") if resume else ()),
            "--json",
            "--skip-git-repo-check",
            # Its sandbox is off because it runs in ours.
            "--dangerously-bypass-approvals-and-sandbox",
            # A field of config.toml that this version does not know is an error.
            "--strict-config",
            "-",
        ]

    def session_events(self, stdout: Path) -> Iterator[Event]:
        """Its lines of JSON."""
        return read(stdout)
