"""`matproof m2m taxonomy`: how often each system makes each kind of error."""

from pathlib import Path

import click

from matproof.commands.m2m.analysis import PATH, chosen, output_option, published_option, scripted_options


@click.command("taxonomy")
@click.argument("scores", type=PATH, nargs=-1, required=True)
@output_option
@published_option
@scripted_options
def command(
    scores: tuple[Path, ...], out: Path | None, published: bool, scripted: tuple[str, ...], include_scripted: bool
) -> None:
    """Count the six error flags of SCORES files per system, as rates with 95 % Wilson intervals.

    A flag is unknown where a score that its rule needs is missing; unknown ones are in no rate.

    \b
    Examples:
      matproof m2m taxonomy scores.parquet
      matproof m2m taxonomy scores.parquet --published -o taxonomy.parquet
    """
    from matproof.suites.matter_to_mechanism.boards import taxonomy_text
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.suites.matter_to_mechanism.taxonomy import METHOD, taxonomy
    from matproof.tables.m2m import check_table, write_m2m
    from matproof.tables.m2m_published import published_numbers

    if out is not None:
        check_table(out, *scores)
    found = chosen(load_scores(scores), scripted, include_scripted)
    rows = taxonomy(found, published=published_numbers(), scripted=scripted)
    notes = {**found.notes(), "method": METHOD}
    text = taxonomy_text(rows, notes, beside=published)
    click.echo(text, nl=False)
    if out is not None:
        write_m2m(out, "m2m_taxonomy", rows, notes, text)
        click.echo(f"\n{out}")
