"""The `reproduce` station: one attempt of one agent at one claim, in a directory of its own.

The runner (Snakemake) owns retries; this worker runs once. Every end that can be described is a result with a
`run.json`. Only an infrastructure failure raises, after the attempt's own `run.json` has said so, and then the run's
`run.json` is not written: an earlier complete attempt stays the newest complete one.
"""

import contextlib
import os
import platform
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pydantic import ValidationError

from matproof import __version__
from matproof.agents.base import Agent, AgentReport, Work
from matproof.agents.lease import exclusive
from matproof.agents.orchestrated.agent import Orchestrated
from matproof.claims.loading import Claim, load_claim
from matproof.claims.payload import copy_payload
from matproof.config.models import ModelTable
from matproof.config.settings import Setting
from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import InfrastructureError, UnsafePathError
from matproof.core.files import read_model, read_within, write_json
from matproof.models.gateway import Gateway
from matproof.models.opening import open_backend
from matproof.models.session import client_version
from matproof.records.analysis import AnalysisResult
from matproof.records.places import AttemptPlace, RunPlace
from matproof.records.run import RunOutcome, RunRecord
from matproof.traces.events import TraceWriter

_PACKAGES = ("claude-agent-sdk", "numpy", "pandas", "scikit-learn", "scipy")
AGENTS: dict[str, type[Agent]] = {"orchestrated": Orchestrated}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What to run and where. The run's directory is `<results>/runs/<claim>/<setting>/<repeat>`."""

    task: Path
    """The claim's own directory."""
    manifest: Path
    """What `package` made of it for the agent."""
    setting_file: Path
    run: RunPlace
    models_file: Path
    project: Path
    """Where relative paths of settings start."""
    allow_weaker: bool = False
    walltime_min: float | None = None
    """Limit of the batch job, in minutes."""


def reproduce(assignment: Assignment, tell: Callable[[str], None]) -> RunRecord:
    """Run one attempt. Raises InfrastructureError, RefusedError, BusyError, InputError."""
    setting = read_model(Setting, assignment.setting_file)
    table = read_model(ModelTable, assignment.models_file)
    claim = load_claim(assignment.task)
    with exclusive(assignment.run.owner):
        place = _new_attempt(assignment.run)
        record = _attempt(assignment, setting, table, claim, place, tell)
        write_json(place.run_json, record)
        if record.outcome == "infrastructure":
            raise InfrastructureError(record.reason or "unknown")
        write_json(assignment.run.run_json, record)
    return record


def _new_attempt(run: RunPlace) -> AttemptPlace:
    """The next attempt's directory, made by this call alone."""
    run.attempts.mkdir(parents=True, exist_ok=True)
    taken = [int(path.name) for path in run.attempts.iterdir() if path.name.isdigit()]
    place = run.attempt(max(taken, default=0) + 1)
    place.root.mkdir()
    place.artifacts.mkdir()
    return place


def _attempt(
    assignment: Assignment,
    setting: Setting,
    table: ModelTable,
    claim: Claim,
    place: AttemptPlace,
    tell: Callable[[str], None],
) -> RunRecord:
    started, began = timestamp(), elapsed()
    walltime_s = _walltime(setting, claim, assignment.walltime_min)
    payload_hash = copy_payload(assignment.manifest, place.payload)
    trace = TraceWriter(place.trace)
    backend = open_backend(setting, table, claim_dir=assignment.task, root=assignment.project)
    with tempfile.TemporaryDirectory(prefix="matproof-") as short:
        socket_path = Path(short) / "gateway.sock"
        with Gateway(
            socket=socket_path, exchanges=place.exchanges, backend=backend, limits=setting.limits, table=table
        ) as gateway:
            work = Work(
                claim=claim,
                setting=setting,
                place=place,
                gateway=gateway,
                socket=socket_path,
                trace=trace,
                deadline=began + walltime_s,
                walltime_s=walltime_s,
                policies=assignment.project / "sandbox",
                allow_weaker=assignment.allow_weaker or setting.allow_weaker,
                tell=tell,
            )
            report = _guarded(AGENTS[setting.agent](), work)
    usage = gateway.usage()
    trace.close()
    valid, reproduced, why = read_analysis(place.artifacts)
    outcome, reason = report.outcome, report.reason
    if outcome == "completed" and not valid:
        outcome, reason = "agent_error", why
    return RunRecord(
        claim=claim.name,
        claim_id=claim.metadata.id,
        setting=assignment.setting_file.stem,
        repeat=int(assignment.run.root.name),
        attempt=int(place.root.name),
        agent=setting.agent,
        model=setting.model,
        scripted=setting.scripted,
        outcome=outcome,
        reason=reason,
        valid=valid,
        self_reproduced=reproduced,
        started=started,
        ended=timestamp(),
        seconds=round(elapsed() - began, 3),
        phases=list(report.phases),
        steps=list(report.steps),
        usage=usage,
        sandbox=report.sandbox,
        versions={"matproof": __version__, "claude_client": client_version(), **_system(), **report.versions},
        payload_sha256=payload_hash,
        host=socket.gethostname(),
        job=os.environ.get("SLURM_JOB_ID"),
    )


def _guarded(agent: Agent, work: Work) -> AgentReport:
    """Run the agent; an infrastructure failure becomes a report, so that the attempt can say so itself."""
    try:
        return agent.run(work)
    except InfrastructureError as error:
        work.trace.write("run", "error", str(error))
        outcome: RunOutcome = "infrastructure"
        return AgentReport(outcome=outcome, reason=str(error), phases=())


def _walltime(setting: Setting, claim: Claim, job_min: float | None) -> float:
    """Seconds of the run: the shortest of the claim's, the setting's and, less a margin, the batch job's limit."""
    limits = [claim.metadata.resources.walltime_h * 3600]
    if setting.limits.walltime_h is not None:
        limits.append(setting.limits.walltime_h * 3600)
    if job_min is not None:
        limits.append(job_min * 60 - min(120.0, 0.1 * job_min * 60))
    return min(limits)


def read_analysis(artifacts: Path) -> tuple[bool, bool | None, str | None]:
    """Whether `analysis_result.json` is valid, the agent's own judgement, and why not where it is not."""
    try:
        data = read_within(artifacts, "analysis_result.json", limit=5_000_000)
        result = AnalysisResult.model_validate_json(data)
    except FileNotFoundError:
        return False, None, "there is no analysis_result.json"
    except (UnsafePathError, ValidationError) as error:
        return False, None, f"analysis_result.json is not usable: {str(error).splitlines()[0]}"
    return True, result.reproduced, None


def _system() -> dict[str, str]:
    """Versions of what the run stood on; a package that is not installed is left out."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
