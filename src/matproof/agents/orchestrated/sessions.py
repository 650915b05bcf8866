"""The sessions of the orchestrated agent: which tools, which directories writable, which prompt.

Reading sessions (plan, diagnose, extract) see the artifacts read-only: that is enforced by the sandbox, not asked of
the model. Each session is a client of its own in a sandbox of its own, so nothing it starts outlives it.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from matproof.agents.base import Work
from matproof.core.files import read_model
from matproof.execution.conversation import Conversation, converse
from matproof.models.prompts import load_prompt
from matproof.models.session import Answered, Tool
from matproof.records.run import SandboxReport
from matproof.sandbox.engine import Mount, Sandbox, SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy
from matproof.traces.claude_sdk import record_message

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message

PAYLOAD = "/work/payload"
ARTIFACTS = "/work/artifacts"
STEPS = "/work/steps"


class Diagnosis(BaseModel):
    """What is done about a failed step."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    decision: Literal["retry_unchanged", "retry_changed", "skip", "abort"]
    """What is done next."""
    command: str | None = None
    """The command that replaces the failed one, for retry_changed."""
    workdir: str | None = None
    """The directory that replaces the failed one, relative to the artifact directory, for retry_changed."""
    explanation: str
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
    builtin_tools: tuple[str, ...] = ("Bash", "Read")
    policy: str = "agent"


PLAN = SessionKind(name="plan", policy="plan")
SETUP = SessionKind(name="setup", writes=True, builtin_tools=("Bash", "Read", "Write", "Edit"))
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
        self, kind: SessionKind, prompt: str, answer: type[BaseModel] | None, *, tools: tuple[Tool, ...] = ()
    ) -> tuple[Answered, str]:
        """Hold one session; returns how it ended and the last text the model wrote."""
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
            timeout_s=work.seconds_left,
            builtin_tools=kind.builtin_tools,
            tools=tools,
        )
        answered, report = converse(conversation, self._spec(kind), allow_weaker=work.allow_weaker, on_message=keep)
        self._remember(report)
        if answered.problem:
            work.trace.write(kind.name, "error", answered.problem)
        return answered, last

    def step_sandbox(self) -> Sandbox:
        """The sandbox of a step: artifacts writable, no network at all."""
        place = self._work.place
        mounts = (
            Mount(source=place.payload, target=PAYLOAD),
            Mount(source=place.artifacts, target=ARTIFACTS, writable=True),
        )
        sandbox = open_sandbox(self._base("step", mounts, None), allow_weaker=self._work.allow_weaker)
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
        return self._base(kind.policy, tuple(mounts), self._work.socket)

    def _base(self, policy: str, mounts: tuple[Mount, ...], socket: Path | None) -> SandboxSpec:
        work = self._work
        resources = work.claim.metadata.resources
        return SandboxSpec(
            policy=read_model(Policy, work.policies / f"{policy}.yaml"),
            mounts=mounts,
            workdir=ARTIFACTS,
            environment={"OMP_NUM_THREADS": str(resources.cpus)},
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


def merged_report(reports: list[SandboxReport]) -> SandboxReport | None:
    """One report of all sandboxes of a run; where they differ, each mechanism is named."""
    if not reports:
        return None
    enforced: dict[str, list[str]] = {}
    weaker: dict[str, str] = {}
    for report in reports:
        weaker |= report.weaker
        for limit, how in report.enforced.items():
            known = enforced.setdefault(limit, [])
            if how not in known:
                known.append(how)
    joined = {limit: " | ".join(hows) for limit, hows in enforced.items()}
    return SandboxReport(engine=reports[0].engine, version=reports[0].version, enforced=joined, weaker=weaker)
