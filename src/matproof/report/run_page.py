"""The pages of one run: everything that is known of it, from its own files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from matproof.core.errors import InputError
from matproof.records.analysis import AnalysisResult
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import AttemptPlace, Results
from matproof.records.run import RunRecord, Step
from matproof.report import evidence, figures, flagged
from matproof.report.citations import Citations
from matproof.report.dag import Graph, GraphStep, graph
from matproof.report.judging_table import COLUMNS, judging_lines
from matproof.report.pages import Frame, render
from matproof.report.transcript import Transcript, transcript
from matproof.report.viewer import FilePages, file_html
from matproof.tables.columns import Row
from matproof.tables.leaderboard import NO_JUDGEMENT

TIMELINE = 720.0
"""Width of the picture of the phases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogView:
    """The end of a log, and the page that has more of it."""

    text: str
    href: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A step with the ends of its logs, by try: (standard output, standard error)."""

    step: Step
    logs: list[tuple[LogView, LogView]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """A file of the run that the page links to."""

    name: str
    href: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactView:
    """A file that the agent left: the page that shows it, and the file itself."""

    file: evidence.LeftFile
    page: str | None
    raw: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """What the template shows."""

    run: RunRecord
    claim: Row
    claim_text: str | None
    claim_href: str
    setting_href: str
    evaluations: list[EvaluationRecord]
    missing: list[str]
    """Judges that judged others and not this run, each with why in `reason`."""
    reason: str
    steps: list[StepView]
    orchestration: evidence.Orchestration | None
    graph: Graph | None
    findings: AnalysisResult | None
    findings_problem: str | None
    phases: list[tuple[str, float, float]]
    files: list[FileLink]
    artifacts: list[ArtifactView]
    listing: evidence.Listing
    transcript: Transcript | None
    parts: str
    """Directory of the other pages, as a link."""
    attempts: int
    lost_attempts: int
    citations: Citations
    found: list[flagged.FoundView]


@dataclass(slots=True)
class RunPages:
    """The HTML of a run's pages."""

    html: str
    parts: dict[str, str] = field(default_factory=dict)
    """Of its transcript and files, by name below the directory that is named as the page is."""


def run_pages(
    results: Path, tasks: Path, page: Path, row: Row, claim: Row, judges: Sequence[str], frame: Frame
) -> RunPages:
    """The pages of the run that `row` of the table `runs` names, the first to stand at `page`.

    Raises InputError, OSError.
    """
    place = Results(results).run(row["claim"], row["setting"], row["repeat"])
    attempt = place.attempt(row["attempt"])
    # A later attempt that was lost took run.json along: then the attempt's own copy tells.
    known = row["complete"] and place.run_json.exists()
    record = RunRecord.read(place.run_json if known else attempt.run_json)
    evaluations, unusable = _evaluations(results, row, record, judges)
    found = evidence.findings(attempt.artifacts)
    given = {evaluation.judge for evaluation in evaluations}
    lost = not record.complete
    root, parts = "../../../index.html", f"{quote(page.stem)}/"
    title = f"{claim.get('title') or record.claim} · {record.setting}, repeat {record.repeat}"
    pages = FilePages(attempt.root)
    citations = Citations(pages, parts, _href(attempt.root, page) if frame.raw else None)
    for evaluation in evaluations:
        citations.prepare(evaluation)
    for evaluation in evaluations:
        flagged.prepare(evaluation, citations)
    told = transcript(attempt.trace, title, page.name, frame, f"../{root}")
    listing = evidence.listing(attempt.root)
    steps = [_step(attempt, step, pages, parts) for step in record.steps]
    plan = evidence.orchestration(attempt.root)
    view = RunView(
        run=record,
        claim=claim,
        claim_text=evidence.read_claim_text(
            (attempt.root, "payload/claim.txt"), (tasks / row["claim"], "agent_view/claim.txt")
        ),
        claim_href=f"../../../claims/{quote(row['claim'])}.html",
        setting_href=f"../../../settings/{quote(row['setting'])}.html",
        evaluations=evaluations,
        missing=[] if lost else [judge for judge in judges if judge not in given and judge not in unusable],
        reason=NO_JUDGEMENT,
        steps=steps,
        orchestration=plan,
        graph=_graph(record, plan),
        findings=found if isinstance(found, AnalysisResult) else None,
        findings_problem=found if isinstance(found, str) else None,
        phases=figures.timeline([(phase.name, phase.seconds) for phase in record.phases], TIMELINE),
        files=_files(place.root, attempt, page) if frame.raw else [],
        artifacts=_artifacts(listing, pages, parts, _href(attempt.root, page) if frame.raw else None),
        listing=listing,
        transcript=told,
        parts=parts,
        attempts=row["attempts"],
        lost_attempts=row["lost_attempts"],
        citations=citations,
        found=flagged.found_views(evaluations, citations),
    )
    made = RunPages(
        render(
            "run.html",
            frame=frame,
            view=view,
            root=root,
            width=TIMELINE,
            judging_lines=judging_lines,
            judging_columns=COLUMNS,
        )
    )
    for part in told.parts if told else []:
        made.parts[part.name] = part.html
    for shown in pages.made():
        made.parts[shown.name] = file_html(shown, title, f"../{quote(page.name)}", frame)
    return made


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


def _step(attempt: AttemptPlace, step: Step, pages: FilePages, parts: str) -> StepView:
    def log(relative: str) -> LogView:
        text = evidence.log_tail(attempt.root, relative)
        page = pages.page(relative) if text.startswith("[…]") or relative in pages.pages else None
        return LogView(text=text, href=f"{parts}{page.name}" if page else None)

    return StepView(step=step, logs=[(log(item.stdout_log), log(item.stderr_log)) for item in step.attempts])


def _graph(record: RunRecord, plan: evidence.Orchestration | None) -> Graph | None:
    """The steps that ran, with how they ended; else those that were planned."""
    if record.steps:
        ran = enumerate(record.steps, 1)
        return graph([_graph_step(number, step, step.status) for number, step in ran])
    planned = enumerate(plan.steps if plan else (), 1)
    return graph([_graph_step(number, step, "planned") for number, step in planned])


def _graph_step(number: int, step: Step | evidence.PlannedStep, status: str) -> GraphStep:
    return GraphStep(
        id=step.id,
        anchor=f"step-{number}",
        depends_on=tuple(step.depends_on),
        status=status,
        detail=step.purpose,
    )


def _artifacts(listing: evidence.Listing, pages: FilePages, parts: str, attempt: str | None) -> list[ArtifactView]:
    views = []
    for file in listing.files:
        page = pages.page(file.path) if file.kind == "file" and file.path is not None else None
        raw = f"{attempt}/{file.href}" if attempt is not None and file.href else None
        views.append(ArtifactView(file=file, page=f"{parts}{page.name}" if page else None, raw=raw))
    return views


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
    base = _href(run, page)
    names = [(os.fspath(path).removeprefix(f"{run}/"), text) for path, text in known if path.exists()]
    return [FileLink(name=name, href=f"{base}/{quote(os.fsencode(name))}", text=text) for name, text in names]


def _href(path: Path, page: Path) -> str:
    """A relative link from `page` to `path`."""
    return quote(os.fsencode(os.path.relpath(path, page.parent)))
