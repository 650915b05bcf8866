"""Execution without a model: steps in topological order, side by side up to the claim's cores.

A model is asked only after a failure, in a fresh diagnosis, and only for one of four decisions. What it answers is
applied by this program, at most `step_attempts` times a step, and every decision is written down.
"""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import PurePosixPath

from matproof.agents.base import Work
from matproof.agents.orchestrated.plan import Plan, PlannedStep
from matproof.agents.orchestrated.record import Ledger
from matproof.agents.orchestrated.sessions import ARTIFACTS, DIAGNOSE, STEPS, Diagnosis, Sessions
from matproof.core.clock import elapsed
from matproof.execution.conversation import loss
from matproof.execution.step import StepCommand, StepResult, run_step
from matproof.models.prompts import load_prompt
from matproof.records.run import Step, StepAttempt


class Execution:
    """Runs one plan. `aborted` and `out_of_time` say why it ended early."""

    def __init__(self, work: Work, sessions: Sessions, ledger: Ledger, *, deadline: float) -> None:
        self._work = work
        self._sessions = sessions
        self._ledger = ledger
        self._deadline = deadline
        self._cancel = threading.Event()
        self.aborted: str | None = None
        self.out_of_time = False

    def run(self, plan: Plan) -> None:
        """Run every step that can run; each ends in the ledger with a status and, where it did not run, a reason."""
        graph = plan.graph()
        graph.prepare()
        steps = {step.id: step for step in plan.steps}
        cores = max(1, self._work.claim.metadata.resources.cpus)
        free, waiting = cores, []
        running: dict[Future[Step], PlannedStep] = {}
        status: dict[str, str] = {}
        with ThreadPoolExecutor(max_workers=cores) as pool:
            while graph.is_active():
                waiting += [steps[name] for name in graph.get_ready()]
                for step in list(waiting):
                    if (reason := self._hindrance(step, status)) is not None:
                        self._finish(_not_run(step, *reason), status)
                        graph.done(step.id)
                    elif min(step.cpus, cores) <= free:
                        free -= min(step.cpus, cores)
                        running[pool.submit(self._attempts, step)] = step
                    else:
                        continue
                    waiting.remove(step)
                if not running:
                    continue
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    step = running.pop(future)
                    free += min(step.cpus, cores)
                    try:
                        self._finish(future.result(), status)
                    except BaseException:
                        self._cancel.set()
                        raise
                    graph.done(step.id)

    def _hindrance(self, step: PlannedStep, status: dict[str, str]) -> tuple[str, str] | None:
        """Why `step` is not run, as (status, reason)."""
        if self.aborted is not None:
            return "aborted", self.aborted
        if self.out_of_time or elapsed() >= self._deadline:
            self.out_of_time = True
            return "stopped", "the walltime was over before it could start"
        for name in step.depends_on:
            if status[name] != "succeeded":
                return "skipped", f"depends on {name}, which was {status[name]}"
        return None

    def _finish(self, step: Step, status: dict[str, str]) -> None:
        status[step.id] = step.status
        self._ledger.step(step)
        note = f": {step.reason}" if step.reason else ""
        self._work.trace.write("execute", "step", f"{step.id} {step.status}{note}", data={"step": step.id})
        self._work.tell(f"step {step.id}: {step.status}{note}")

    def _attempts(self, planned: PlannedStep) -> Step:
        command = StepCommand(
            id=planned.id,
            command=planned.command,
            workdir=planned.workdir,
            timeout_s=planned.timeout_s,
            outputs=tuple(planned.outputs),
        )
        tried: list[StepAttempt] = []
        limit = self._work.setting.step_attempts
        for number in range(1, limit + 1):
            left = self._deadline - elapsed()
            if left <= 0:
                self.out_of_time = True
                return _step(planned, "stopped", tried, "the walltime was over")
            result = run_step(
                _cut_to(command, left),
                number=number,
                sandbox=self._sessions.step_sandbox(min(planned.cpus, self._work.claim.metadata.resources.cpus)),
                artifacts=self._work.place.artifacts,
                logs=self._work.place.steps,
                cancel=self._cancel,
            )
            if result.succeeded:
                return _step(planned, "succeeded", [*tried, result.attempt])
            if result.attempt.ending == "timeout" and left < command.timeout_s:
                self.out_of_time = True
                return _step(planned, "stopped", [*tried, result.attempt], "stopped at the walltime of the run")
            if result.attempt.ending == "cancelled":
                return _step(planned, "stopped", [*tried, result.attempt], "cancelled")
            if number == limit:
                return _step(planned, "failed", [*tried, result.attempt], f"{result.failure}, in {limit} attempts")
            diagnosis = self._diagnose(planned, command, result, number)
            tried.append(result.attempt.model_copy(update={"diagnosis": diagnosis.decision}))
            if diagnosis.decision == "skip":
                return _step(planned, "skipped", tried, diagnosis.explanation)
            if diagnosis.decision == "abort":
                self.aborted = f"{planned.id}: {diagnosis.explanation}"
                return _step(planned, "aborted", tried, diagnosis.explanation)
            command = _changed(command, diagnosis)
        raise AssertionError("unreachable: the last attempt returns")

    def _diagnose(self, planned: PlannedStep, command: StepCommand, result: StepResult, number: int) -> Diagnosis:
        """Ask why the step failed. A diagnosis that can't be had is a skip, decided by program and recorded so.

        Raises InfrastructureError where the provider failed it.
        """
        prompt = load_prompt("matproof.agents.orchestrated", "diagnose").render(
            step=planned,
            attempt=number,
            attempts=self._work.setting.step_attempts,
            command=command.command,
            workdir=command.workdir,
            failure=result.failure,
            stderr=result.stderr[-4000:] or "(nothing)",
            stdout=result.stdout or "(nothing)",
            others=[f"{step.id}: {step.status}" for step in self._ledger.steps],
            artifacts=ARTIFACTS,
            steps=STEPS,
        )
        held, _ = self._sessions.converse(DIAGNOSE, prompt, Diagnosis, deadline=self._deadline)
        lost = loss("diagnose", held, self._work.gateway, wanted=True)
        answer = held.answered.answer
        by = "diagnose"
        if isinstance(answer, Diagnosis) and _stays_inside(answer.workdir):
            diagnosis = answer
        else:
            by = "program"
            why = lost.reason if lost is not None else "it named a directory outside the artifacts"
            diagnosis = Diagnosis(decision="skip", explanation=f"no usable diagnosis ({why})")
        self._ledger.decide(
            by,
            diagnosis.decision,
            diagnosis.explanation,
            step=planned.id,
            attempt=number,
            command=diagnosis.command,
            workdir=diagnosis.workdir,
        )
        self._work.trace.write(
            "execute", "diagnosis", diagnosis.explanation, data={"step": planned.id, "decision": diagnosis.decision}
        )
        return diagnosis


def _cut_to(command: StepCommand, seconds: float) -> StepCommand:
    return replace(command, timeout_s=min(command.timeout_s, seconds))


def _changed(command: StepCommand, diagnosis: Diagnosis) -> StepCommand:
    if diagnosis.decision != "retry_changed":
        return command
    return replace(command, command=diagnosis.command or command.command, workdir=diagnosis.workdir or command.workdir)


def _stays_inside(workdir: str | None) -> bool:
    path = PurePosixPath(workdir or ".")
    return not path.is_absolute() and ".." not in path.parts


def _step(planned: PlannedStep, status: str, attempts: list[StepAttempt], reason: str | None = None) -> Step:
    return Step.model_validate(
        {
            "id": planned.id,
            "purpose": planned.purpose,
            "proves": planned.proves,
            "depends_on": planned.depends_on,
            "status": status,
            "reason": reason,
            "attempts": attempts,
        }
    )


def _not_run(step: PlannedStep, status: str, reason: str) -> Step:
    return _step(step, status, [], reason)
