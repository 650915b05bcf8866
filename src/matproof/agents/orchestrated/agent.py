"""The orchestrated agent: four phases, each of which leaves a record, and one outcome.

Source: AutoMat, appendix B.4 (plan, environment preparation, deterministic execution with failure diagnosis,
extraction with self-assessment). The walltime is an outcome, not an accident: execution stops early enough that the
extraction can still say what was found.
"""

import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

import claude_agent_sdk  # noqa: F401 - whole before the first session, whatever signal comes then
from pydantic import BaseModel

from matproof.agents.base import AgentReport, Work
from matproof.agents.cli_client import check_version
from matproof.agents.inside import ARTIFACTS, PAYLOAD
from matproof.agents.orchestrated.execute import Execution
from matproof.agents.orchestrated.plan import Bounds, Plan, bounded
from matproof.agents.orchestrated.record import Ledger
from matproof.agents.orchestrated.sessions import (
    EXTRACT,
    PLAN,
    SETUP,
    STEPS,
    SessionKind,
    Sessions,
)
from matproof.agents.parse_pdf import ParsedAside
from matproof.agents.prompting import shared_versions, task_prompt
from matproof.core.clock import elapsed, timestamp
from matproof.core.files import give_back, to_json, write_json
from matproof.execution.conversation import loss
from matproof.execution.steps import LocalSteps, Needs, StepExecutor
from matproof.models.prompts import load_prompt
from matproof.models.session import Said, Tool, client_version
from matproof.papers import tool as parsing
from matproof.records.analysis import AnalysisResult
from matproof.records.run import Phase, PhaseName, RunOutcome, merged_report

T = TypeVar("T")
_PROMPTS = ("plan", "setup", "diagnose", "extract")


