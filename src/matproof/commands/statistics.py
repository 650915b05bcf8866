"""`matproof statistics`: every number that a report may rest on, with its error, n, unscored and method."""

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--compare",
    nargs=2,
    metavar="FIRST SECOND",
    help="Show the paired comparison of two settings alone, by every dimension: is FIRST higher?",
)
@click.option(
    "--include-scripted/--leave-out-scripted",
    default=False,
    help="Whether settings count in which a script answered in place of a model.",
)
def command(results: Path, compare: tuple[str, str] | None, include_scripted: bool) -> None:
    """Compute the statistics of RESULTS from the tables that `gather` wrote, print them and write them beside those.

    Unscored runs are in no number and counted beside each. The paper's own numbers stand beside settings of its names.

    \b
    Examples:
      matproof statistics results
      matproof statistics results --compare orchestrated claude-code-sonnet
    """
    from matproof.tables.statistics import check_settings, statistics, write_statistics
    from matproof.tables.statistics_text import statistics_markdown

    rows = statistics(results, include_scripted=include_scripted, tell=lambda name: click.echo(f"… {name}", err=True))
    if compare is not None:
        check_settings(rows, compare)
    click.echo(statistics_markdown(rows, compare))
    for path in write_statistics(results, rows):
        click.echo(path)
