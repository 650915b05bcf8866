"""`matproof check`: validate claim packages."""

import sys
from pathlib import Path

import click


@click.command()
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
def command(directories: tuple[Path, ...], as_json: bool) -> None:
    """Validate claim packages: one line a problem, all problems of all packages; exit code 1 if there is any.

    DIR is a package or a directory of packages.

    \b
    Examples:
      matproof check tasks
      matproof check tasks/MD-0002_lj-hcp-fcc other/*
      matproof check --json tasks | jq .problems
    """
    from matproof.claims.checks import check, summary
    from matproof.claims.problems import one_line
    from matproof.core.files import to_json

    report = check(directories)
    if as_json:
        found = [problem.as_json() for problem in report.problems]
        packages = [one_line(str(path)) for path in report.packages]
        notes = [one_line(note) for note in report.notes]
        click.echo(to_json({"packages": packages, "problems": found, "notes": notes}))
    else:
        for problem in report.problems:
            click.echo(problem.line())
        for note in report.notes:
            click.echo(one_line(f"note: {note}"))
        click.echo(summary(report))
    sys.exit(1 if report.problems else 0)
