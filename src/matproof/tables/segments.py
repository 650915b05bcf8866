"""Where shards are kept: files of many shards each, never changed once written, named by their own hash.

A gather opens few files, whatever the number of runs: it reads the segments, adds one for what is new, and now and
then writes all that still holds into one and removes the rest. A name is the hash of the content, and is checked before
anything in it is believed, so that a broken segment only means reading its runs again. Several gathers at once can't
harm one another for the same reason: a segment that another one removed meanwhile is as if it had never been there.

A segment is an Arrow file with one row a run: its key, the hash of its signature, its state, and a list of rows for
each table. One of other columns, or of another matproof version, is not used.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

from pydantic_core import PydanticSerializationError, to_json

from matproof import __version__
from matproof.core.files import write_bytes
from matproof.records.places import Results
from matproof.tables.columns import SHARDED, TABLES, TABLES_VERSION, arrow_schema
from matproof.tables.scan import FoundRun, Signature
from matproof.tables.shards import Shard
from matproof.tables.store import parsed

MOST_SEGMENTS = 12
"""With more of them, they become one."""
PARTS = (*SHARDED, "problems")
"""Tables whose rows a shard holds."""
_SUFFIX = ".arrow"


@dataclass(frozen=True, slots=True)
class Stored:
    """The shards of a campaign that are kept."""

    segments: list[Path]
    """Every segment file that was there, broken and foreign ones too."""
    table: Any
    """The shards of those that can be used, as one Arrow table."""
    usable: int
    """How many of them can be."""
    rows: dict[tuple[str, str], int]
    """Key and signature's hash → row of `table`. Changed runs have several until segments become one."""
    keys: frozenset[str]
    """Runs that have a shard, whether it still holds or not."""


def key_of(run: FoundRun) -> str:
    """The key of `run`: its names, whatever bytes a file system allows in them."""
    return quote_from_bytes(os.fsencode("/".join(run.key)), safe="/")


def hash_of(signature: Signature) -> str:
    """What of a signature is kept."""
    return hashlib.sha256(repr(signature).encode("utf-8", "replace")).hexdigest()


def shards_directory(results: Path) -> Path:
    """Where the segments are."""
    return Results(results).tables / "shards"


def shard_line(key: str, signature: str, shard: Shard) -> bytes:
    """A shard as one line of JSON without its nulls, which is how it comes from a process that reads runs."""
    line: dict[str, Any] = {"key": key, "signature": signature, "state": shard.state}
    for name, rows in (*shard.tables.items(), ("problems", shard.problems)):
        if rows:
            line[name] = [{column: value for column, value in row.items() if value is not None} for row in rows]
    try:
        return to_json(line)
    except PydanticSerializationError:  # text that UTF-8 can't hold, which an agent may write: the slow way replaces it
        return json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def segments_of(results: Path) -> list[Path]:
    """Every segment file that is there."""
    directory = shards_directory(results)
    return sorted(directory.glob(f"*{_SUFFIX}")) if directory.is_dir() else []


def stored_shards(results: Path) -> Stored:
    """All shards that are kept and can be used; what can't be is left out."""
    import pyarrow as pa

    segments = segments_of(results)
    tables = [table for path in segments if (table := _segment(path)) is not None]
    table = pa.concat_tables([_nothing(), *tables])
    keys, signatures = table["key"].to_pylist(), table["signature"].to_pylist()
    rows = {pair: row for row, pair in enumerate(zip(keys, signatures, strict=True))}
    return Stored(segments, table, len(tables), rows, frozenset(keys))


def from_lines(lines: Sequence[bytes]) -> Any:
    """Lines of `shard_line` as an Arrow table. A column that no table has is a bug, and raises KeyError."""
    import pyarrow as pa

    if not lines:
        return _nothing()
    try:
        return parsed(lines, _schema())
    except pa.ArrowInvalid as error:
        if unknown := _unknown(lines):
            raise KeyError(f"tables have no such columns: {unknown}") from error
        raise


def _unknown(lines: Iterable[bytes]) -> list[str]:
    known = {(name, column.name) for name in PARTS for column in TABLES[name]}
    shards = map(json.loads, lines)
    used = {(name, field) for shard in shards for name in PARTS for row in shard.get(name, []) for field in row}
    return sorted(f"{name}.{field}" for name, field in used - known)


def write_segment(results: Path, table: Any, replaced: Iterable[Path] = ()) -> None:
    """Keep the shards of `table` as a segment, and remove the segments that it replaces."""
    import pyarrow as pa

    kept = None
    if table.num_rows:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        data = sink.getvalue().to_pybytes()
        kept = shards_directory(results) / f"{_name(data)}{_SUFFIX}"
        write_bytes(kept, data)
    for path in replaced:
        if path != kept:
            path.unlink(missing_ok=True)


def rows_of(table: Any, name: str, metadata: dict[str, str] | None = None) -> Any:
    """The rows of the table `name` that are in the shards `table`, in their order, as an Arrow table in one piece.

    One piece, since the bytes of a Parquet file depend on the pieces, and those on when each run was read.
    """
    import pyarrow as pa

    schema = arrow_schema(name, metadata)
    flat = [chunk.flatten() for chunk in table[name].chunks]  # a method: pyarrow.compute takes long to import
    arrays = [chunk.flatten() for chunk in flat if len(chunk)]
    columns = [pa.chunked_array([part[at] for part in arrays], field.type) for at, field in enumerate(schema)]
    return pa.Table.from_arrays(columns, schema=schema).combine_chunks()


def taken(table: Any, rows: Sequence[int]) -> Any:
    """The shards at `rows`, in that order."""
    import numpy as np
    import pyarrow as pa

    # From a buffer: a plain list would bring pandas along (see store.parsed).
    return table.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.array(rows, "int64"))]))


def _segment(path: Path) -> Any:
    import pyarrow as pa

    try:
        data = path.read_bytes()
        if _name(data) != path.name.removesuffix(_SUFFIX):
            return None
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
    except (OSError, pa.ArrowException):
        return None
    return table if table.schema.equals(_schema(), check_metadata=True) else None


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:40]


def _nothing() -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([], schema=_schema())


def _schema() -> Any:
    """The schema of a segment; its metadata says who wrote it."""
    import pyarrow as pa

    parts = [pa.field(name, pa.list_(pa.struct(list(arrow_schema(name))))) for name in PARTS]
    plain = [pa.field(name, pa.string()) for name in ("key", "signature", "state")]
    notes = {"matproof.tables": str(TABLES_VERSION), "matproof.version": __version__}
    return pa.schema([*plain, *parts], metadata=notes)
