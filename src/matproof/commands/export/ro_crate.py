"""`matproof export ro-crate`: a run or a campaign as a research object."""

from pathlib import Path

import click


@click.command()
@click.argument("source", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), help="New directory, or file ending in .zip."
)
@click.option(
    "--tasks", type=click.Path(path_type=Path), default=Path("tasks"), show_default=True, help="Claim packages."
)
@click.option("--config", type=click.Path(path_type=Path), default=Path("config"), show_default=True, help="Settings.")
@click.option(
    "--snakefile",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("Snakefile"),
    show_default=True,
    help="The workflow; without one the crate describes processes only.",
)
@click.option("--with-reference", is_flag=True, help="Export what agents must never see, too: reference/ and evidence.")
@click.option("--max-file-mb", type=click.FloatRange(min=0), default=50, show_default=True, help="Largest file copied.")
@click.option("--max-total-mb", type=click.FloatRange(min=0), default=2000, show_default=True, help="All together.")
@click.option("--license", "licence", help="URL of the licence of what is exported.")
@click.option("--by", help="Who answers for the runs.")
def command(
    source: Path,
    out: Path,
    tasks: Path,
    config: Path,
    snakefile: Path,
    with_reference: bool,
    max_file_mb: float,
    max_total_mb: float,
    licence: str | None,
    by: str | None,
) -> None:
    """Write SOURCE, a run or a results directory, as a Workflow Run RO-Crate (Workflow Run Crate 0.5).

    \b
    Examples:
      matproof export ro-crate results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --out run.zip
      matproof export ro-crate results --out crate --license https://spdx.org/licenses/CC-BY-4.0
    """
    from matproof.export.crate import About
    from matproof.export.runs import Choices, export_crate

    choices = Choices(
        tasks=tasks,
        config=config,
        snakefile=snakefile,
        with_reference=with_reference,
        most_file=int(max_file_mb * 1e6),
        most_total=int(max_total_mb * 1e6),
        about=About(licence=licence, by=by),
    )
    made = export_crate(source, out, choices)
    if snakefile.name not in made.files:
        click.echo(f"{snakefile}: no workflow there that can leave: a Process Run Crate, without one", err=True)
    for left in made.left:
        click.echo(f"left out: {left.path}: {left.reason}", err=True)
    click.echo(f"{out}: {len(made.files)} files, {made.total:,} bytes, {len(made.left)} left out")
