"""`matproof reproduce`."""

from pathlib import Path

import click


@click.command("reproduce")
@click.argument("task", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--setting", "setting_file", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--manifest", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="…/runs/CLAIM/SETTING/REPEAT/run.json")
@click.option(
    "--models",
    "models_file",
    type=click.Path(path_type=Path),
    help="Providers and prices; by default models.yaml beside the directory of the setting.",
)
@click.option(
    "--campaign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Configuration with the campaign's budget; by default config.yaml beside the directory of the setting.",
)
@click.option(
    "--project",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where paths in settings start.",
)
@click.option("--walltime-min", type=float, help="Limit of the batch job, in minutes; the run ends in time before it.")
@click.option(
    "--allow-weaker",
    is_flag=True,
    help="Run even where the sandbox can't enforce the policy; recorded in every result.",
)
def command(
    task: Path,
    setting_file: Path,
    manifest: Path,
    out: Path,
    models_file: Path | None,
    campaign: Path | None,
    project: Path,
    walltime_min: float | None,
    allow_weaker: bool,
) -> None:
    """One attempt of one agent at one claim, in a sandbox.

    Exit status 0 for every outcome that can be described, also where the agent failed; 75 where the node, the sandbox
    or the model provider failed and another try makes sense; 77 where the campaign's budget is used up: the run was not
    started, or was cut and does not count; 78 where the sandbox refused.

    \b
    Example:
      matproof reproduce tasks/MD-0002_lj-hcp-fcc --setting config/settings/scripted-orchestrated.yaml \\
        --manifest results/claims/MD-0002_lj-hcp-fcc/package/agent.json \\
        --out results/runs/MD-0002_lj-hcp-fcc/scripted-orchestrated/1/run.json
    """
    from matproof.agents.worker import Assignment, reproduce
    from matproof.claims.payload import packaged_for
    from matproof.config.campaign import beside, budget_of
    from matproof.records.places import run_place

    packaged_for(manifest, task, "agent")
    record = reproduce(
        Assignment(
            task=task.resolve(),
            manifest=manifest.resolve(),
            setting_file=setting_file.resolve(),
            run=run_place(out, task.resolve().name, setting_file.stem),
            models_file=(models_file or setting_file.resolve().parents[1] / "models.yaml").resolve(),
            budget=budget_of(campaign or beside(setting_file)),
            project=project.resolve(),
            allow_weaker=allow_weaker,
            walltime_min=walltime_min,
        ),
        lambda line: click.echo(f"{task.name}: {line}"),
    )
    because = f" ({record.reason})" if record.reason else ""
    drift = "" if record.drift is None else f", drift {record.drift}"
    click.echo(f"{task.name}: {record.outcome}{because} in {record.seconds:.1f} s{drift}")
