"""The page of one run: everything that is known of it, from its own files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from matproof.core.errors import InputError
from matproof.records.analysis import AnalysisResult
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import AttemptPlace, Results
from matproof.records.run import RunRecord, Step
from matproof.report import evidence, figures
from matproof.report.pages import render
from matproof.tables.columns import Row
from matproof.tables.leaderboard import NO_JUDGEMENT

TIMELINE = 720.0
"""Width of the picture of the phases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A step with the ends of its logs, by try: (standard output, standard error)."""

    step: Step
    logs: list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """A file of the run that the page links to."""

    name: str
    href: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """What the template shows."""

    run: RunRecord
    claim: Row
    claim_text: str | None
    evaluations: list[EvaluationRecord]
    missing: list[str]
    """Judges that judged others and not this run, each with why in `reason`."""
    reason: str
    steps: list[StepView]
    orchestration: evidence.Orchestration | None
    findings: AnalysisResult | None
    findings_problem: str | None
    phases: list[tuple[str, float, float]]
    files: list[FileLink]
    artifacts: evidence.Listing
    attempt_href: str
    attempts: int
    lost_attempts: int
    home: str

    def cited(self, file: str) -> str | None:
        """A link for a file that a judge cites."""
        link = evidence.evidence_link(self._attempt, file)
        return f"{self.attempt_href}/{link}" if link else None

    _attempt: Path


def run_page(results: Path, tasks: Path, page: Path, row: Row, claim: Row, judges: Sequence[str]) -> str:
    """HTML of the run that `row` of the table `runs` names, to stand at `page`. Raises InputError, OSError."""
    place = Results(results).run(row["claim"], row["setting"], row["repeat"])
    attempt = place.attempt(row["attempt"])
    # A later attempt that was lost took run.json along: then the attempt's own copy tells.
    known = row["complete"] and place.run_json.exists()
    record = RunRecord.read(place.run_json if known else attempt.run_json)
    evaluations, unusable = _evaluations(results, row, record, judges)
    found = evidence.findings(attempt.artifacts)
    given = {evaluation.judge for evaluation in evaluations}
    lost = record.outcome == "infrastructure"
    view = RunView(
        run=record,
        claim=claim,
        claim_text=evidence.read_claim_text(
            (attempt.root, "payload/claim.txt"), (tasks / row["claim"], "agent_view/claim.txt")
        ),
        evaluations=evaluations,
        missing=[] if lost else [judge for judge in judges if judge not in given and judge not in unusable],
        reason=NO_JUDGEMENT,
        steps=[_step(attempt, step) for step in record.steps],
        orchestration=evidence.orchestration(attempt.root),
        findings=found if isinstance(found, AnalysisResult) else None,
        findings_problem=found if isinstance(found, str) else None,
        phases=figures.timeline([(phase.name, phase.seconds) for phase in record.phases], TIMELINE),
        files=_files(place.root, attempt, page),
        artifacts=evidence.listing(attempt.root),
        attempt_href=_href(attempt.root, page),
        attempts=row["attempts"],
        lost_attempts=row["lost_attempts"],
        home="../../../index.html",
        _attempt=attempt.root,
    )
    return render("run.html", view=view, root=view.home, width=TIMELINE)


def _evaluations(
    results: Path, row: Row, record: RunRecord, judges: Sequence[str]
) -> tuple[list[EvaluationRecord], set[str]]:
    """Evaluations of the attempt that counts, agents first; and the judges whose file can't be used."""
    place = Results(results).run(row["claim"], row["setting"], row["repeat"])
    found, unusable = [], set()
    for judge in judges:
        path = place.evaluation(judge)
        if not path.exists():
            continue
        try:
            evaluation = EvaluationRecord.read(path)
        except (InputError, OSError, ValueError, RecursionError):
            unusable.add(judge)
            continue
        if evaluation.attempt == record.attempt and evaluation.judge == judge:
            found.append(evaluation)
    return sorted(found, key=lambda item: (item.kind, item.judge)), unusable


def _step(attempt: AttemptPlace, step: Step) -> StepView:
    logs = [
        (evidence.log_tail(attempt.root, item.stdout_log), evidence.log_tail(attempt.root, item.stderr_log))
        for item in step.attempts
    ]
    return StepView(step=step, logs=logs)


def _files(run: Path, attempt: AttemptPlace, page: Path) -> list[FileLink]:
    """Files of ours beside the run that exist."""
    known = [
        (attempt.run_json, "the record that this page shows"),
        (attempt.trace, "events of the run"),
        (attempt.exchanges, "what the gateway recorded"),
        (attempt.orchestration, "plan, decisions and steps"),
        (attempt.steps, "logs of the steps"),
        (attempt.artifacts, "everything that the agent left"),
    ]
    evaluations = run / "evaluations"
    if evaluations.is_dir():
        known += [(path, "a judge's record") for path in sorted(evaluations.iterdir()) if not path.name.startswith(".")]
    return [
        FileLink(name=os.path.relpath(path, run), href=_href(path, page), text=text)
        for path, text in known
        if path.exists()
    ]


def _href(path: Path, page: Path) -> str:
    """A relative link from `page` to `path`."""
    return quote(os.fsencode(os.path.relpath(path, page.parent)))
