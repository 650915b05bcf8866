"""The Claude Code client that claude-agent-sdk brings, as a `Client`. docs/agents.md tells what it is given."""

from collections.abc import Iterator
from pathlib import Path

from matproof.agents.cli_client import Briefing
from matproof.core.errors import InfrastructureError
from matproof.core.files import to_json
from matproof.models.session import client_environment, client_program, client_version
from matproof.traces.claude_stream import read
from matproof.traces.events import Event

_SERVERS = "servers.json"
_LONGEST_COMMAND_MS = 72 * 3600 * 1000
_USUAL_COMMAND_MS = 600_000
NOT_OFFERED = ("WebFetch", "WebSearch")
"""Tools that need a network, which there is not."""


class ClaudeCode:
    """See the module."""

    name = "claude_code"
    takes_system_prompt = True

    def program(self) -> Path:
        """The native program in the package."""
        program = Path(client_program())
        if not program.is_file():
            raise InfrastructureError(f"claude-agent-sdk has no client at {program}; install it again")
        return program

    def software(self) -> tuple[Path, ...]:
        """Where the program is: not always in the Python in use."""
        return (self.program().parent,)

    def version(self) -> str:
        """As its package says."""
        return client_version()

    def environment(self, briefing: Briefing) -> dict[str, str]:
        """As every session of this client, and time for long commands."""
        gateway, _, label = briefing.url.rpartition("/s/")
        return {
            **client_environment(label, briefing.model, gateway),
            "CLAUDE_CONFIG_DIR": briefing.directory,
            # A simulation that takes a day is one command; the run's own walltime is what ends it.
            "BASH_DEFAULT_TIMEOUT_MS": str(_USUAL_COMMAND_MS),
            "BASH_MAX_TIMEOUT_MS": str(_LONGEST_COMMAND_MS),
        }

    def files(self, briefing: Briefing) -> dict[str, str]:
        """Its MCP servers."""
        servers = {
            name: {"type": "stdio", "command": command[0], "args": list(command[1:])}
            for name, command in briefing.servers.items()
        }
        return {_SERVERS: to_json({"mcpServers": servers})}

    def arguments(self, briefing: Briefing, *, resume: bool) -> list[str]:
        """One session to its end, with events on standard output; the prompt comes by standard input."""
        arguments = [
            *("--print", "--output-format", "stream-json", "--verbose"),
            *("--model", briefing.model),
            *("--system-prompt-file", briefing.system_prompt),
            *("--permission-mode", "bypassPermissions"),
            # Not a person's, a project's or a machine's settings: what lies in the payload is data.
            "--setting-sources=",
            *("--mcp-config", f"{briefing.directory}/{_SERVERS}", "--strict-mcp-config"),
            *("--disallowedTools", ",".join(NOT_OFFERED)),
            *(("--effort", briefing.effort) if briefing.effort is not None else ()),
        ]
        return [*arguments, "--resume" if resume else "--session-id", briefing.session_id]

    def session_events(self, stdout: Path) -> Iterator[Event]:
        """Its stream of JSON."""
        return read(stdout)


class Kimi(ClaudeCode):
    """The same client on a model that it does not know, at a provider that speaks its API.

    It takes an unknown model for one that reads a million tokens, and would tidy its context up too late.
    """

    name = "kimi"

    def environment(self, briefing: Briefing) -> dict[str, str]:
        """With the size of the model's window."""
        return {**super().environment(briefing), **window_environment(briefing.context_window)}


def window_environment(context_window: int | None) -> dict[str, str]:
    """What tells the client how much a model can read; nothing where that is unknown."""
    return {} if context_window is None else {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(context_window)}
