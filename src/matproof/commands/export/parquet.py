"""`matproof export parquet`: the tables as a data set."""

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), help="New directory, or file ending in .zip."
)
@click.option(
    "--tasks", type=click.Path(path_type=Path), default=Path("tasks"), show_default=True, help="Claim packages."
)
@click.option("--with-reference", is_flag=True, help="Export what agents must never see, too.")
@click.option("--license", "licence", help="Identifier of the licence, for the card.")
def command(results: Path, out: Path, tasks: Path, with_reference: bool, licence: str | None) -> None:
    """Write the tables of RESULTS with a data card and a manifest of hashes.

    \b
    Examples:
      matproof export parquet results --out dataset --license cc-by-4.0
    """
    from matproof.export.dataset import export_tables

    made = export_tables(results, out, tasks=tasks, with_reference=with_reference, licence=licence)
    click.echo(f"{out}: {len(made.files)} files, {made.total:,} bytes")
