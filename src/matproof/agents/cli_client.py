"""What distinguishes one command-line client from another. `cli_agent.CliAgent` runs any of them.

A client is a program that is started in the sandbox with its prompt on standard input, works with tools of its own,
calls its model at an address that it is told, writes what it does to standard output, and ends. A new one is a class
with these few methods and an entry point of the group `matproof.agents` (docs/agents.md). Two properties are
deliberate: what it is told is all in `Briefing`, so that every client gets the same; and nothing here says how a
session ended, because exit status and the gateway tell that of any client.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from matproof.agents.inside import ARTIFACTS, CLIENT, SYSTEM_PROMPT
from matproof.core.errors import InfrastructureError

if TYPE_CHECKING:
    from matproof.traces.events import Event

REMEDY = "run `make agents`"
"""How a client that is not installed is put in place."""


def check_version(name: str, version: str, wanted: str | None) -> None:
    """Raises InfrastructureError where a setting is for another version of client `name` than the one here."""
    if wanted not in (None, version):
        raise InfrastructureError(f"{name} is {version}, and the setting is for {wanted}; install that one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What a client is told of its session. Paths are those inside the sandbox."""

    url: str
    """Address of the gateway for this session, such as `http://127.0.0.1:8080/s/session-1f9c03ab`; what follows is the
    API's own path, such as `/v1/responses`."""
    model: str
    """Name of the model as the provider knows it."""
    effort: Literal["low", "medium", "high"] | None = None
    """Reasoning effort; None is the client's own choice."""
    context_window: int | None = None
    """Tokens that the model can read, by models.yaml; None is unknown."""
    session_id: str
    """A UUID of ours, for a client that lets its session be named."""
    servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """MCP servers on standard streams: name → argument list that starts one inside."""
    directory: str = CLIENT
    """The client's own directory, writable; it is there when the client starts, and again when it is resumed."""
    workdir: str = ARTIFACTS
    """Where it starts."""
    system_prompt: str = SYSTEM_PROMPT
    """File of the system prompt; only of use where `takes_system_prompt`."""


class Client(Protocol):
    """One command-line client. It has no state: every method answers from its arguments and the installation."""

    name: str
    """The agent's name, as settings say it."""
    takes_system_prompt: bool
    """Whether `arguments` hands over the file of the system prompt; else it stands in front of the task's, and the
    run's record says so."""

    def program(self) -> Path:
        """The program on this host. Raises InfrastructureError, one line with the remedy, where it is missing."""
        ...

    def software(self) -> tuple[Path, ...]:
        """Directories of the host that it needs, the program's own too, unless that is below /usr. They are seen inside
        read-only, at their own paths."""
        ...

    def version(self) -> str:
        """Version of that program, without starting it where possible."""
        ...

    def environment(self, briefing: Briefing) -> dict[str, str]:
        """Variables beside the policy's: the gateway's address, a placeholder for the key, no side traffic."""
        ...

    def files(self, briefing: Briefing) -> dict[str, str]:
        """Files of its own directory, path below it → text, written before the first start and never again."""
        ...

    def arguments(self, briefing: Briefing, *, resume: bool) -> list[str]:
        """What follows the program: a session without questions, prompt on standard input, events on standard output.

        With `resume` the session that this directory holds goes on with another prompt, in a new process.
        """
        ...

    def session_events(self, stdout: Path) -> Iterator["Event"]:
        """What the client says happened, from what it wrote to standard output. Hostile data: whatever ran beside the
        client could have written it."""
        ...
