"""`matproof gather`: runs and evaluations into tables and the leaderboard."""

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--tasks",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tasks"),
    show_default=True,
    help="Directory of claim packages, for titles and categories.",
)
@click.option(
    "--include-scripted/--leave-out-scripted",
    default=False,
    help="Whether the leaderboard shows settings in which a script answered in place of a model.",
)
def command(results: Path, tasks: Path, include_scripted: bool) -> None:
    """Build the tables and the leaderboard of RESULTS; only new and changed runs are read.

    A run or evaluation that can't be read is left out, named on standard error and listed in the table `problems`;
    the exit code stays 0, because the other runs' tables are good.

    \b
    Examples:
      matproof gather results
      matproof gather results --tasks tasks --include-scripted
    """
    from matproof.tables.gather import gather, leaderboard_text
    from matproof.tables.words import one_line, plural

    summary = gather(results, tasks, include_scripted)
    parts = [(summary.new, "new"), (summary.changed, "changed"), (summary.unchanged, "unchanged")]
    told = ", ".join(f"{number} {word}" for number, word in parts if number or word != "changed")
    states = {"lost to infrastructure": summary.infrastructure, "unfinished": summary.unfinished}
    rest = [f"{number} {word}" for word, number in states.items() if number]
    rest += [plural(summary.vanished, "vanished run")] if summary.vanished else []
    rest += [plural(len(summary.problems), "problem")] if summary.problems else []
    click.echo(f"runs: {summary.runs} ({told})" + "".join(f" · {part}" for part in rest))
    for row in summary.problems:
        where = f"{row['file']}: {row['field']}" if row["field"] else row["file"]
        said = f"{where}: {row['problem']}; {row['remedy']}"
        click.echo(f"left out: {one_line(said, 600)}", err=True)
    click.echo(f"\n{leaderboard_text(results)}")
    for path in summary.files:
        click.echo(path)
