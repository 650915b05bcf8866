"""The sessions of the orchestrated agent: which tools, which directories writable, which prompt.

Reading sessions (plan, diagnose, extract) see the artifacts read-only: that is enforced by the sandbox, not asked of
the model. Each session is a client of its own in a sandbox of its own, so nothing it starts outlives it.
"""

import threading
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from matproof.agents.base import Work
from matproof.agents.inside import ARTIFACTS, PAYLOAD
from matproof.agents.orchestrated.plan import refuse_departure
from matproof.agents.prompting import system_prompt
from matproof.core.clock import elapsed
from matproof.core.files import give_back, read_model
from matproof.execution.conversation import Conversation, Held, converse
from matproof.execution.steps import Needs
from matproof.models.session import Tool
from matproof.records.run import SandboxReport
from matproof.sandbox.engine import Mount, SandboxSpec
from matproof.sandbox.policy import Policy
from matproof.traces.claude_sdk import record_message

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message

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

    @model_validator(mode="after")
    def _stays_inside(self) -> Self:
        path = PurePosixPath(self.workdir or ".")
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{self.workdir!r} is outside the artifact directory: use a path relative to it")
        if self.command is not None:
            refuse_departure(self.command, self.workdir)
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
            system=system_prompt(),
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
            commands_memory_gb=self._own_memory_gb(),
            allow_weaker=work.allow_weaker,
            on_message=keep,
        )
        for report in held.reports:
            self.remember(report)
        if held.answered.problem:
            work.trace.write(kind.name, "error", held.answered.problem)
        return held, last

    def step_spec(self, needs: Needs) -> SandboxSpec:
        """The sandbox of a step: artifacts writable, no network at all."""
        place = self._work.place
        mounts = (
            Mount(source=place.payload, target=PAYLOAD),
            Mount(source=place.artifacts, target=ARTIFACTS, writable=True),
        )
        spec = self._base("step", mounts, None, needs.cpus)
        return replace(spec, memory_gb=needs.memory_gb)

    def remember(self, report: SandboxReport) -> None:
        """Keep what a sandbox enforced."""
        with self._lock:
            self.reports.append(report)

    def _spec(self, kind: SessionKind) -> SandboxSpec:
        place = self._work.place
        mounts = [
            Mount(source=place.payload, target=PAYLOAD),
            Mount(source=place.artifacts, target=ARTIFACTS, writable=kind.writes),
        ]
        if kind.sees_logs:
            place.steps.mkdir(parents=True, exist_ok=True)
            mounts.append(Mount(source=place.steps, target=STEPS))
        steps, cpus = self._work.setting.steps, self._work.claim.metadata.resources.cpus
        cpus = min(cpus, steps.host_cpus) if steps.elsewhere else cpus
        return self._base(kind.policy, tuple(mounts), self._work.socket, cpus)

    def _own_memory_gb(self) -> float:
        """For commands of sessions: the claim's, or what the run's own job has where steps are jobs of their own."""
        steps, memory_gb = self._work.setting.steps, self._work.claim.metadata.resources.memory_gb
        return min(memory_gb, steps.host_memory_gb) if steps.elsewhere else memory_gb

    def _base(self, policy: str, mounts: tuple[Mount, ...], socket: Path | None, cpus: int) -> SandboxSpec:
        work = self._work
        # A command may have closed the directory to everybody; the next sandbox must still be able to mount it.
        give_back(work.place.artifacts)
        return SandboxSpec(
            policy=read_model(Policy, work.policies / f"{policy}.yaml"),
            mounts=mounts,
            workdir=ARTIFACTS,
            environment={"OMP_NUM_THREADS": str(cpus), **work.setting.environment},
            gateway_socket=socket,
            allow_hosts=tuple(work.claim.metadata.allow_hosts),
            hidden=(work.claim.root / "meta", work.claim.root / "reference", work.place.jobs),
            engine=work.engine,
        )


def _text(message: "Message") -> str:
    from claude_agent_sdk import AssistantMessage, TextBlock

    if not isinstance(message, AssistantMessage):
        return ""
    return "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
