"""The sessions of the orchestrated agent: which tools, which directories writable, which prompt.

Reading sessions (plan, diagnose, extract) see the artifacts read-only: that is enforced by the sandbox, not asked of
the model. Each session is a client of its own in a sandbox of its own, so nothing it starts outlives it.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from matproof.agents.base import Work
from matproof.core.clock import elapsed
from matproof.core.files import give_back, read_model
from matproof.execution.conversation import Conversation, Held, converse
from matproof.models.prompts import load_prompt
from matproof.models.session import Tool
from matproof.records.run import SandboxReport
from matproof.sandbox.engine import Mount, Sandbox, SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy
from matproof.traces.claude_sdk import record_message

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message

PAYLOAD = "/work/payload"
ARTIFACTS = "/work/artifacts"
STEPS = "/work/steps"
NO_NULL = r"^[^\x00]*$"


class Diagnosis(BaseModel):
    """What is done about a failed step."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    decision: Literal["retry_unchanged", "retry_changed", "skip", "abort"]
    """What is done next."""
    command: str | None = Field(default=None, max_length=4000, pattern=NO_NULL)
    """The command that replaces the failed one, for retry_changed."""
    workdir: str | None = Field(default=None, max_length=300, pattern=NO_NULL)
    """The directory that replaces the failed one, relative to the artifact directory, for retry_changed."""
    explanation: str = Field(max_length=5000)
    """Why."""

    @model_validator(mode="after")
    def _change_is_given(self) -> Self:
        if self.decision == "retry_changed" and not (self.command or self.workdir):
            raise ValueError("retry_changed needs a command or a workdir")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKind:
    """What distinguishes one kind of session from another."""

    name: Literal["plan", "setup", "diagnose", "extract"]
    writes: bool = False
    sees_logs: bool = False
    builtin_tools: tuple[str, ...] = ("Read",)
    policy: str = "agent"


PLAN = SessionKind(name="plan", policy="plan")
SETUP = SessionKind(name="setup", writes=True, builtin_tools=("Read", "Write", "Edit"))
DIAGNOSE = SessionKind(name="diagnose", sees_logs=True)
EXTRACT = SessionKind(name="extract", sees_logs=True)


class Sessions:
    """Holds the sessions of one run and remembers what their sandboxes enforced."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._count = 0
        self.reports: list[SandboxReport] = []

    def converse(
        self,
        kind: SessionKind,
        prompt: str,
        answer: type[BaseModel] | None,
        *,
        deadline: float,
        tools: tuple[Tool, ...] = (),
    ) -> tuple[Held, str]:
        """Hold one session until `deadline`; returns how it went and the last text the model wrote."""
        work = self._work
        with self._lock:
            self._count += 1
            folder = work.place.root / "sessions" / f"{self._count:02d}-{kind.name}"
        last = ""

        def keep(message: "Message") -> None:
            nonlocal last
            record_message(work.trace, kind.name, message)
            last = _text(message) or last

        work.trace.write(kind.name, "message", prompt, data={"role": "user"})
        conversation = Conversation(
            name=kind.name,
            folder=folder,
            system=load_prompt("matproof.agents", "system").render(),
            prompt=prompt,
            answer=answer,
            answers=work.setting,
            timeout_s=max(0.0, deadline - elapsed()),
            builtin_tools=kind.builtin_tools,
            tools=tools,
        )
        held = converse(
            conversation,
            self._spec(kind),
            gateway=work.gateway,
            commands_memory_gb=work.claim.metadata.resources.memory_gb,
            allow_weaker=work.allow_weaker,
            on_message=keep,
        )
        for report in held.reports:
            self._remember(report)
        if held.answered.problem:
            work.trace.write(kind.name, "error", held.answered.problem)
        return held, last

    def step_sandbox(self, cpus: int) -> Sandbox:
        """The sandbox of a step that uses `cpus` cores: artifacts writable, no network at all."""
        place = self._work.place
        mounts = (
            Mount(source=place.payload, target=PAYLOAD),
            Mount(source=place.artifacts, target=ARTIFACTS, writable=True),
        )
        sandbox = open_sandbox(self._base("step", mounts, None, cpus), allow_weaker=self._work.allow_weaker)
        self._remember(sandbox.report)
        return sandbox

    def _spec(self, kind: SessionKind) -> SandboxSpec:
        place = self._work.place
        mounts = [
            Mount(source=place.payload, target=PAYLOAD),
            Mount(source=place.artifacts, target=ARTIFACTS, writable=kind.writes),
        ]
        if kind.sees_logs:
            place.steps.mkdir(parents=True, exist_ok=True)
            mounts.append(Mount(source=place.steps, target=STEPS))
        cpus = self._work.claim.metadata.resources.cpus
        return self._base(kind.policy, tuple(mounts), self._work.socket, cpus)

    def _base(self, policy: str, mounts: tuple[Mount, ...], socket: Path | None, cpus: int) -> SandboxSpec:
        work = self._work
        resources = work.claim.metadata.resources
        # A command may have closed the directory to everybody; the next sandbox must still be able to mount it.
        give_back(work.place.artifacts)
        return SandboxSpec(
            policy=read_model(Policy, work.policies / f"{policy}.yaml"),
            mounts=mounts,
            workdir=ARTIFACTS,
            environment={"OMP_NUM_THREADS": str(cpus)},
            gateway_socket=socket,
            memory_gb=resources.memory_gb if policy == "step" else None,
            allow_hosts=tuple(work.claim.metadata.allow_hosts),
            hidden=(work.claim.root / "meta", work.claim.root / "reference"),
        )

    def _remember(self, report: SandboxReport) -> None:
        with self._lock:
            self.reports.append(report)


def _text(message: "Message") -> str:
    from claude_agent_sdk import AssistantMessage, TextBlock

    if not isinstance(message, AssistantMessage):
        return ""
    return "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
