"""`matproof evaluate`."""

from pathlib import Path

import click


@click.command("evaluate")
@click.argument("task", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--run", "run_json", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), help="…/run.json"
)
@click.option("--judge", "judge_file", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--manifest", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--models",
    "models_file",
    type=click.Path(path_type=Path),
    help="Providers and prices; by default models.yaml beside the directory of the judge.",
)
@click.option(
    "--campaign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Configuration with the campaign's budget; by default config.yaml beside the directory of the judge.",
)
@click.option(
    "--project",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where paths in judges start.",
)
@click.option("--allow-weaker", is_flag=True, help="Judge even where the sandbox can't enforce the policy.")
def command(
    task: Path,
    run_json: Path,
    judge_file: Path,
    manifest: Path,
    models_file: Path | None,
    campaign: Path | None,
    project: Path,
    allow_weaker: bool,
) -> None:
    """One judge's view of one run, beside its run.json.

    Exit status 0 also where the judge could not score: the record says `unscored` and why. 77 where the campaign's
    budget is used up: nothing was judged. Flags of a judge that is a program are told and change no exit status.

    \b
    Example:
      matproof evaluate tasks/MD-0002_lj-hcp-fcc --judge config/judges/checks.yaml \\
        --run results/runs/MD-0002_lj-hcp-fcc/scripted-orchestrated/1/run.json \\
        --manifest results/claims/MD-0002_lj-hcp-fcc/package/judge.json
    """
    from matproof.claims.payload import packaged_for
    from matproof.config.campaign import beside, budget_of
    from matproof.evaluation.worker import Assignment, evaluate
    from matproof.records.places import RunPlace

    packaged_for(manifest, task, "judge")
    record = evaluate(
        Assignment(
            task=task.resolve(),
            manifest=manifest.resolve(),
            judge_file=judge_file.resolve(),
            run=RunPlace(run_json.resolve().parent),
            models_file=(models_file or judge_file.resolve().parents[1] / "models.yaml").resolve(),
            budget=budget_of(campaign or beside(judge_file)),
            project=project.resolve(),
            allow_weaker=allow_weaker,
        ),
        lambda line: click.echo(f"{task.name}: {line}"),
    )
    if record.checks is not None:
        said = f"{record.checks.verdict}: {record.checks.explanation}"
    elif record.overall is not None:
        said = f"{record.overall} ({record.grade})"
    else:
        said = f"unscored: {record.reason}"
    click.echo(f"{task.name}: {record.judge}: {said}")
    for flag in record.detection.flags if record.detection is not None else ():
        place = flag.places[0]
        where = place.file if place.line is None else f"{place.file}:{place.line}"
        click.echo(f"{task.name}: {record.judge}: {flag.weight} flag {flag.detector} ({flag.total}): {where}")
