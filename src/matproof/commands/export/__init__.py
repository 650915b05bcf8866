"""`matproof export`: runs and tables in forms that others read."""

import click

from matproof.commands.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "ro-crate": ("ro_crate", "A run or a campaign as a Workflow Run RO-Crate."),
    "parquet": ("parquet", "The tables with a data card and a manifest of hashes."),
    "trace": ("trace", "A transcript as an ATIF trajectory or an Inspect log."),
}
"""Subcommand → (module below matproof.commands.export whose `command` it is, one-line help)."""


@click.group("export", cls=LazyGroup, package="matproof.commands.export", table=COMMANDS)
def command() -> None:
    """Export runs and tables, with where every file came from; hidden material, secrets and paths stay.

    \b
    Examples:
      matproof export ro-crate results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --out run.zip
      matproof export parquet results --out dataset
      matproof export trace results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --format atif -o trajectory.json
      matproof export COMMAND --help
    """
