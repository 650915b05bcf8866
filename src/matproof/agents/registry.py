"""Which agents there are: the entry points of the group `matproof.agents`, ours and those of any installed package.

An entry point is named as settings name the agent, and leads to a class that is called with nothing. It makes an
`Agent`, or a command-line `Client`, which `CliAgent` then runs.
"""

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from matproof.agents.base import Agent
from matproof.agents.cli_agent import CliAgent
from matproof.config.settings import Setting
from matproof.core.errors import InputError

GROUP = "matproof.agents"


def agent_of(setting: Setting, file: Path) -> Agent:
    """The agent that `setting`, read from `file`, names.

    Raises InputError where no installed package has it, where the one that has it can't be imported, and where the
    setting asks it for what it can't do.
    """
    found = _installed()
    if setting.agent not in found:
        raise InputError(
            file,
            "agent",
            f"there is no agent {setting.agent!r}",
            f"use one of {', '.join(sorted(found))}, or install the package that brings it (docs/agents.md)",
        )
    entry = found[setting.agent]
    try:
        made = entry.load()()
    except ImportError as error:
        source = "" if entry.dist is None else f" of package {entry.dist.name}"
        raise InputError(file, "agent", f"{setting.agent!r}{source} can't be imported: {error}", "mend it") from error
    agent: Agent = made if hasattr(made, "run") else CliAgent(made)
    if setting.steps.elsewhere and not agent.has_steps:
        raise InputError(
            file,
            "steps.executor",
            f"agent {setting.agent!r} runs its commands itself, so they can't be jobs of their own",
            "leave `steps` out, or use an agent that plans steps, such as orchestrated",
        )
    return agent


def _installed() -> dict[str, EntryPoint]:
    """Name → entry point; where two packages claim one name, the later one in the order of sys.path."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}
