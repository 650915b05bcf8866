"""Tables on disk: Parquet with a fixed schema, written atomically, the same bytes for the same rows."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError
from matproof.core.files import write_bytes
from matproof.records.places import Results
from matproof.tables.columns import TABLES, TABLES_VERSION, Row, arrow_schema


def table_path(results: Path, name: str) -> Path:
    """Where the table `name` is."""
    return Results(results).tables / f"{name}.parquet"


def write_table(results: Path, name: str, rows: Sequence[Row], metadata: dict[str, str] | None = None) -> Path:
    """Write `rows` as the table `name`. Missing keys become null; unknown ones are a bug and raise KeyError."""
    known = {column.name for column in TABLES[name]}
    for row in rows:
        if unknown := set(row) - known:
            raise KeyError(f"table {name} has no column {sorted(unknown)}")
    return write_arrow(results, name, as_arrow(name, rows, metadata))


def as_arrow(name: str, rows: Sequence[Row], metadata: dict[str, str] | None = None) -> Any:
    """`rows` as an Arrow table with the schema of `name`."""
    lines = [json.dumps(row, ensure_ascii=False, default=_plain).encode("utf-8", "replace") for row in rows]
    return parsed(lines, arrow_schema(name, metadata))


def _plain(value: Any) -> Any:
    """A number of numpy's as one of Python's."""
    return value.item()


def parsed(lines: Sequence[bytes], schema: Any) -> Any:
    """Lines of JSON as an Arrow table of exactly this schema; raises ArrowInvalid where they don't fit it.

    By way of JSON, because pyarrow reads it with all processors. To convert Python's own lists it imports pandas, which
    takes as long as all else that a refresh of the tables does.
    """
    import pyarrow as pa
    import pyarrow.json as pj

    if not lines:
        return pa.Table.from_batches([], schema=schema)
    table = pj.read_json(
        pa.BufferReader(b"\n".join([*lines, b""])),
        read_options=pj.ReadOptions(block_size=max(1 << 20, 2 * max(map(len, lines)))),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )
    return table.select(schema.names).replace_schema_metadata(schema.metadata).combine_chunks()


def write_arrow(results: Path, name: str, table: Any) -> Path:
    """Write an Arrow table with the schema of `name`, in one piece, as the table `name`."""
    path = table_path(results, name)
    write_bytes(path, parquet_bytes(table))
    return path


def parquet_bytes(table: Any) -> bytes:
    """An Arrow table in one piece as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_arrow(results: Path, name: str) -> Any:
    """The table `name` as a pyarrow Table. Raises InputError where it is missing, broken or of another version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = table_path(results, name)
    if not path.is_file():
        raise InputError(path, "", "no such table", f"run `matproof gather {results}` first")
    try:
        # One file, not a data set: directory names such as `setting=x` on the way must not become columns.
        table = pq.ParquetFile(path).read()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(path, "", "not a readable Parquet file", f"run `matproof gather {results}` again") from error
    version = (table.schema.metadata or {}).get(b"matproof.schema_version", b"none").decode()
    if version != str(TABLES_VERSION):
        remedy = f"run `matproof gather {results}` again"
        raise InputError(path, "schema_version", f"is {version}, this version reads {TABLES_VERSION}", remedy)
    return table


def plain_rows(table: Any, **only: Any) -> list[Row]:
    """The rows of an Arrow table as plain values, null as None; with `column=value`, only those that have the value."""
    names = table.column_names
    rows: Iterable[tuple[Any, ...]] = zip(*(column.to_pylist() for column in table.columns), strict=True)
    for name, value in only.items():
        at = names.index(name)
        rows = [row for row in rows if row[at] == value]
    return [dict(zip(names, row, strict=True)) for row in rows]


def read_rows(results: Path, name: str) -> list[Row]:
    """The table `name` as rows of plain values, null as None. Raises InputError."""
    return plain_rows(read_arrow(results, name))


def read_metadata(results: Path, name: str) -> dict[str, str]:
    """The notes in the metadata of the table `name`. Raises InputError."""
    stored = read_arrow(results, name).schema.metadata or {}
    return {key.decode(): value.decode() for key, value in stored.items()}


def read_table(results: Path, name: str) -> Any:
    """The table `name` as a pandas DataFrame with nullable types (null is `pd.NA`, never 0). Raises InputError."""
    import pandas as pd

    nullable = {
        "string": pd.StringDtype(),
        "int64": pd.Int64Dtype(),
        "double": pd.Float64Dtype(),
        "bool": pd.BooleanDtype(),
    }
    return read_arrow(results, name).to_pandas(types_mapper=lambda kind: nullable.get(str(kind)))