class _Stop(Exception):  # noqa: N818 - control flow, caught in `report` only
    """A phase ended the run."""

    def __init__(self, outcome: RunOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome: RunOutcome = outcome
        self.reason = reason


class Orchestrated:
    """See the module."""

    name = "orchestrated"
    has_steps = True

    def run(self, work: Work) -> AgentReport:
        """Plan, set up, execute, extract. Raises InfrastructureError and RefusedError."""
        check_version(self.name, client_version(), work.setting.client_version)
        return _Run(work).report()


class _Run:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._sessions = Sessions(work)
        self._ledger = Ledger(work.place.orchestration)
        self._aside = ParsedAside(
            lambda: self._sessions.step_spec(Needs(cpus=1, memory_gb=1, gpus=0)),
            allow_weaker=work.allow_weaker,
            deadline=work.deadline,
        )
        self._phases: list[Phase] = []
        self._task = task_prompt(work)

    def report(self) -> AgentReport:
        outcome: RunOutcome = "completed"
        reason: str | None = None
        try:
            plan = self._phase("plan", self._plan)
            self._phase("setup", lambda: self._setup(plan))
            late = self._phase("execute", lambda: self._execute(plan))
            self._phase("extract", self._extract)
            if late:
                outcome, reason = "walltime", late
        except _Stop as stop:
            outcome, reason = stop.outcome, stop.reason
        finally:
            self._aside.close()
        return AgentReport(
            outcome=outcome,
            reason=reason,
            phases=tuple(self._phases),
            steps=tuple(self._ledger.steps),
            sandbox=merged_report(self._sessions.reports),
            versions={f"client.{Orchestrated.name}": client_version(), **prompt_versions()},
        )

    def _phase(self, name: PhaseName, action: Callable[[], T]) -> T:
        """Do `action` as phase `name` and keep its times, however it ends."""
        self._work.tell(f"{name} …")
        self._work.trace.write(name, "phase", "begins")
        started, began = timestamp(), elapsed()
        status: Literal["done", "failed", "stopped"] = "failed"
        detail: str | None = None
        try:
            result = action()
            status = "done"
        except _Stop as stop:
            status = "failed" if stop.outcome == "agent_error" else "stopped"
            detail = stop.reason
            raise
        finally:
            seconds = round(elapsed() - began, 3)
            self._phases.append(Phase(name=name, started=started, seconds=seconds, status=status, detail=detail))
            self._work.trace.write(name, "phase", f"ends: {status}", data={"seconds": seconds})
        return result

    def _plan(self) -> Plan:
        resources = self._work.claim.metadata.resources
        steps = self._work.setting.steps
        bounds = Bounds(
            cpus=resources.cpus,
            memory_gb=resources.memory_gb,
            gpus=resources.gpus,
            timeout_s=None if steps.walltime_h is None else steps.walltime_h * 3600,
        )
        prompt = load_prompt("matproof.agents.orchestrated", "plan").render(
            task=self._task, minutes=round(self._work.seconds_left / 60), bounds=bounds, elsewhere=steps.elsewhere
        )
        plan = self._converse(PLAN, prompt, bounded(bounds), (self._paper_tool(),))
        if not isinstance(plan, Plan):
            raise _Stop("agent_error", "there was no plan")
        self._ledger.plan(plan)
        return plan

    def _setup(self, plan: Plan) -> None:
        prompt = load_prompt("matproof.agents.orchestrated", "setup").render(
            task=self._task, plan=to_json(plan), payload=PAYLOAD, artifacts=ARTIFACTS
        )
        self._converse(SETUP, prompt, None, (self._paper_tool(),))

    def _execute(self, plan: Plan) -> str | None:
        """Run the steps; returns why they were cut short, where the walltime did."""
        deadline = self._work.deadline - self._work.reserve_s
        with contextlib.closing(_steps(self._work)) as steps:
            execution = Execution(self._work, self._sessions, self._ledger, steps, deadline=deadline)
            execution.run(plan)
        return "the walltime ended the execution of the plan" if execution.out_of_time else None

    def _extract(self) -> None:
        outcomes = [
            f"{step.id}: {step.status}" + (f" ({step.reason})" if step.reason else "") for step in self._ledger.steps
        ]
        prompt = load_prompt("matproof.agents.orchestrated", "extract").render(
            task=self._task, artifacts=ARTIFACTS, steps=STEPS, outcomes=outcomes
        )
        result = self._converse(EXTRACT, prompt, AnalysisResult)
        if result is not None:
            _clear(self._work.place.analysis_result)
            write_json(self._work.place.analysis_result, result)

    def _converse(
        self, kind: SessionKind, prompt: str, answer: type[BaseModel] | None, tools: tuple[Tool, ...] = ()
    ) -> BaseModel | None:
        work = self._work
        reserve = 0.0 if kind is EXTRACT else work.reserve_s
        held, last = self._sessions.converse(kind, prompt, answer, deadline=work.deadline - reserve, tools=tools)
        for why in held.answered.refused:
            self._ledger.decide("program", f"{kind.name} answer refused", why)
        lost = loss(kind.name, held, work.gateway, wanted=answer is not None)
        if lost is not None:
            raise _Stop(lost.kind, lost.reason)
        if kind is SETUP:
            self._ledger.prepared(last)
        return held.answered.answer

    def _paper_tool(self) -> Tool:
        payload = self._work.place.payload
        return Tool(
            name=parsing.NAME,
            description=parsing.DESCRIPTION,
            parameters=parsing.PARAMETERS,
            answer=lambda arguments: Said(
                parsing.parse_pdf_tool(
                    str(arguments.get("path", "")),
                    payload,
                    payload / parsing.PAPER,
                    pages=str(arguments["pages"]) if arguments.get("pages") else None,
                    other=self._aside,
                )
            ),
        )


def _steps(work: Work) -> StepExecutor:
    """Where the steps run, as the setting says."""
    if not work.setting.steps.elsewhere:
        return LocalSteps(work.place, allow_weaker=work.allow_weaker)
    from matproof.execution.slurm_steps import SlurmSteps

    return SlurmSteps(
        work.setting.steps,
        work.place,
        constraint=work.claim.metadata.resources.constraint,
        allow_weaker=work.allow_weaker,
        tell=work.tell,
    )


def _clear(path: Path) -> None:
    """Make the place of the result writable and free of a directory; the atomic write replaces all else."""
    give_back(path.parent)
    if path.is_dir() and not path.is_symlink():
        names = (f"{path.name}.directory{number or ''}" for number in itertools.count())
        path.rename(next(free for name in names if not os.path.lexists(free := path.with_name(name))))


def prompt_versions() -> dict[str, str]:
    """Version and hash of every prompt."""
    own = {f"prompt.{name}": load_prompt("matproof.agents.orchestrated", name).stamp for name in _PROMPTS}
    return shared_versions() | own
