"""`matproof m2m gather`: rows files of several systems into one."""

from pathlib import Path

import click


@click.command("gather")
@click.argument("rows", type=click.Path(path_type=Path, dir_okay=False), nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Rows file: .parquet or .csv.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of CSV and JSONL files without byte order mark.")
def command(rows: tuple[Path, ...], output: Path, encoding: str) -> None:
    """Put the rows of several files into one, in order: the literature's and each system's.

    Each file needs the column `system` and those that scores need; a system may have a paper once.

    \b
    Examples:
      matproof m2m gather problems.csv mine.jsonl -o rows.parquet
      matproof m2m score rows.parquet -o scores.parquet
    """
    from matproof.suites.matter_to_mechanism.gathering import gather
    from matproof.tables.words import one_line

    counts = gather(rows, output, encoding)
    for system, count in counts.items():
        click.echo(f"{one_line(system)}: {count} rows")
    click.echo(str(output))
