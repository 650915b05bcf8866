"""Rows files: tables of problems and hypotheses as CSV, JSONL or Parquet, always read as text.

`read_rows` gives every column as text and a missing cell as the empty string, whatever the file's format, so that the
same table scores the same from each of them. Missing are: an empty cell, JSON null, NaN, a Parquet null, and in CSV
the spellings that table programs read as missing (`NA`, `NaN`, `null` …). A number is written as JSON writes it, a
whole one without `.0`; a list becomes its items joined by `; `.

`write_table` writes Parquet or CSV by the path's ending, atomically. Its metadata (text keys and values) goes into
the Parquet schema with the prefix `matproof.`, for CSV into a JSON file beside it, named as the CSV with `.meta.json`
added.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import (
    ALL_ROWS,
    PROBLEM_COLUMNS,
    ROW_COLUMNS,
    SOLUTION_COLUMNS,
    SYSTEM,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ALL_ROWS",
    "PROBLEM_COLUMNS",
    "ROW_COLUMNS",
    "SOLUTION_COLUMNS",
    "SYSTEM",
    "read_metadata",
    "read_rows",
    "require",
    "steps",
    "write_table",
]

_TAG = re.compile(r"\[(begin|end) step (\d+)\]")
_PREFIX = "matproof."


def read_rows(path: Path, *, columns: Sequence[str] | None = None, encoding: str = "utf-8") -> "pa.Table":
    """The rows at `path` (`.csv`, `.jsonl`, `.parquet`) as a table of text columns without nulls, in the file's order.

    With `columns`, only those of them that the file has. `encoding` is for CSV and JSONL without a byte order mark.
    Raises InputError where the file is missing, of another kind, in another encoding, malformed or without a row.
    """
    from matproof.suites.matter_to_mechanism import formats

    path = Path(path)
    readers = {".csv": formats.read_csv, ".jsonl": formats.read_jsonl, ".parquet": formats.read_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(path, "", "not a rows file by its ending", "name it .csv, .jsonl or .parquet")
    if not path.is_file():
        problem = "is not a file" if path.exists() else "no such file"
        raise InputError(path, "", problem, "create it, or correct the path")
    table = reader(path, columns, encoding)
    if table.num_rows == 0:
        raise InputError(path, "", "has no rows", "write at least one row below the column names")
    return table


def require(table: "pa.Table", path: Path, needed: Mapping[str, str]) -> None:
    """Check that `table` has the columns of `needed` (name → who needs it). Raises InputError naming the first lost."""
    for name, reader in needed.items():
        if name not in table.column_names:
            raise InputError(path, name, f"no such column, needed by {reader}", "add it; its cells may be empty")


def write_table(table: "pa.Table", path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write `table` as Parquet or CSV by the ending of `path`, atomically. Raises InputError on another ending."""
    from matproof.suites.matter_to_mechanism import formats

    path = Path(path)
    notes = dict(metadata or {})
    if path.suffix.lower() == ".parquet":
        formats.write_parquet(table, path, {_PREFIX + key: value for key, value in notes.items()})
    elif path.suffix.lower() == ".csv":
        formats.write_csv(table, path, notes)
    else:
        raise InputError(path, "", "not a table by its ending", "name it .parquet or .csv")


def read_metadata(path: Path) -> dict[str, str]:
    """What `write_table` was given as metadata; empty where there is none. Raises InputError."""
    from matproof.suites.matter_to_mechanism import formats

    path = Path(path)
    if path.suffix.lower() == ".parquet":
        stored = formats.parquet_metadata(path)
        return {key.removeprefix(_PREFIX): value for key, value in stored.items() if key.startswith(_PREFIX)}
    return formats.csv_metadata(path)


def steps(reasoning: str) -> list[str]:
    """The reasoning steps of a row, lower-cased and stripped, in order; empty ones are left out.

    A step is the text from `[Begin Step k]` to the nearest `[End Step k]` with the same k after it, in any case. A
    begin tag whose end is missing opens nothing; tags inside a step belong to its text. Linear in the text's length.
    """
    return lower_steps(reasoning.lower())


def lower_steps(reasoning: str) -> list[str]:
    """`steps` of a text that is lower-cased already."""
    found = (reasoning[start:end].strip() for start, end in step_spans(reasoning))
    return [step for step in found if step]


def step_spans(reasoning: str) -> list[tuple[int, int]]:
    """Where the steps of a lower-cased text start and end, empty ones included."""
    if "[begin step " not in reasoning:
        return []
    tags = list(_TAG.finditer(reasoning))
    ends: dict[str, list[int]] = {}
    for index in range(len(tags) - 1, -1, -1):
        if tags[index][1] == "end":
            ends.setdefault(tags[index][2], []).append(index)
    found = []
    index = 0
    while index < len(tags):
        kind, number = tags[index].groups()
        waiting = ends.get(number, [])
        while waiting and waiting[-1] < index:
            waiting.pop()
        if kind == "begin" and waiting:
            found.append((tags[index].end(), tags[waiting[-1]].start()))
            index = waiting[-1]
        index += 1
    return found
