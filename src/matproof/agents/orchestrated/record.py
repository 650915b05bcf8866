"""`orchestration.json`: the plan, every decision and every step, saved after each change.

Written only by this program, so a reader can trust its shape; the words in it are a model's.
"""

import threading
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from matproof.agents.orchestrated.plan import Plan
from matproof.core.clock import timestamp
from matproof.core.files import write_json
from matproof.records.base import Record
from matproof.records.run import Step


class Decision(BaseModel):
    """Something that was decided, by whom and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: str
    by: str
    """`diagnose` for a model, `program` for a rule of ours."""
    step: str | None = None
    attempt: int | None = None
    decision: str
    explanation: str
    command: str | None = None
    workdir: str | None = None


class Orchestration(Record):
    """The file."""

    plan: Plan | None = None
    decisions: list[Decision] = []
    steps: list[Step] = []
    setup_summary: str | None = None


class Ledger:
    """Collects the orchestration and saves it at each change; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._current = Orchestration()

    @property
    def steps(self) -> list[Step]:
        """Steps so far."""
        with self._lock:
            return list(self._current.steps)

    def plan(self, plan: Plan) -> None:
        """Keep the plan."""
        self._save(plan=plan)

    def prepared(self, summary: str) -> None:
        """Keep what the setup session said last."""
        self._save(setup_summary=summary)

    def decide(
        self,
        by: str,
        decision: str,
        explanation: str,
        *,
        step: str | None = None,
        attempt: int | None = None,
        command: str | None = None,
        workdir: str | None = None,
    ) -> None:
        """Keep a decision."""
        made = Decision(
            time=timestamp(),
            by=by,
            step=step,
            attempt=attempt,
            decision=decision,
            explanation=explanation,
            command=command,
            workdir=workdir,
        )
        with self._lock:
            decisions = [*self._current.decisions, made]
        self._save(decisions=decisions)

    def step(self, step: Step) -> None:
        """Keep a finished step."""
        with self._lock:
            steps = [*self._current.steps, step]
        self._save(steps=steps)

    def _save(self, **changes: object) -> None:
        with self._lock:
            self._current = self._current.model_copy(update=changes)
            write_json(self._path, self._current)
