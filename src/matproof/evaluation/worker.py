"""The `evaluate` station: one judge's view of one run, written as one file.

A judge that can't judge is a result (`unscored`, with the reason). Only an infrastructure failure and the campaign's
budget raise; then no record is written and the runner may try again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from matproof import __version__
from matproof.claims.loading import load_claim
from matproof.config.budget import CampaignBudget
from matproof.config.models import ModelTable
from matproof.config.settings import Judge
from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import CancelledError, InfrastructureError
from matproof.core.files import read_model, write_json
from matproof.core.hashes import file_hashes
from matproof.evaluation.checks import expectations, run_checks
from matproof.evaluation.detectors.detect import detect, scene_of
from matproof.evaluation.judge import Case, JudgeReport, Means, judge, refuse_mismatch
from matproof.evaluation.panels import total_usage, verdict
from matproof.evaluation.required_steps import required_steps
from matproof.execution.ending import EndedBySignal, ended_by_signal
from matproof.models.funds import Funds
from matproof.records.cancelling import wished
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import RunPlace
from matproof.records.run import RunRecord, merged_report
from matproof.sandbox.choosing import chosen_engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What to judge, by whom."""

    task: Path
    manifest: Path
    """What `package` made of the claim for judges."""
    judge_file: Path
    run: RunPlace
    models_file: Path
    budget: CampaignBudget = field(default_factory=CampaignBudget)
    """What the campaign may spend."""
    project: Path
    allow_weaker: bool = False


def evaluate(assignment: Assignment, tell: Callable[[str], None]) -> EvaluationRecord:
    """Judge one run and write the record.

    Raises InfrastructureError, also for a signal, CancelledError, RefusedError, BudgetReachedError, InputError.
    """
    assignment.run.cancel.unlink(missing_ok=True)  # an earlier wish, granted: the campaign was started again
    with ended_by_signal() as ending:
        try:
            return _evaluate(assignment, tell)
        except EndedBySignal as error:
            ending.disarm()
            ending.wait_until_alone()
            attempt = RunRecord.read(assignment.run.run_json).attempt
            if (who := wished(assignment.run, attempt)) is not None:
                raise CancelledError(f"judging {assignment.run.root}: {who}") from error
            raise InfrastructureError(str(error)) from error


def _evaluate(assignment: Assignment, tell: Callable[[str], None]) -> EvaluationRecord:
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
    place = assignment.run.attempt(record.attempt)
    status, reason, checks = run_checks(place.artifacts, assignment.task)
    expected = expectations(assignment.task)
    scene = scene_of(place, record, assignment.task, expected)
    return {
        "status": status,
        "reason": reason,
        "success": None if checks is None else checks.verdict == "correct",
        "checks": checks,
        "required_steps": required_steps(expected, scene),
        "detection": detect(scene),
        "versions": {"matproof": __version__, **_files(assignment)},
    }


def _judged(
    assignment: Assignment, chosen: Judge, record: RunRecord, name: str, tell: Callable[[str], None]
) -> dict[str, object]:
    if chosen.answers is None:
        raise TypeError("a judge of kind agent has answers")
    table = read_model(ModelTable, assignment.models_file)
    refuse_mismatch(chosen, table, assignment.judge_file)
    claim = load_claim(assignment.task)
    engine = chosen_engine(
        chosen.answers.sandbox,
        config=assignment.models_file.parent,
        project=assignment.project,
        subdomain=claim.metadata.subdomain,
        gpus=0,
    )
    reports: list[JudgeReport] = []
    for number in range(1, chosen.repeats + 1):
        funds = Funds(
            assignment.run.results, assignment.budget, setting=record.setting, scripted=chosen.answers.scripted
        )
        funds.check(chosen.answers, table)
        if chosen.repeats > 1:
            tell(f"judging {number} of {chosen.repeats}")
        case = Case(
            record=record,
            place=assignment.run.attempt(record.attempt),
            claim_text=claim.text,
            task=assignment.task,
            manifest=assignment.manifest,
            results=assignment.run.results,
            folder=_new_folder(assignment.run.evaluations / name),
            number=number,
        )
        means = Means(
            table=table,
            funds=funds,
            policy=assignment.project / chosen.policy,
            engine=engine,
            project=assignment.project,
            allow_weaker=assignment.allow_weaker or chosen.answers.allow_weaker,
            tell=tell,
        )
        reports.append(judge(case, chosen, means))
    return {
        **verdict([report.judging for report in reports]),
        "usage": total_usage([report.usage for report in reports]),
        "sandbox": merged_report(sandbox for report in reports for sandbox in report.reports),
        "versions": {"matproof": __version__, **_files(assignment), **reports[0].versions},
    }


def _files(assignment: Assignment) -> dict[str, str]:
    return file_hashes(
        judge=assignment.judge_file,
        models=assignment.models_file,
        expected=assignment.task / "reference/expected.yaml",
        procedure=assignment.task / "reference/procedure.md",
    )


def _new_folder(parent: Path) -> Path:
    """A directory of this judging's own; earlier ones stay."""
    parent.mkdir(parents=True, exist_ok=True)
    taken = [int(path.name) for path in parent.iterdir() if path.name.isdigit()]
    folder = parent / f"{max(taken, default=0) + 1:03d}"
    folder.mkdir()
    return folder
