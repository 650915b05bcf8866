"""`matproof import-submissions`: experts' submissions into claim packages."""

import sys
from pathlib import Path

import click


@click.command("import-submissions")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Directory for the packages.")
def command(files: tuple[Path, ...], out: Path) -> None:
    """Turn experts' submissions (YAML or JSON) into one claim package a claim.

    Every claim becomes a package or a line that says why not. Packages that are there already stay as they are.
    Exit code 1 where a file could not be read or a package was there already.

    \b
    Examples:
      matproof import-submissions submissions/*.yaml --out tasks
      matproof import-submissions one.json --out /tmp/imported && matproof check /tmp/imported
    """
    from matproof.claims.problems import one_line
    from matproof.claims.submissions import import_submissions

    result = import_submissions(files, out)
    for package in result.packages:
        click.echo(one_line(f"written: {package}"))
    for label, lines in (
        ("note", result.notes),
        ("not reproducible", result.not_reproducible),
        ("dropped", result.dropped),
        ("failed", result.failed),
    ):
        for line in lines:
            click.echo(one_line(f"{label}: {line}"))
    click.echo(
        f"{len(result.packages)} packages written, {len(result.not_reproducible)} claims not reproducible, "
        f"{len(result.dropped)} claims dropped, {len(result.failed)} failures"
    )
    sys.exit(1 if result.failed else 0)
