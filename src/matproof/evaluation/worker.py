"""The `evaluate` station: one judge's view of one run, written as one file.

A judge that can't judge is a result (`unscored`, with the reason). Only an infrastructure failure raises; then no file
is written and the runner may try again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matproof import __version__
from matproof.claims.loading import load_claim
from matproof.config.models import ModelTable
from matproof.config.settings import Judge
from matproof.core.clock import elapsed, timestamp
from matproof.core.files import read_model, write_json
from matproof.evaluation.checks import run_checks
from matproof.evaluation.judge import Case, judge
from matproof.records.evaluation import GRADES, SUCCESS_SCORE, EvaluationRecord
from matproof.records.places import RunPlace
from matproof.records.run import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What to judge, by whom."""

    task: Path
    manifest: Path
    """What `package` made of the claim for judges."""
    judge_file: Path
    run: RunPlace
    models_file: Path
    project: Path
    allow_weaker: bool = False


def evaluate(assignment: Assignment, tell: Callable[[str], None]) -> EvaluationRecord:
    """Judge one run and write the record. Raises InfrastructureError, RefusedError, InputError."""
    chosen = read_model(Judge, assignment.judge_file)
    record = RunRecord.read(assignment.run.run_json)
    name = assignment.judge_file.stem
    began, head = elapsed(), _head(record, name, chosen)
    body = _checked(assignment, record) if chosen.answers is None else _judged(assignment, chosen, record, name, tell)
    evaluation = EvaluationRecord.model_validate({**head, **body, "seconds": round(elapsed() - began, 3)})
    write_json(assignment.run.evaluation(name), evaluation)
    return evaluation


def _head(record: RunRecord, name: str, chosen: Judge) -> dict[str, object]:
    return {
        "claim": record.claim,
        "claim_id": record.claim_id,
        "setting": record.setting,
        "repeat": record.repeat,
        "attempt": record.attempt,
        "judge": name,
        "kind": chosen.kind,
        "scripted": chosen.answers is not None and chosen.answers.scripted,
        "started": timestamp(),
    }


def _checked(assignment: Assignment, record: RunRecord) -> dict[str, object]:
    status, reason, checks = run_checks(assignment.run.attempt(record.attempt).artifacts, assignment.task)
    return {
        "status": status,
        "reason": reason,
        "success": None if checks is None else checks.verdict == "correct",
        "checks": checks,
        "versions": {"matproof": __version__},
    }


def _judged(
    assignment: Assignment, chosen: Judge, record: RunRecord, name: str, tell: Callable[[str], None]
) -> dict[str, object]:
    if chosen.answers is None:
        raise TypeError("a judge of kind agent has answers")
    folder = _new_folder(assignment.run.evaluations / name)
    report = judge(
        Case(
            record=record,
            place=assignment.run.attempt(record.attempt),
            claim_text=load_claim(assignment.task).text,
            task=assignment.task,
            manifest=assignment.manifest,
            results=assignment.run.results,
            folder=folder,
        ),
        chosen.answers,
        table=read_model(ModelTable, assignment.models_file),
        policy=assignment.project / chosen.policy,
        project=assignment.project,
        allow_weaker=assignment.allow_weaker or chosen.answers.allow_weaker,
        tell=tell,
    )
    common: dict[str, object] = {
        "usage": report.usage,
        "sandbox": report.sandbox,
        "versions": {"matproof": __version__, **report.versions},
    }
    found = report.judgement
    if found is None:
        return {**common, "status": "unscored", "reason": report.reason}
    return {
        **common,
        "status": "scored",
        "overall": found.overall,
        "grade": GRADES[found.overall],
        "success": found.overall >= SUCCESS_SCORE,
        "dimensions": found.dimensions,
        "strengths": found.strengths,
        "key_errors": found.key_errors,
        "failure_labels": found.failure_labels,
        "self_comparison": found.self_comparison,
    }


def _new_folder(parent: Path) -> Path:
    """A directory of this judging's own; earlier ones stay."""
    parent.mkdir(parents=True, exist_ok=True)
    taken = [int(path.name) for path in parent.iterdir() if path.name.isdigit()]
    folder = parent / f"{max(taken, default=0) + 1:03d}"
    folder.mkdir()
    return folder
