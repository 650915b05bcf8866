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
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Calibration kit whose `matproof calibrate report` is shown on a page.",
)
def command(results: Path, tasks: Path, out: Path | None, calibration: Path | None) -> None:
    """Write a site that opens from disk, without network: figures, every setting, claim and run, two settings compared.

    It shows what `matproof gather` found (and `matproof statistics`, where it has run); run that first. Pages whose
    runs did not change are left as they are.

    \b
    Examples:
      matproof report results
      matproof report results --out /var/www/matproof
      matproof report results --calibration calibration
    """
    import os

    from matproof.records.places import Results
    from matproof.report.site import build_site

    def progress(done: int, of: int) -> None:
        if done % 500 == 0:
            click.echo(f"{done:,} of {of:,} pages of runs", err=True)

    site = build_site(
        results,
        tasks,
        out or Results(results).report,
        calibration=calibration,
        workers=min(8, len(os.sched_getaffinity(0))),
        progress=progress,
    )
    click.echo(site)
