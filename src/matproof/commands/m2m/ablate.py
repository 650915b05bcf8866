"""`matproof m2m ablate`: ranks under other weights and lexicons, redundancy, contamination, breakdowns."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from matproof.commands.m2m.analysis import LONG, PATH, chosen, output_option, published_option, scripted_options, tell

if TYPE_CHECKING:
    from matproof.tables.columns import Row


@click.command("ablate")
@click.argument("rows", type=PATH)
@click.argument("scores", type=PATH)
@click.option(
    "--also",
    type=PATH,
    multiple=True,
    metavar="SCORES",
    help="Scores of the same rows under another profile: shows how the ranks move.",
)
@click.option(
    "--profile",
    default="published",
    show_default=True,
    help="Profile whose rare terms are counted: a shipped name or a YAML file.",
)
@output_option
@published_option
@scripted_options
def command(
    rows: Path,
    scores: Path,
    also: tuple[Path, ...],
    profile: str,
    out: Path | None,
    published: bool,
    scripted: tuple[str, ...],
    include_scripted: bool,
) -> None:
    """Show what the ranking rests on: weights, lexicon, redundant metrics, contamination, kinds of problem.

    SCORES is what `matproof m2m score` made of ROWS.

    \b
    Examples:
      matproof m2m ablate rows.csv scores.parquet
      matproof m2m score rows.csv --profile word -o word.parquet
      matproof m2m ablate rows.csv scores.parquet --also word.parquet -o ablation.parquet
    """
    from matproof.suites.matter_to_mechanism import ablation
    from matproof.suites.matter_to_mechanism.aligned import with_texts
    from matproof.suites.matter_to_mechanism.board_ablation import ablation_text
    from matproof.suites.matter_to_mechanism.lexicon import load_profile
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.suites.matter_to_mechanism.weights import by_profiles, by_weights
    from matproof.tables.m2m import check_table, write_m2m
    from matproof.tables.m2m_published import published_numbers

    if out is not None:
        check_table(out, rows, scores, *also)
    lexicon, printed = load_profile(profile), published_numbers()
    whole = with_texts(load_scores([scores]), rows, ablation.NEEDED, reader="`m2m ablate`", optional=("year",))
    found = chosen(whole, scripted, include_scripted)
    kept = found.frame.index
    others = [load_scores([path]) for path in also]
    for path, other in zip(also, others, strict=True):
        _same_rows(path, len(other.frame), len(whole.frame))
    profiles = [found, *(other.only(kept) for other in others)]
    parts: dict[str, Callable[[], list[Row]]] = {
        "weights": lambda: by_weights(found, published=printed, scripted=scripted),
        "lexicon profiles": lambda: by_profiles(profiles, scripted=scripted),
        "redundancy": lambda: ablation.redundancy(found, scripted=scripted),
        "contamination": lambda: ablation.contamination(found, lexicon, published=printed, scripted=scripted),
        "breakdowns": lambda: ablation.breakdown(found, scripted=scripted),
    }
    table: list[Row] = []
    for number, (name, rows_of) in enumerate(parts.items(), start=1):
        if len(found.frame) > LONG:
            tell(f"{number} of {len(parts)}: {name}")
        table += rows_of()
    none = "one profile only; score the rows with another one and pass it with --also"
    notes = {**found.notes(), "profiles": none, "rare_terms": f"{lexicon.name} {lexicon.sha256}"}
    text = ablation_text(table, notes, beside=published)
    click.echo(text, nl=False)
    if out is not None:
        write_m2m(out, "m2m_ablation", table, notes, text)
        click.echo(f"\n{out}")


def _same_rows(path: Path, given: int, wanted: int) -> None:
    """Raises InputError where `--also` has another number of rows."""
    from matproof.core.errors import InputError

    if given != wanted:
        raise InputError(path, "--also", f"has {given} rows, not {wanted}", "score the same rows with both profiles")
