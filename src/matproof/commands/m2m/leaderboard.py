"""`matproof m2m leaderboard`: systems by mean composite, with intervals."""

from pathlib import Path

import click

from matproof.commands.m2m.analysis import LONG, PATH, chosen, output_option, published_option, scripted_options, tell


@click.command("leaderboard")
@click.argument("scores", type=PATH, nargs=-1, required=True)
@click.option(
    "--generation",
    "records",
    type=PATH,
    multiple=True,
    metavar="RECORD",
    help="OUTPUT.generation.json of a system: shows replies that made no row. Give it once a system.",
)
@output_option
@published_option
@scripted_options
def command(
    scores: tuple[Path, ...],
    records: tuple[Path, ...],
    out: Path | None,
    published: bool,
    scripted: tuple[str, ...],
    include_scripted: bool,
) -> None:
    """Rank the systems of SCORES files by their mean composite, with standard errors and 95 % intervals.

    Papers are resampled (bootstrap, fixed seed), and systems whose difference may be chance are named.

    \b
    Examples:
      matproof m2m leaderboard scores.parquet
      matproof m2m leaderboard a.parquet b.csv --published -o leaderboard.md
      matproof m2m leaderboard scores.parquet --generation a.parquet.generation.json
    """
    from matproof.suites.matter_to_mechanism.boards import leaderboard_text
    from matproof.suites.matter_to_mechanism.generation import read_records
    from matproof.suites.matter_to_mechanism.leaderboard import METHOD, Asked, leaderboard
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.tables.m2m import check_table, write_m2m
    from matproof.tables.m2m_published import published_numbers

    if out is not None:
        check_table(out, *scores, *records)
    whole = load_scores(scores)
    found = chosen(whole, scripted, include_scripted)
    left_out = set(whole.systems()) - set(found.systems())
    asked = {
        record.system: Asked(problems=record.problems, unusable=len(record.unusable), unfinished=record.unfinished)
        for record in read_records(records)
        if record.system not in left_out and (include_scripted or not record.scripted)
    }
    printed = published_numbers()
    progress = tell if len(found.frame) > LONG else _no
    rows = leaderboard(found, asked=asked, published=printed, scripted=scripted, progress=progress)
    notes = {**found.notes(), "method": METHOD}
    text = leaderboard_text(rows, notes, printed if published else None)
    click.echo(text, nl=False)
    if out is not None:
        write_m2m(out, "m2m_leaderboard", rows, notes, text)
        click.echo(f"\n{out}")


def _no(_: str) -> None:
    """A short table needs no progress."""
