"""The three table formats of `rows`, each read as text columns and written atomically."""

import codecs
import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from matproof.core.errors import InputError
from matproof.core.files import to_json, write_bytes, write_json
from matproof.suites.matter_to_mechanism.arrays import texts

MISSING_IN_CSV = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""What pandas reads as missing."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LINES = 20_000
_BLOCK = 8_000_000
_LARGEST_BLOCK = 2**31 - 1


def read_csv(path: Path, columns: Sequence[str] | None, encoding: str) -> pa.Table:
    """A CSV file with a header line, quoted cells of any length and line breaks in them."""
    from pyarrow import csv as arrow_csv

    source, size = _utf8_source(path, encoding)
    names = _header(path, source)
    wanted = [name for name in names if columns is None or name in columns]
    options = arrow_csv.ConvertOptions(
        column_types={name: pa.string() for name in names},
        include_columns=wanted,
        null_values=list(MISSING_IN_CSV),
        strings_can_be_null=True,
    )
    parsing = arrow_csv.ParseOptions(newlines_in_values=True)
    # A row must fit into a block: a block as long as the file is the last resort, for it takes the most memory.
    for block in (_BLOCK, min(max(size + 1, _BLOCK), _LARGEST_BLOCK)):
        reading = arrow_csv.ReadOptions(use_threads=False, block_size=block)
        try:
            table = arrow_csv.read_csv(source, read_options=reading, parse_options=parsing, convert_options=options)
            break
        except pa.ArrowInvalid as error:
            if block > _BLOCK or size < _BLOCK or "straddling" not in str(error):
                raise _csv_error(path, error) from error
            if isinstance(source, pa.BufferReader):
                source.seek(0)
    return _without_nulls(table)


def read_jsonl(path: Path, columns: Sequence[str] | None, encoding: str) -> pa.Table:
    """One JSON object a line; a key that a line lacks is a missing cell, a key of any line is a column."""
    source, _ = _utf8_source(path, encoding)
    names: dict[str, None] = {}
    batches: list[dict[str, pa.Array]] = []
    sizes: list[int] = []
    with _text_of(source) as stream:
        records = _json_records(path, stream)
        while batch := list(islice(records, _LINES)):
            present: dict[str, None] = {}
            for record in batch:
                present.update(dict.fromkeys(record))
            wanted = [name for name in present if columns is None or name in columns]
            names.update(dict.fromkeys(wanted))
            batches.append({name: texts([_as_text(row.get(name)) for row in batch]) for name in wanted})
            sizes.append(len(batch))
    parts = {
        name: [batch.get(name, texts([""] * size)) for batch, size in zip(batches, sizes, strict=True)]
        for name in names
    }
    return pa.table({name: pa.chunked_array(arrays, pa.string()) for name, arrays in parts.items()})


def read_parquet(path: Path, columns: Sequence[str] | None, encoding: str) -> pa.Table:
    """A Parquet file; columns of any simple type, written as text. `encoding` is not used: Parquet text is UTF-8."""
    import pyarrow.parquet as pq

    try:
        # One file, not a data set: directory names such as `system=x` on the way must not become columns.
        with pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if columns is None or name in columns]
            if len(set(names)) != len(names):
                raise InputError(path, _repeated(names), "the column is there twice", "keep one of them")
            table = file.read(columns=names, use_threads=False)
        return _without_nulls(pa.table({name: _text_column(table.column(name)) for name in table.column_names}))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(path, "", f"not a readable Parquet file ({_first_line(error)})", "write it again") from error


