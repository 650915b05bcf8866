"""Execution without a model: steps in topological order, side by side up to the claim's cores.

A model is asked only after a failure, in a fresh diagnosis, and only for one of four decisions. What it answers is
applied by this program, at most `step_attempts` times a step, and every decision is written down.
"""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

from matproof.agents.base import Work
from matproof.agents.inside import ARTIFACTS
from matproof.agents.orchestrated.plan import Plan, PlannedStep
from matproof.agents.orchestrated.record import Ledger
from matproof.agents.orchestrated.sessions import DIAGNOSE, STEPS, Diagnosis, Sessions
from matproof.core.clock import elapsed
from matproof.execution.conversation import loss
from matproof.execution.step import StepCommand, StepResult
from matproof.execution.steps import Needs, StepExecutor, StepTry
from matproof.models.prompts import load_prompt
from matproof.records.run import Step, StepAttempt

LOST = ("node", "preempted")
"""Endings that say nothing of a step."""
FORGIVEN = 2
"""Tries of a step that may be lost so; from the next one on they count like others, and a model is asked."""


class Execution:
    """Runs one plan. `aborted` and `out_of_time` say why it ended early."""

    def __init__(self, work: Work, sessions: Sessions, ledger: Ledger, steps: StepExecutor, *, deadline: float) -> None:
        self._work = work
        self._sessions = sessions
        self._ledger = ledger
        self._steps = steps
        self._deadline = deadline
        self._cancel = threading.Event()
        self.aborted: str | None = None
        self.out_of_time = False

    def run(self, plan: Plan) -> None:
        """Run every step that can run; each ends in the ledger with a status and, where it did not run, a reason."""
        graph = plan.graph()
        graph.prepare()
        steps = {step.id: step for step in plan.steps}
        resources = self._work.claim.metadata.resources
        cores, gpus = max(1, resources.cpus), resources.gpus
        waiting: list[PlannedStep] = []
        running: dict[Future[Step], PlannedStep] = {}
        status: dict[str, str] = {}
        with ThreadPoolExecutor(max_workers=cores) as pool:
            try:
                while graph.is_active():
                    waiting += [steps[name] for name in graph.get_ready()]
                    for step in list(waiting):
                        if (reason := self._hindrance(step, status)) is not None:
                            self._finish(_not_run(step, *reason), status)
                            graph.done(step.id)
                        elif step.cpus <= cores and step.gpus <= gpus:
                            cores, gpus = cores - step.cpus, gpus - step.gpus
                            running[pool.submit(self._attempts, step)] = step
                        else:
                            continue
                        waiting.remove(step)
                    if not running:
                        continue
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        step = running.pop(future)
                        cores, gpus = cores + step.cpus, gpus + step.gpus
                        self._finish(future.result(), status)
                        graph.done(step.id)
            except BaseException:
                self._cancel.set()
                raise

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
        needs = Needs(
            cpus=planned.cpus,
            memory_gb=planned.memory_gb or self._work.claim.metadata.resources.memory_gb,
            gpus=planned.gpus,
        )
        tried: list[StepAttempt] = []
        limit = self._work.setting.step_attempts
        lost = 0
        for number in range(1, limit + FORGIVEN + 1):
            if self._deadline - elapsed() <= 0:
                self.out_of_time = True
                return _step(planned, "stopped", tried, "the walltime was over")
            result = self._try(command, number, needs)
            attempt = result.attempt
            if result.succeeded:
                return _step(planned, "succeeded", [*tried, attempt])
            if result.cut:
                self.out_of_time = True
                return _step(
                    planned, "stopped", [*tried, attempt], attempt.reason or "stopped at the walltime of the run"
                )
            if attempt.ending == "cancelled":
                return _step(planned, "stopped", [*tried, attempt], attempt.reason or "cancelled")
            if attempt.ending in LOST and lost < FORGIVEN:
                lost += 1
                tried.append(self._forgive(planned, attempt))
                continue
            if number - lost >= limit:
                return _step(planned, "failed", [*tried, attempt], f"{result.failure}, in {limit} attempts")
            diagnosis = self._diagnose(planned, command, result, number - lost)
            tried.append(attempt.model_copy(update={"diagnosis": diagnosis.decision}))
            if diagnosis.decision == "skip":
                return _step(planned, "skipped", tried, diagnosis.explanation)
            if diagnosis.decision == "abort":
                self.aborted = f"{planned.id}: {diagnosis.explanation}"
                return _step(planned, "aborted", tried, diagnosis.explanation)
            command = _changed(command, diagnosis)
        raise AssertionError("unreachable: the last attempt returns")

    def _try(self, command: StepCommand, number: int, needs: Needs) -> StepResult:
        result = self._steps.run(
            StepTry(
                command=command,
                number=number,
                needs=needs,
                sandbox=self._sessions.step_spec(needs),
                deadline=self._deadline,
                cancel=self._cancel,
            )
        )
        if result.report is not None:
            self._sessions.remember(result.report)
        return result

    def _forgive(self, planned: PlannedStep, attempt: StepAttempt) -> StepAttempt:
        """A try that was lost through no fault of the plan is repeated as it is, and no model is asked."""
        why = attempt.reason or attempt.ending
        self._ledger.decide("program", "retry_unchanged", why, step=planned.id, attempt=attempt.number)
        self._work.tell(f"step {planned.id}: {why}; it is tried again")
        return attempt.model_copy(update={"diagnosis": "retry_unchanged, by program"})

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
        if isinstance(answer, Diagnosis):
            diagnosis = answer
        else:
            by = "program"
            why = lost.reason if lost is not None else "none was given"
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


def _changed(command: StepCommand, diagnosis: Diagnosis) -> StepCommand:
    if diagnosis.decision != "retry_changed":
        return command
    return replace(command, command=diagnosis.command or command.command, workdir=diagnosis.workdir or command.workdir)


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
