"""`run.json`: what came of one attempt at one claim. Finished, valid and reproduced are three fields."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from matproof.records.base import Record, Usage

RunOutcome = Literal["completed", "agent_error", "budget", "walltime", "infrastructure"]
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
    return SandboxReport(engine=found[0].engine, version=found[0].version, enforced=joined, weaker=weaker)


class StepAttempt(BaseModel):
    """One execution of one step. Logs are paths below the attempt directory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    command: str
    workdir: str
    started: str
    seconds: float
    returncode: int
    ending: Literal["exited", "timeout", "cancelled"]
    stdout_log: str
    stderr_log: str
    new_outputs: list[str] = []
    """Expected outputs that exist after it and did not before, or changed."""
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
    sandbox: SandboxReport | None = None
    versions: dict[str, str] = {}
    """Program or prompt → version or content hash."""
    payload_sha256: str | None = None
    """Hash of the manifest of what the agent was given."""
    host: str = ""
    job: str | None = Field(default=None)
    """Batch job id, where there is one."""
