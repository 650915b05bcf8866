"""`matproof m2m validate`: agreement of the ranking with text similarity."""

from pathlib import Path

import click

from matproof.commands.m2m.analysis import PATH, chosen, output_option, published_option, scripted_options, tell


@click.command("validate")
@click.argument("rows", type=PATH)
@click.argument("scores", type=PATH)
@click.option("--reference", default="Reference", show_default=True, help="System that wrote the references.")
@click.option(
    "--embedding-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=None,
    help="Directory of a local transformers model, for BERTScore and embedding cosine; without it they are skipped.",
)
@click.option(
    "--kept", type=PATH, default=None, help="Where values are kept as they come. Default: OUTPUT.pairs.jsonl."
)
@output_option
@published_option
@scripted_options
def command(
    rows: Path,
    scores: Path,
    reference: str,
    embedding_dir: Path | None,
    kept: Path | None,
    out: Path | None,
    published: bool,
    scripted: tuple[str, ...],
    include_scripted: bool,
) -> None:
    """Compare the ranking by composite with BLEU, ROUGE-L, BERTScore and embedding cosine.

    SCORES is what `matproof m2m score` made of ROWS. Every hypothesis is compared with the reference of its paper.
    With --kept or -o, values are kept as they come, and a stopped run goes on from there.

    \b
    Examples:
      matproof m2m validate rows.csv scores.parquet
      matproof m2m validate rows.csv scores.parquet --embedding-dir models/minilm -o validation.parquet
    """
    from matproof.suites.matter_to_mechanism.aligned import with_texts
    from matproof.suites.matter_to_mechanism.board_validation import validation_text
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.suites.matter_to_mechanism.similarity import NEED_A_MODEL, lexical, neural
    from matproof.suites.matter_to_mechanism.validation import (
        HYPOTHESIS,
        left_out_text,
        matched,
        skipped_row,
        validation,
    )
    from matproof.tables.m2m import check_table, write_m2m
    from matproof.tables.m2m_published import published_numbers

    if out is not None:
        check_table(out, rows, scores)
    scored = with_texts(load_scores([scores]), rows, [HYPOTHESIS], reader="`m2m validate`")
    compared = matched(chosen(scored, scripted, include_scripted), reference)
    measures = lexical() + (neural(embedding_dir) if embedding_dir else [])
    if kept is None and out is not None:
        kept = out.with_name(f"{out.name}.pairs.jsonl")
    printed = published_numbers()
    table = validation(compared, measures, published=printed, scripted=scripted, kept=kept, progress=tell)
    if embedding_dir is None:
        table += [skipped_row(name, "no --embedding-dir", printed) for name in NEED_A_MODEL]
    notes = {**scored.notes(), "reference": reference, "left_out": left_out_text(compared.left_out)}
    text = validation_text(table, notes, beside=published)
    click.echo(text, nl=False)
    if out is not None:
        write_m2m(out, "m2m_validation", table, notes, text)
        click.echo(f"\n{out}")
