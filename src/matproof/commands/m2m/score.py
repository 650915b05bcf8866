"""`matproof m2m score`: a rows file in, a scores file out."""

from pathlib import Path

import click


@click.command()
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Scores file: .parquet or .csv.")
@click.option(
    "--profile", default="published", show_default=True, metavar="published|word|FILE", help="Lexicon profile."
)
@click.option(
    "--cge",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Judged soundness (paper_id, system, cge from 0 to 1): a tenth of CBS.",
)
@click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV or JSONL file without byte order mark.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="For the neighbour search.")
@click.option("--approximate", is_flag=True, help="Search neighbours approximately; the output says so.")
def command(
    rows: Path, output: Path, profile: str, cge: Path | None, encoding: str, threads: int, approximate: bool
) -> None:
    """Six scores, their composite and taxonomy flags for every row of ROWS (.csv, .jsonl, .parquet), in its order.

    No model is asked. Scores do not depend on the order of rows or the number of threads.

    \b
    Examples:
      matproof m2m score rows.csv -o scores.parquet
      matproof m2m score rows.jsonl -o scores.csv --profile word
      matproof m2m score large.parquet -o scores.parquet --threads 8
    """
    import gc
    import os

    # Nothing here uses its threads, and starting them costs more than reading the rows.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    collecting = gc.isenabled()
    gc.disable()  # nothing here makes cycles; looking for them among all texts costs as much as reading the rows
    try:
        from matproof.suites.matter_to_mechanism.score_command import run

        lines = run(
            rows,
            output,
            profile=profile,
            cge=cge,
            encoding=encoding,
            threads=threads,
            approximate=approximate,
        )
    finally:
        gc.freeze()  # nor when the program ends
        if collecting:
            gc.enable()
    for line in lines:
        click.echo(line)
