"""`run.json`: what came of one attempt at one claim. Finished, valid and reproduced are three fields."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from matproof.records.base import Record, Usage

RunOutcome = Literal["completed", "agent_error", "budget", "walltime", "infrastructure", "unfunded", "cancelled"]
LOST = ("infrastructure", "unfunded", "cancelled")
"""Outcomes that say nothing of the agent, so that the attempt does not count and the run is done again."""
PhaseName = Literal["plan", "setup", "execute", "extract", "session"]


class Phase(BaseModel):
    """One phase of a run with its times."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: PhaseName
    started: str
    """ISO 8601, UTC."""
    seconds: float
    status: Literal["done", "failed", "stopped"]
    """`stopped` by a limit; `failed` by the agent."""
    detail: str | None = None
    """Why it failed or was stopped."""


class SandboxReport(BaseModel):
    """Which engine held the run and what it really enforced."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str
    version: str | None = None
    image: str | None = None
    """Name of the image's file or directory, for an engine that has one."""
    image_digest: str | None = None
    """`sha256:…` of the image file, or of the manifest of an image directory."""
    enforced: dict[str, str] = {}
    """Limit or isolation → the mechanism that enforced it, such as `memory: RLIMIT_DATA per process`."""
    weaker: dict[str, str] = {}
    """What the policy asked and the engine did not enforce, allowed by `--allow-weaker` → why not."""


def merged_report(reports: Iterable[SandboxReport]) -> SandboxReport | None:
    """One report of several sandboxes; where they differ, each mechanism is named."""
    found = list(reports)
    if not found:
        return None
    enforced: dict[str, list[str]] = {}
    weaker: dict[str, str] = {}
    for report in found:
        weaker |= report.weaker
        for limit, how in report.enforced.items():
            known = enforced.setdefault(limit, [])
            if how not in known:
                known.append(how)
    joined = {limit: " | ".join(hows) for limit, hows in enforced.items()}
    return found[0].model_copy(update={"enforced": joined, "weaker": weaker})


StepEnding = Literal["exited", "timeout", "cancelled", "memory", "node", "preempted"]
"""`memory`: killed for want of it; `node`: its node failed; `preempted`: another job took its place."""


class StepAttempt(BaseModel):
    """One execution of one step. Logs are paths below the attempt directory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    command: str
    workdir: str
    started: str
    seconds: float
    returncode: int | None
    """Exit status; null where nobody could see it, as of a step whose node failed."""
    ending: StepEnding
    reason: str | None = None
    """More about the ending, where more is known."""
    job: str | None = None
    """Slurm job of this try, where it had one of its own."""
    host: str | None = None
    """Node of that job; null where it never began."""
    stdout_log: str
    stderr_log: str
    new_outputs: list[str] = []
    """Files below the artifacts that appeared or changed while it ran, expected ones first; at most 200 names."""
    new_outputs_total: int | None = None
    """How many those are; null where there were too many files to compare, or the step's job was lost."""
    missing_outputs: list[str] = []
    """Expected outputs that do not exist after it."""
    diagnosis: str | None = None
    """Decision of the diagnosis that followed a failure."""


class Step(BaseModel):
    """One step of the plan and what came of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    purpose: str
    proves: str
    depends_on: list[str]
    status: Literal["succeeded", "failed", "skipped", "aborted", "stopped"]
    reason: str | None = None
    """Why it was skipped, aborted or stopped."""
    attempts: list[StepAttempt] = []


class RunRecord(Record):
    """`run.json`. The same file stands in the attempt's own directory and, once complete, in the run's."""

    claim: str
    """Name of the claim's directory."""
    claim_id: str
    setting: str
    repeat: int
    attempt: int
    agent: str
    """Name of the agent implementation."""
    model: str
    scripted: bool
    """Whether a script answered in place of a model."""
    outcome: RunOutcome
    """How the run ended (finished)."""
    reason: str | None = None
    """Why, where the outcome is not `completed`."""
    valid: bool
    """Whether `artifacts/analysis_result.json` exists and has the right shape."""
    self_reproduced: bool | None = None
    """The agent's own judgement; null where there is none."""
    started: str
    ended: str
    seconds: float
    phases: list[Phase] = []
    steps: list[Step] = []
    usage: Usage = Usage()
    drift: int | None = None
    """In how many ways it differed from the recording that it replays, told in exchanges.jsonl; null: none was."""
    sandbox: SandboxReport | None = None
    versions: dict[str, str] = {}
    """Program or prompt → version or content hash."""
    trace_disagreements: list[str] | None = None
    """Where the client's own account of its session differs from what the gateway saw, a sentence each; null where
    there was no such account to compare."""
    payload_sha256: str | None = None
    """Hash of the manifest of what the agent was given."""
    inventory_sha256: str | None = None
    """Hash of `inventory.json`; null where none was taken."""
    host: str = ""
    job: str | None = Field(default=None)
    """Batch job id, where there is one."""

    @property
    def complete(self) -> bool:
        """Whether the attempt counts."""
        return self.outcome not in LOST