def write_parquet(table: pa.Table, path: Path, metadata: Mapping[str, str]) -> None:
    """Write `table`, its schema carrying `metadata`."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(dict(metadata)), sink, compression="zstd")
    write_bytes(path, sink.getvalue().to_pybytes())


def write_csv(table: pa.Table, path: Path, metadata: Mapping[str, str]) -> None:
    """Write `table` as CSV, null as an empty cell, and `metadata` beside it; without any, no file beside it."""
    from pyarrow import csv as arrow_csv

    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(table, sink)
    if metadata:
        write_json(_beside(path), dict(metadata))
    else:
        _beside(path).unlink(missing_ok=True)
    write_bytes(path, sink.getvalue().to_pybytes())


def parquet_metadata(path: Path) -> dict[str, str]:
    """The schema metadata of a Parquet file. Raises InputError."""
    import pyarrow.parquet as pq

    try:
        stored = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, "", "not a readable Parquet file", "write it again") from error
    return {key.decode(): value.decode() for key, value in stored.items()}


def csv_metadata(path: Path) -> dict[str, str]:
    """What `write_csv` wrote beside the CSV file; empty where there is nothing. Raises InputError."""
    beside = _beside(path)
    if not beside.is_file():
        return {}
    try:
        notes = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(beside, "", "not valid JSON", "write the table again") from error
    return {str(key): str(value) for key, value in notes.items()} if isinstance(notes, dict) else {}


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".meta.json")


def _utf8_source(path: Path, encoding: str) -> tuple[Any, int]:
    """What Arrow or `_text_of` can read as UTF-8, and its size in bytes: the path, or decoded bytes."""
    with path.open("rb") as stream:
        start = stream.read(4)
    found = next((name for mark, name in _MARKS if start.startswith(mark)), encoding)
    try:
        codecs.lookup(found)
    except LookupError as error:
        raise InputError(path, encoding, "no such encoding", "name one that Python knows, such as cp1252") from error
    if codecs.lookup(found).name in ("utf-8", "utf-8-sig"):
        return path, path.stat().st_size
    try:
        data = path.read_bytes().decode(found).encode()
    except (UnicodeError, LookupError) as error:
        raise InputError(path, "", f"not {found} ({_first_line(error)})", "give the encoding it is in") from error
    return pa.BufferReader(data), len(data)


def _text_of(source: Any) -> io.TextIOBase:
    if isinstance(source, Path):
        return source.open(encoding="utf-8-sig", newline="")
    source.seek(0)
    return io.TextIOWrapper(io.BytesIO(source.read()), encoding="utf-8-sig", newline="")


def _header(path: Path, source: Any) -> list[str]:
    with _text_of(source) as stream:
        try:
            names = next(csv.reader(stream), [])
        except UnicodeDecodeError as error:
            raise _not_utf8(path) from error
        except csv.Error as error:
            raise InputError(path, "line 1", f"not CSV ({error})", "write the column names in one line") from error
    if isinstance(source, pa.BufferReader):
        source.seek(0)
    if not names:
        raise InputError(path, "", "is empty", "write the column names and at least one row")
    if len(set(names)) != len(names):
        raise InputError(path, _repeated(names), "the column is there twice", "keep one of them")
    if len(names) == 1 and (other := next((mark for mark in _OTHER_SEPARATORS if mark in names[0]), None)):
        problem = f"columns seem to be separated by {_OTHER_SEPARATORS[other]}"
        raise InputError(path, "line 1", problem, "write the file with commas")
    return names


def _repeated(names: Sequence[str]) -> str:
    return next(name for index, name in enumerate(names) if name in names[:index])


def _not_utf8(path: Path) -> InputError:
    return InputError(path, "", "not UTF-8", "save it as UTF-8, or name its encoding with --encoding")


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__


def _csv_error(path: Path, error: Exception) -> InputError:
    text = _first_line(error)
    if "UTF8" in text:
        return _not_utf8(path)
    return InputError(path, "", f"not a regular CSV file ({text})", "give each line as many cells as there are columns")


def _json_records(path: Path, lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            record = json.loads(line)
            if not isinstance(record, dict):
                raise InputError(path, f"line {number}", "not a JSON object", "write one object a line")
            yield record
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"line {number}", f"not valid JSON ({_first_line(error)})", "mend the line") from error


def _as_text(value: Any) -> str:
    """A cell as text; half a surrogate pair, which JSON can hold and UTF-8 can't, becomes a question mark."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _as_text("; ".join(value))
    if isinstance(value, bytes):
        return value.decode()
    try:
        return _as_text(to_json(value, indent=None))
    except ValueError:
        return str(value)


def _text_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        return column.cast(pa.string())
    if pa.types.is_string(kind):
        return column
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    arrays = [texts([_as_text(value) for value in chunk.to_pylist()]) for chunk in column.chunks]
    return pa.chunked_array(arrays, pa.string())


def _without_nulls(table: pa.Table) -> pa.Table:
    from pyarrow import _compute  # see `tokens.cut`

    empty = texts([""])[0]
    filled = [
        _compute.call_function("coalesce", [column, empty]) if column.null_count else column for column in table.columns
    ]
    return pa.table(filled, names=table.column_names)
