"""A conversation with the client inside a sandbox, with its prompts kept as files beside it.

Used by every session that a model answers: the agent's and the judge's. The client gets one sandbox, from which only
the gateway is reachable, and its commands another, from which nothing is. Nothing that either starts outlives it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from matproof.config.settings import Answers
from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.core.files import write_text
from matproof.execution.commands import Commands
from matproof.models.gateway import Gateway
from matproof.models.hearing import Review
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
    """plan, setup, diagnose, extract or judge."""
    folder: Path
    """Kept outside the sandbox: `system.md`, `prompt.md` and the launcher."""
    system: str
    prompt: str
    answer: type[BaseModel] | None
    answers: Answers
    timeout_s: float
    builtin_tools: tuple[str, ...] = ("Read",)
    tools: tuple[Tool, ...] = ()
    review: Review | None = None
    """What is said, once, of an answer of the right shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How it went."""

    answered: Answered
    reports: tuple[SandboxReport, ...]
    """Of the client's sandbox and of its commands'."""
    provider_failure: str | None
    """Why the provider gave this session no whole answer at the end, where it did not."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a session did not give what was asked of it, where provider and sandbox are not to blame."""

    kind: Literal["budget", "walltime", "agent_error"]
    reason: str


def loss(name: str, held: Held, gateway: Gateway, *, wanted: bool) -> Loss | None:
    """What became of a session, by what the gateway saw; None where it gave what was `wanted`.

    Raises InfrastructureError where the provider failed it.
    """
    answered = held.answered
    if answered.ending == "done" and (answered.answer is not None or not wanted):
        return None
    if gateway.refusal is not None:
        return Loss("budget", gateway.refusal)
    if held.provider_failure is not None:
        raise InfrastructureError(f"the model provider failed during {name}: {held.provider_failure}")
    if answered.ending == "timeout":
        return Loss("walltime", f"the walltime ended the {name} session")
    return Loss("agent_error", f"{name}: {answered.problem or 'there was no usable answer'}")


def converse(
    conversation: Conversation,
    spec: SandboxSpec,
    *,
    gateway: Gateway,
    commands_memory_gb: float | None = None,
    allow_weaker: bool,
    on_message: Callable[["Message"], None],
) -> Held:
    """Hold it; when this returns, nothing that it started is alive.

    Raises RefusedError, and InfrastructureError where a sandbox or the client can't be started; all else is told.
    """
    folder = conversation.folder
    write_text(folder / "system.md", conversation.system)
    write_text(folder / "prompt.md", conversation.prompt)
    if not Path(client_program()).is_file():
        raise InfrastructureError(f"the Claude client is not where its package puts it: {client_program()}")
    aside = replace(spec, gateway_socket=None, memory_gb=commands_memory_gb)
    commands_sandbox = open_sandbox(aside, allow_weaker=allow_weaker)
    commands = Commands(commands_sandbox, deadline=elapsed() + conversation.timeout_s)
    with gateway.session(conversation.name) as label:
        client = open_sandbox(
            replace(
                spec,
                mounts=(*spec.mounts, Mount(source=folder / "system.md", target=_SYSTEM)),
                environment={
                    **spec.environment,
                    **client_environment(label, conversation.answers.model, GATEWAY_URL),
                },
            ),
            allow_weaker=allow_weaker,
        )
        try:
            answered = hold(
                Session(
                    model=conversation.answers.model,
                    system_prompt_file=_SYSTEM,
                    prompt=conversation.prompt,
                    launcher=client.write_launcher(folder / "enter", client_program()),
                    workdir=folder,
                    answer=conversation.answer,
                    timeout_s=conversation.timeout_s,
                    builtin_tools=conversation.builtin_tools,
                    tools=(commands.tool(spec.workdir), *conversation.tools),
                    effort=conversation.answers.effort,
                    review=conversation.review,
                ),
                on_message,
            )
        finally:
            commands.close()
        entered = client.wait_until_empty()
    if answered.ending == "error" and not entered:
        raise InfrastructureError(f"the client's sandbox could not be entered: {answered.problem}")
    return Held(
        answered=answered,
        reports=(client.report, commands_sandbox.report),
        provider_failure=gateway.failure_of(label),
    )
