"""`matproof m2m report`: the suite's page of the report."""

from pathlib import Path

import click


@click.command("report")
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=None, help="Site. Default: RESULTS/report."
)
def command(results: Path, out: Path | None) -> None:
    """Write m2m.html from the suite's tables in RESULTS/tables, beside the other pages of the report.

    \b
    Examples:
      matproof m2m report results
      matproof m2m report results --out site
    """
    from matproof.records.places import Results
    from matproof.report.m2m_page import write_m2m_page

    click.echo(str(write_m2m_page(results, out or Results(results).report)))
