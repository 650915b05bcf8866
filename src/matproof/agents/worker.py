"""The `reproduce` station: one attempt of one agent at one claim, in a directory of its own.

The runner (Snakemake) owns retries; this worker runs once. Every end that can be described is a result with a
`run.json`. Only an infrastructure failure, a refusal and a signal raise, after the attempt's own `run.json` has said
so (outcome `infrastructure`), and then the run's `run.json` stays that of the newest complete attempt; so does the
campaign's budget, used up in mid-run (`unfunded`). Wrong files of people's, and a budget that is used up already, are
found before there is an attempt.
"""

import contextlib
import os
import socket
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from matproof import __version__
from matproof.agents.attempts import attempt_numbers, new_attempt, restore
from matproof.agents.base import Agent, AgentReport, Work
from matproof.agents.lease import exclusive
from matproof.agents.registry import agent_of
from matproof.agents.versions import system_versions
from matproof.claims.loading import Claim, load_claim
from matproof.claims.payload import copy_payload
from matproof.config.budget import CampaignBudget, tighter
from matproof.config.models import ModelTable
from matproof.config.settings import Setting
from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import (
    BudgetReachedError,
    BusyError,
    CancelledError,
    InfrastructureError,
    MatproofError,
    RefusedError,
)
from matproof.core.files import give_back, read_model, sha256_of, write_json
from matproof.core.hashes import file_hashes
from matproof.execution.ending import EndedBySignal, Ending, ended_by_signal
from matproof.execution.slurm_steps import end_jobs
from matproof.models.base import Backend
from matproof.models.funds import Funds
from matproof.models.gateway import Gateway
from matproof.models.opening import open_backend
from matproof.records.analysis import read_analysis
from matproof.records.base import Usage
from matproof.records.cancelling import wished
from matproof.records.inventory import take
from matproof.records.places import AttemptPlace, RunPlace
from matproof.records.run import RunRecord
from matproof.sandbox.choosing import chosen_engine
from matproof.sandbox.spec import Engine
from matproof.traces.events import TraceWriter


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
    budget: CampaignBudget = field(default_factory=CampaignBudget)
    """What the campaign may spend."""
    project: Path
    """Where relative paths of settings start."""
    allow_weaker: bool = False
    walltime_min: float | None = None
    """Limit of the batch job, in minutes."""


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What is known of an attempt so far, for the record of one that did not get to its end."""

    engine: Engine
    payload_sha256: str | None = None
    usage: Usage = field(default_factory=Usage)
    drift: int | None = None
    raised: MatproofError | None = None


def reproduce(assignment: Assignment, tell: Callable[[str], None]) -> RunRecord:
    """Run one attempt. Raises InfrastructureError, RefusedError, BudgetReachedError, BusyError, InputError.

    Before any of them but BusyError, the run's `run.json` is written again from the newest complete attempt where there
    is one: Snakemake removes it before a job, and a lost attempt must not hide an earlier complete one.
    """
    left: list[AttemptPlace] = []
    try:
        setting = read_model(Setting, assignment.setting_file)
        # A signal in the middle of what an agent imports would leave half of it behind, and no record could be made.
        agent = agent_of(setting, assignment.setting_file)
        with ended_by_signal() as ending:
            return _reproduce(assignment, setting, agent, tell, ending, left)
    except BusyError:
        raise
    except EndedBySignal as error:
        restore(assignment.run)
        raise InfrastructureError(str(error)) from error
    except Exception:
        restore(assignment.run)
        raise
    finally:
        # Only here: as long as signals are dealt with, no program is started.
        for place in left:
            end_jobs(place)


def _reproduce(
    assignment: Assignment,
    setting: Setting,
    agent: Agent,
    tell: Callable[[str], None],
    ending: Ending,
    left: list[AttemptPlace],
) -> RunRecord:
    setting = setting.model_copy(update={"limits": tighter(setting.limits, assignment.budget.run)})
    table = read_model(ModelTable, assignment.models_file)
    claim = load_claim(assignment.task)
    funds = Funds(
        assignment.run.results,
        assignment.budget,
        setting=assignment.setting_file.stem,
        scripted=setting.scripted,
        gpus=claim.metadata.resources.gpus,
    )
    funds.check(setting, table)
    backend = open_backend(setting, table, claim_dir=assignment.task, root=assignment.project)
    engine = chosen_engine(
        setting.sandbox,
        config=assignment.models_file.parent,
        project=assignment.project,
        subdomain=claim.metadata.subdomain,
        gpus=claim.metadata.resources.gpus,
    )
    with exclusive(assignment.run.owner):
        for former in attempt_numbers(assignment.run):
            end_jobs(assignment.run.attempt(former))  # of a process that was killed
        place = new_attempt(assignment.run)
        left.append(place)
        seen = _Seen(engine=engine)
        record = _attempt(assignment, setting, agent, table, claim, backend, funds, place, seen, ending, tell)
        try:
            if record.complete:
                write_json(place.inventory, take(place, record.ended))
                record = record.model_copy(update={"inventory_sha256": sha256_of(place.inventory)})
            write_json(place.run_json, record)
            if record.complete:
                write_json(assignment.run.run_json, record)
        except OSError as error:
            because = f"; the attempt was {record.outcome}: {record.reason}" if record.reason else ""
            raise InfrastructureError(f"the result could not be written: {error}{because}") from error
        if seen.raised is not None:
            raise seen.raised
        if record.outcome == "cancelled":
            raise CancelledError(f"{assignment.run.root}: {record.reason}")
        if record.outcome == "unfunded":
            raise BudgetReachedError(f"cut, and not counted: {record.reason}")
        if record.outcome == "infrastructure":
            raise InfrastructureError(record.reason or "unknown")
    return record


def _attempt(
    assignment: Assignment,
    setting: Setting,
    agent: Agent,
    table: ModelTable,
    claim: Claim,
    backend: Backend,
    funds: Funds,
    place: AttemptPlace,
    seen: _Seen,
    ending: Ending,
    tell: Callable[[str], None],
) -> RunRecord:
    started, began = timestamp(), elapsed()
    model = table.models.get(setting.model)
    files = file_hashes(
        setting=assignment.setting_file, models=assignment.models_file, policies=assignment.project / "sandbox"
    )

    def work() -> AgentReport:
        walltime_s = _walltime(setting, claim, assignment.walltime_min)
        seen.payload_sha256 = copy_payload(assignment.manifest, place.payload)
        with (
            tempfile.TemporaryDirectory(prefix="matproof-") as short,
            contextlib.closing(TraceWriter(place.trace)) as trace,
            funds.account(
                claim=claim.name,
                repeat=int(assignment.run.root.name),
                attempt=int(place.root.name),
                stop=ending.stop,
            ),
            Gateway(
                socket=Path(short) / "gateway.sock",
                exchanges=place.exchanges,
                backend=backend,
                limits=setting.limits,
                table=table,
                funds=funds,
            ) as gateway,
        ):
            try:
                return agent.run(
                    Work(
                        claim=claim,
                        setting=setting,
                        place=place,
                        gateway=gateway,
                        socket=Path(short) / "gateway.sock",
                        trace=trace,
                        deadline=began + walltime_s,
                        walltime_s=walltime_s,
                        policies=assignment.project / "sandbox",
                        allow_weaker=assignment.allow_weaker or setting.allow_weaker,
                        tell=tell,
                        engine=seen.engine,
                        context_window=None if model is None else model.context_window,
                    )
                )
            finally:
                seen.usage, seen.drift = gateway.usage(), gateway.drift

    report = _guarded(work, place, seen, ending)
    analysis, why = read_analysis(place.artifacts)
    outcome, reason = report.outcome, report.reason
    if outcome == "completed" and analysis is None:
        outcome, reason = "agent_error", why
    if funds.cut is not None and outcome != "completed":
        # What others spent ended it, which says nothing of the agent.
        outcome, reason = "unfunded", funds.cut
    if ending.reason is not None and (who := wished(assignment.run, int(place.root.name))) is not None:
        outcome, reason = "cancelled", who
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
        valid=analysis is not None,
        self_reproduced=None if analysis is None else analysis.reproduced,
        started=started,
        ended=timestamp(),
        seconds=round(elapsed() - began, 3),
        phases=list(report.phases),
        steps=list(report.steps),
        usage=seen.usage,
        drift=seen.drift,
        sandbox=report.sandbox,
        versions={
            "matproof": __version__,
            **system_versions(),
            **files,
            **report.versions,
        },
        trace_disagreements=None if report.trace_disagreements is None else list(report.trace_disagreements),
        payload_sha256=seen.payload_sha256,
        host=socket.gethostname(),
        job=os.environ.get("SLURM_JOB_ID"),
    )


def _guarded(work: Callable[[], AgentReport], place: AttemptPlace, seen: _Seen, ending: Ending) -> AgentReport:
    """Do the work; whatever it raises becomes a report, so that the attempt can say so itself.

    An exception that nothing foresaw is a fault of ours or of the node, so it is not held against the agent; what an
    agent can provoke is dealt with where it happens, or it could buy itself another attempt.
    """
    try:
        report = work()
    except BaseException as error:
        ending.disarm()
        if ending.reason is None and not isinstance(error, Exception):
            raise
        if isinstance(error, RefusedError):
            seen.raised = error
        known = isinstance(error, MatproofError) or ending.reason is not None
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        report = AgentReport(outcome="infrastructure", reason=reason[:2000], phases=())
        _tell_trace(place, reason if known else traceback.format_exc())
    ending.disarm()
    if ending.reason is not None:
        rest = "" if ending.wait_until_alone() else "; what it had started is perhaps still alive"
        report = replace(report, outcome="infrastructure", reason=ending.reason + rest)
    give_back(place.artifacts)
    return report


def _tell_trace(place: AttemptPlace, text: str) -> None:
    """The error among the events of the run, where they can still be written; the record has the reason anyway."""
    with contextlib.suppress(OSError), contextlib.closing(TraceWriter(place.trace)) as trace:
        trace.write("run", "error", text)


def _walltime(setting: Setting, claim: Claim, job_min: float | None) -> float:
    """Seconds of the run: the shortest of the claim's, the setting's and, less a margin, the batch job's limit."""
    limits = [claim.metadata.resources.walltime_h * 3600]
    if setting.limits.walltime_h is not None:
        limits.append(setting.limits.walltime_h * 3600)
    if setting.limits.gpu_h is not None and (gpus := claim.metadata.resources.gpus):
        limits.append(setting.limits.gpu_h * 3600 / gpus)
    if job_min is not None:
        limits.append(job_min * 60 - min(120.0, 0.1 * job_min * 60))
    return min(limits)
