"""Records to table rows: pure functions, one a table."""

import os
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import to_json
from matproof.records.base import Usage
from matproof.records.evaluation import EvaluationRecord
from matproof.records.run import PhaseName, RunRecord
from matproof.tables.columns import Row

LONGEST = 300
"""Characters of a problem's text."""
_PHASES: tuple[PhaseName, ...] = ("plan", "setup", "execute", "extract", "session")


def run_row(record: RunRecord, *, attempts: int, lost: int, complete: bool) -> Row:
    """The row of `runs`."""
    sandbox = record.sandbox
    return {
        **_key(record),
        "claim_id": record.claim_id,
        "attempt": record.attempt,
        "attempts": attempts,
        "lost_attempts": lost,
        "complete": complete,
        "agent": record.agent,
        "model": record.model,
        "scripted": record.scripted,
        "outcome": record.outcome,
        "reason": record.reason,
        "valid": record.valid,
        "self_reproduced": record.self_reproduced,
        "started": record.started,
        "ended": record.ended,
        "seconds": record.seconds,
        **{f"{name}_s": _phase_seconds(record, name) for name in _PHASES},
        "steps": len(record.steps),
        "steps_succeeded": sum(step.status == "succeeded" for step in record.steps),
        **_usage(record.usage),
        "sandbox": sandbox.engine if sandbox else None,
        "sandbox_version": sandbox.version if sandbox else None,
        "weaker": bool(sandbox.weaker) if sandbox else None,
        "payload_sha256": record.payload_sha256,
        "host": record.host,
        "job": record.job,
        "versions": to_json(dict(sorted(record.versions.items())), indent=None),
    }


def evaluation_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `evaluations`: `overall` first, always; then each dimension that was scored."""
    shared = {
        **_key(record),
        "claim_id": record.claim_id,
        "attempt": record.attempt,
        "judge": record.judge,
        "kind": record.kind,
        "scripted": record.scripted,
        "status": record.status,
        "reason": record.reason,
    }
    overall = {
        "dimension": "overall",
        "score": record.overall,
        "grade": record.grade,
        "success": record.success,
        "seconds": record.seconds,
    }
    dimensions = sorted(record.dimensions, key=lambda item: item.name)
    return [shared | overall, *(shared | {"dimension": item.name, "score": item.score} for item in dimensions)]


def check_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `checks`: quantities, then relations, in the order of `expected.yaml`."""
    if (checks := record.checks) is None:
        return []
    shared = {
        **_key(record),
        "judge": record.judge,
        "expected_outcome": checks.expected_outcome,
        "found": checks.found,
        "verdict": checks.verdict,
    }
    quantities = [shared | {"what": "quantity"} | item.model_dump() for item in checks.quantities]
    relations = [
        shared | {"what": "relation", "name": item.relation, "status": item.status} for item in checks.relations
    ]
    return quantities + relations


def failure_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `failures`: one a label."""
    return [
        {**_key(record), "judge": record.judge, "label": item.label, "evidence": item.evidence}
        for item in record.failure_labels
    ]


def step_rows(record: RunRecord) -> list[Row]:
    """Rows of `steps`, in the order of the record."""
    found = []
    for position, step in enumerate(record.steps, start=1):
        last = step.attempts[-1] if step.attempts else None
        found.append(
            {
                **_key(record),
                "attempt": record.attempt,
                "step": step.id,
                "position": position,
                "status": step.status,
                "reason": step.reason,
                "tries": len(step.attempts),
                "seconds": sum(item.seconds for item in step.attempts),
                "returncode": last.returncode if last else None,
                "ending": last.ending if last else None,
            }
        )
    return found


def run_usage_row(record: RunRecord, *, counted: bool) -> Row:
    """The row of `usage` that an attempt spent."""
    return {
        **_key(record),
        "attempt": record.attempt,
        "source": "agent",
        "counted": counted,
        "scripted": record.scripted,
        **_usage(record.usage),
    }


def judge_usage_rows(record: EvaluationRecord) -> list[Row]:
    """The row of `usage` that a judge spent; none for a program, which asks no model."""
    if record.kind == "checks":
        return []
    row = {
        **_key(record),
        "attempt": record.attempt,
        "source": "judge",
        "judge": record.judge,
        "counted": True,
        "scripted": record.scripted,
        **_usage(record.usage),
    }
    return [row]


def problem_row(path: Path, error: Exception, *, below: Path) -> Row:
    """The row of `problems` for a file that could not be used; its path is given below `below` where it is there."""
    name = os.path.relpath(path, below) if path.is_relative_to(below) else str(path)
    if isinstance(error, InputError):
        row = {"field": error.field, "problem": error.problem, "remedy": error.remedy}
    else:
        said = f"{type(error).__name__}: {error.strerror if isinstance(error, OSError) else error}"
        row = {"field": "", "problem": f"can't be read: {said}"[:300], "remedy": "run its station again"}
    return {"file": _storable(name), **{key: _storable(text) for key, text in row.items()}}


def _key(record: RunRecord | EvaluationRecord) -> Row:
    return {"claim": record.claim, "setting": record.setting, "repeat": record.repeat}


def _usage(usage: Usage) -> Row:
    return usage.model_dump()


def _phase_seconds(record: RunRecord, name: PhaseName) -> float | None:
    times = [phase.seconds for phase in record.phases if phase.name == name]
    return sum(times) if times else None


def _storable(text: str) -> str:
    """Without what UTF-8 can't hold (a file name may be any bytes), and short enough for one line."""
    plain = text.encode("utf-8", "replace").decode()
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
