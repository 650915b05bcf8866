"""A conversation with the client inside a sandbox, with its prompts kept as files beside it.

Used by every session that a model answers: the agent's and the judge's. Each gets a sandbox of its own, so nothing that
it starts outlives it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from matproof.config.settings import Answers
from matproof.core.files import write_text
from matproof.models.session import Answered, Session, Tool, client_environment, client_program, hold
from matproof.records.run import SandboxReport
from matproof.sandbox.engine import GATEWAY_URL, Mount, SandboxSpec, open_sandbox

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message

_SYSTEM = "/work/system.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is said to whom, and where it is kept."""

    name: str
    folder: Path
    """Kept outside the sandbox: `system.md`, `prompt.md` and the launcher."""
    system: str
    prompt: str
    answer: type[BaseModel] | None
    answers: Answers
    timeout_s: float
    builtin_tools: tuple[str, ...] = ("Bash", "Read")
    tools: tuple[Tool, ...] = ()


def converse(
    conversation: Conversation,
    sandbox: SandboxSpec,
    *,
    allow_weaker: bool,
    on_message: Callable[["Message"], None],
) -> tuple[Answered, SandboxReport]:
    """Hold it; when this returns, nothing that it started is alive.

    Raises RefusedError and InfrastructureError from the sandbox; all else is in the answer.
    """
    folder = conversation.folder
    write_text(folder / "system.md", conversation.system)
    write_text(folder / "prompt.md", conversation.prompt)
    model = conversation.answers.model
    opened = open_sandbox(
        replace(
            sandbox,
            mounts=(*sandbox.mounts, Mount(source=folder / "system.md", target=_SYSTEM)),
            environment={**sandbox.environment, **client_environment(conversation.name, model, GATEWAY_URL)},
        ),
        allow_weaker=allow_weaker,
    )
    answered = hold(
        Session(
            name=conversation.name,
            model=model,
            system_prompt_file=_SYSTEM,
            prompt=conversation.prompt,
            launcher=opened.write_launcher(folder / "enter", client_program()),
            workdir=folder,
            answer=conversation.answer,
            timeout_s=conversation.timeout_s,
            builtin_tools=conversation.builtin_tools,
            tools=conversation.tools,
            effort=conversation.answers.effort,
        ),
        on_message,
    )
    opened.wait_until_empty()
    return answered, opened.report
