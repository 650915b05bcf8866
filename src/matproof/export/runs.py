"""`matproof export ro-crate`: which files of a run or of a campaign go into the crate."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from matproof.claims.loading import claim_metadata
from matproof.core.errors import InputError
from matproof.core.files import sha256_of, to_json
from matproof.export.bundle import Bundle, Left, Put, bundle
from matproof.export.crate import About, Entity, Graph, add_evaluation, add_run, file_ids, finish
from matproof.export.judged import without_evidence
from matproof.export.leaving import Leaving
from matproof.export.workflow import add_workflow, put_workflow
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import Results, RunPlace
from matproof.records.run import RunRecord
from matproof.tables.scan import contents_of, find_runs

_CAMPAIGN_FILES = ("leaderboard.csv", "leaderboard.md", "leaderboard.parquet", "runs.parquet", "usage.parquet")
"""Tables that hold nothing of a claim's reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What to export, and how much."""

    tasks: Path = Path("tasks")
    config: Path = Path("config")
    snakefile: Path = Path("Snakefile")
    with_reference: bool = False
    most_file: int = 50_000_000
    most_total: int = 2_000_000_000
    about: About = field(default_factory=About)


def export_crate(source: Path, out: Path, choices: Choices) -> Bundle:
    """Write the run or the campaign at `source` as an RO-Crate. Raises InputError."""
    places, results = _places(source)
    roots = [results, choices.tasks, choices.config, Path.cwd(), Path.home()]
    limits = {"most_file": choices.most_file, "most_total": choices.most_total}
    with bundle(out, Leaving(roots), **limits) as made:
        graph, only = Graph(), len(places) == 1 and places[0].root == source
        what = f"the run {'/'.join(places[0].names)}" if only else f"{len(places)} runs"
        workflow = put_workflow(made, choices.snakefile)
        given, left, records = file_ids(_config(made, choices.config, "config.yaml")), list[Entity](), list[RunRecord]()
        for place in places:
            record = RunRecord.read(place.run_json)
            records.append(record)
            _run(made, graph, place, record, "" if only else f"runs/{'/'.join(place.names)}/", choices, given, left)
        if not only:
            left += file_ids(_tables(made, results))
        if workflow is not None:
            add_workflow(graph, workflow, records, what=what, given=given, left=left, about=choices.about)
        finish(
            made,
            graph,
            name=f"matproof: {what}",
            description=f"Attempts of AI agents to reproduce claims of materials science, with judgements: {what}.",
            ended=[record.ended for record in records],
            about=choices.about,
            workflow=workflow.main if workflow is not None else None,
        )
    return made


def _places(source: Path) -> tuple[list[RunPlace], Path]:
    place = RunPlace(source.absolute())
    if place.run_json.is_file():
        return [RunPlace(source)], place.results
    found = [run.place for run in find_runs(source) if run.place.run_json.is_file()]
    if not found:
        raise InputError(
            source, "", "neither a run with a result nor a campaign with one", "give results/, or a run in it"
        )
    return found, source


def _run(
    made: Bundle,
    graph: Graph,
    place: RunPlace,
    record: RunRecord,
    prefix: str,
    choices: Choices,
    all_given: list[Entity],
    all_left: list[Entity],
) -> None:
    """Put in a run with its judgements; what the workflow was given and left grows by it."""
    attempt = place.attempt(record.attempt)
    given = file_ids(
        [
            *_config(made, choices.config, f"settings/{record.setting}.yaml"),
            *made.copy_tree(attempt.payload, f"{prefix}inputs", ours=False),
        ]
    )
    if choices.with_reference:
        folder = choices.tasks / record.claim / "reference"
        made.copy_tree(folder, f"reference/{record.claim}", ours=False)
    shown = record.model_copy(update={"host": "", "job": None})
    left: list[Put | None] = [made.text(f"{prefix}run.json", to_json(shown) + "\n")]
    left += made.copy_tree(attempt.artifacts, f"{prefix}artifacts", ours=False)
    left += made.copy_tree(attempt.steps, f"{prefix}steps", ours=True)
    for path in (attempt.orchestration, attempt.trace, attempt.exchanges):
        if path.is_file():
            left.append(made.copy(attempt.root, path.name, f"{prefix}{path.name}", ours=True))
    refs = file_ids(left)
    all_given += given
    all_left += refs
    add_run(graph, record, title=_title(choices.tasks, record.claim), given=given, left=refs, about=choices.about)
    for evaluation, put in _evaluations(made, place, prefix, choices.with_reference):
        add_evaluation(graph, evaluation, given=refs, result=put, about=choices.about)
        all_left += file_ids([put])


def _evaluations(
    made: Bundle, place: RunPlace, prefix: str, with_reference: bool
) -> Iterator[tuple[EvaluationRecord, Put]]:
    for name in contents_of(place).evaluations:
        path = place.evaluations / name
        try:
            record = EvaluationRecord.read(path)
        except (InputError, OSError, ValueError, RecursionError):
            made.left.append(Left(f"{prefix}evaluations/{name}", None, "not a readable evaluation"))
            continue
        shown = record if with_reference else without_evidence(record, sha256_of(path))
        yield record, made.text(f"{prefix}evaluations/{name}", to_json(shown) + "\n")


def _tables(made: Bundle, results: Path) -> list[Put | None]:
    tables = Results(results).tables
    found = [name for name in _CAMPAIGN_FILES if (tables / name).is_file()]
    return [made.copy(tables, name, f"tables/{name}", ours=name.endswith((".csv", ".md"))) for name in found]


def _config(made: Bundle, config: Path, path: str) -> list[Put]:
    """The file at `path` below the configuration, once."""
    if path in made.files:
        return [made.files[path]]
    put = made.copy(config, path, path, ours=True) if (config / path).is_file() else None
    return [put] if put is not None else []


def _title(tasks: Path, claim: str) -> str | None:
    try:
        return claim_metadata(tasks / claim).title
    except (InputError, OSError):
        return None
