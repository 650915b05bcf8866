"""`matproof report`: tables into a static site."""

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--tasks",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tasks"),
    show_default=True,
    help="Directory of claim packages, for the text of claims.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Where the site is written.  [default: RESULTS/report]",
)
def command(results: Path, tasks: Path, out: Path | None) -> None:
    """Write a site that opens from disk, without network: the leaderboard and a page per run.

    It shows what `matproof gather` found; run that first.

    \b
    Examples:
      matproof report results
      matproof report results --out /var/www/matproof
    """
    from matproof.records.places import Results
    from matproof.report.site import build_site

    click.echo(build_site(results, tasks, out or Results(results).report))
