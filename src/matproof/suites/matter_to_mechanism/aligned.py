"""Scores beside the rows that they are of: a scores file has one row per row, in the same order."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import ALL_ROWS, SYSTEM
from matproof.suites.matter_to_mechanism.rows import read_rows, require
from matproof.suites.matter_to_mechanism.scored import Scored
from matproof.tables.words import one_line


def with_texts(
    scored: Scored, rows: Path, columns: Sequence[str], *, reader: str, optional: Sequence[str] = ()
) -> Scored:
    """`scored` with the text `columns` of the rows file, and those of `optional` that it has. `reader` needs them.

    Raises InputError for a missing column, and where the two files do not have the same rows in the same order.
    """
    table = read_rows(rows, columns=["paper_id", SYSTEM, *columns, *optional])
    require(table, rows, dict.fromkeys(["paper_id", *columns], reader))
    remedy = "give the rows that were scored, in their order"
    if table.num_rows != len(scored.frame):
        problem = f"{table.num_rows} rows, but {len(scored.frame)} scores"
        raise InputError(rows, "", problem, remedy)
    names = table.column(SYSTEM).to_pylist() if SYSTEM in table.column_names else [ALL_ROWS] * table.num_rows
    scores = list(zip(scored.frame["paper_id"], scored.frame[SYSTEM], strict=True))
    keys = zip(table.column("paper_id").to_pylist(), names, strict=True)
    for number, (key, score) in enumerate(zip(keys, scores, strict=True), start=1):
        if key != score:
            problem = f"is {one_line(' of '.join(key), 80)}, its score is of {one_line(' of '.join(score), 80)}"
            raise InputError(rows, f"row {number}", problem, remedy)
    given = [*columns, *(name for name in optional if name in table.column_names)]
    texts = {name: table.column(name).to_pandas().astype("str").to_numpy() for name in given}
    return replace(scored, frame=scored.frame.assign(**texts))
