"""Tables on disk: Parquet with a fixed schema, written atomically, the same bytes for the same rows."""

from collections.abc import Sequence
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = {column.name for column in TABLES[name]}
    for row in rows:
        if unknown := set(row) - known:
            raise KeyError(f"table {name} has no column {sorted(unknown)}")
    table = pa.Table.from_pylist(list(rows), schema=arrow_schema(name, metadata))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    path = table_path(results, name)
    write_bytes(path, sink.getvalue().to_pybytes())
    return path


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


def read_rows(results: Path, name: str) -> list[Row]:
    """The table `name` as rows of plain values, null as None. Raises InputError."""
    rows: list[Row] = read_arrow(results, name).to_pylist()
    return rows


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
