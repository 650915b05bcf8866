"""Records to table rows: pure functions, one a table."""

import os
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import to_json
from matproof.records.base import Usage
from matproof.records.evaluation import DIMENSIONS, EvaluationRecord
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
    spread = {item.dimension: {"low": item.low, "high": item.high} for item in record.scores}
    overall = {
        "dimension": "overall",
        "score": record.overall,
        **spread.get("overall", {}),
        "grade": record.grade,
        "success": record.success,
        "seconds": record.seconds,
        **_evidence(record),
    }
    dimensions = sorted(
        (item for item in record.scores if item.dimension != "overall"), key=lambda item: item.dimension
    )
    return [
        shared | overall,
        *(
            shared | {"dimension": item.dimension, "score": item.median, **spread[item.dimension]}
            for item in dimensions
        ),
    ]


def _evidence(record: EvaluationRecord) -> Row:
    if record.kind == "checks":
        return {"detected": _looked(record)}
    scored = [judging for judging in record.judgings if judging.status == "scored"]
    counts = [judging.cited for judging in scored if judging.cited is not None]
    known = bool(counts) and len(counts) == len(scored)
    return {
        "judgings": len(record.judgings),
        "judgings_scored": len(scored),
        "citations": sum(count.given for count in counts) if known else None,
        "citations_verified": sum(count.verified for count in counts) if known else None,
        "weak_evidence": record.weak_evidence,
    }


def _looked(record: EvaluationRecord) -> bool:
    """Whether any detector looked: only then does no flag say something."""
    found = record.detection.detectors if record.detection is not None else []
    return any(one.status != "not_applicable" for one in found)


def judgement_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `judgements`: each judging of a judge that was asked more than once."""
    if len(record.judgings) < 2:
        return []
    found = []
    for judging in record.judgings:
        scores = {"overall": judging.overall} | {item.name: item.score for item in judging.dimensions}
        shared = {
            **_key(record),
            "judge": record.judge,
            "scripted": record.scripted,
            "judging": judging.number,
            "reason": judging.reason,
        }
        found += [shared | {"dimension": name, "score": scores.get(name)} for name in ("overall", *DIMENSIONS)]
    return found


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


def flag_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `flags`: one a flag, with its first place."""
    return [
        {
            **_key(record),
            "judge": record.judge,
            "detector": flag.detector,
            "weight": flag.weight,
            "text": flag.text,
            "places": flag.total,
            **(flag.places[0].model_dump() if flag.places else {}),
        }
        for flag in (record.detection.flags if record.detection is not None else ())
    ]


def required_rows(record: EvaluationRecord) -> list[Row]:
    """Rows of `required_steps`: one a kind of evidence, in the order of `expected.yaml`."""
    return [
        {
            **_key(record),
            "judge": record.judge,
            "step": step.id,
            "text": step.text,
            "status": step.status,
            "kind": evidence.kind,
            "wanted": evidence.wanted,
            "found": evidence.found is not None,
            **(evidence.found.model_dump() if evidence.found is not None else {}),
        }
        for step in record.required_steps
        for evidence in step.evidence
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
