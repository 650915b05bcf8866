"""`matproof m2m attack`: rows that game the metrics, and what they gain."""

from pathlib import Path
from typing import Any

import click

from matproof.commands.m2m.asking import answering, model_options, script_option, told, unfinished

STYLES = ("jargon", "mirror", "verbose")


@click.command("attack")
@click.argument("rows", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="Rows, or with --deltas their table."
)
@click.option("--style", type=click.Choice((*STYLES, "all")), default="all", show_default=True)
@click.option("-n", type=click.IntRange(1), default=75, show_default=True, help="Rows to attack in each style.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which rows are drawn, and which words.")
@click.option("--system", help="Whose rows to attack, where ROWS holds several systems.")
@click.option("--model", help="Let this model write the attacks; by default a program does.")
@click.option("--deltas", "compare", is_flag=True, help="ROWS are scores of an attacked table: write what it gained.")
@script_option
@model_options
def command(
    rows: Path,
    output: Path,
    style: str,
    n: int,
    seed: int,
    system: str | None,
    model: str | None,
    compare: bool,
    script: Path | None,
    **asking: Any,
) -> None:
    """Write rows that look aligned to their problem and say nothing, beside the originals they are made from.

    OUTPUT holds the drawn originals and for each style their twins, as a system of its own: `NAME+jargon`,
    `NAME+mirror`, `NAME+verbose`. Score it as a whole, then ask for the deltas.

    \b
    Examples:
      matproof m2m attack reference.csv -o attacked.parquet --seed 1
      matproof m2m score attacked.parquet -o attacked_scores.parquet
      matproof m2m attack attacked_scores.parquet --deltas -o attacks.parquet
    """
    from matproof.core.outputs import check_output
    from matproof.suites.matter_to_mechanism.attacking import attacked_table, by_program, draw
    from matproof.suites.matter_to_mechanism.rows import read_rows, require, write_table

    if compare:
        _compare(rows, output)
        return
    _check(output, model, script)
    check_output(output, rows)
    table = read_rows(rows)
    needed = ("paper_id", "problem_statement", "failure_mode_or_limitation", "hypothesis")
    require(table, rows, dict.fromkeys(needed, "attack"))
    drawn = draw(table, rows, system=system, n=n, seed=seed)
    styles = STYLES if style == "all" else (style,)
    error = None
    if model is None:
        attacked, writer, said = by_program(drawn.rows, styles, seed=seed), "programmatic", ""
    else:
        from matproof.suites.matter_to_mechanism.answering import calls_file, open_answerer
        from matproof.suites.matter_to_mechanism.asking import Asker
        from matproof.suites.matter_to_mechanism.attack_models import by_model
        from matproof.suites.matter_to_mechanism.interview import cost_words

        answerer = open_answerer(answering(model, asking, script=script))
        with Asker(answerer.asked, calls_file(output, answerer)) as asker:
            done = by_model(drawn.rows, styles, asker, parallel=asking["parallel"])
            usage, remembered = asker.usage(), asker.remembered
        attacked, writer = done.attacked, done.writer
        cost = cost_words(usage.cost_usd, scripted=answerer.asked.backend.scripted)
        said = f" · {usage.requests} requests, {remembered} from the record · {cost}"
        told(done.unusable, "replies without a hypothesis, no row")
        total = len(drawn.rows) * len(styles)
        error = unfinished(done.worked.stopped, done.worked.lost, done.worked.unfinished(total), total)
        if error is not None and not asking["partial"]:
            raise error
    write_table(attacked_table(drawn.rows, attacked, writer=writer), output, {"seed": str(seed), "writer": writer})
    counts = ", ".join(f"{len(twins)} {name}" for name, twins in attacked.items())
    click.echo(f"{len(drawn.rows)} originals of {drawn.of}, {counts}{said}")
    if error is not None:
        raise error
    click.echo(output)


def _compare(scores: Path, output: Path) -> None:
    from matproof.core.errors import InputError
    from matproof.suites.matter_to_mechanism.attack_deltas import deltas, deltas_text
    from matproof.suites.matter_to_mechanism.scored import load_scores
    from matproof.tables.m2m import check_table, write_m2m
    from matproof.tables.m2m_published import published_numbers

    check_table(output, scores)
    scored = load_scores([scores])
    rows = deltas(scored.frame, scored.frame, published=published_numbers())
    if not rows:
        remedy = "score the whole table that `matproof m2m attack` wrote"
        raise InputError(scores, "system", "has no attacked system beside its original", remedy)
    text = deltas_text(rows)
    write_m2m(output, "m2m_attacks", rows, scored.notes(), f"# Attacks\n\n{text}\n")
    click.echo(text)
    click.echo(output)


def _check(output: Path, model: str | None, script: Path | None) -> None:
    from matproof.core.errors import InputError

    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(output, "", "not a table by its ending", "name it .parquet or .csv")
    if model is None and script is not None:
        raise InputError(
            "--script", "", "a program writes these attacks, no model is asked", "add --model, or leave it out"
        )
