"""Scores files: one row a scored row, in the input's order; Parquet or CSV by the ending.

Metadata (see `rows.write_table` for where it is): `schema_version`, `profile` (its name), `profile_sha256`,
`neighbours` (how SNS found its nearest rows), `rows_sha256` (of the rows file's bytes).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import (
    CBS_RENORMALISED,
    SCORE_COLUMNS,
    SCORES_VERSION,
    SNS_UNSCORED_REASON,
    SYSTEM,
    TAXONOMY,
)
from matproof.suites.matter_to_mechanism.rows import read_metadata, write_table

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = ("paper_id", SYSTEM, SNS_UNSCORED_REASON)
FLAGS = (CBS_RENORMALISED, *TAXONOMY)


def schema() -> "pa.Schema":
    """Types of the columns of a scores file."""
    import pyarrow as pa

    kinds = dict.fromkeys(TEXT, pa.string()) | dict.fromkeys(FLAGS, pa.bool_())
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in SCORE_COLUMNS])


def write_scores(table: "pa.Table", path: Path, metadata: Mapping[str, str]) -> None:
    """Write the scores `table` with its metadata, atomically."""
    write_table(table, path, {"schema_version": str(SCORES_VERSION), **metadata})


def read_scores(path: Path) -> tuple["pa.Table", dict[str, str]]:
    """The scores at `path` with the types of `schema`, null where unscored, and the metadata.

    Raises InputError where the file is missing, lacks a column, or is of another version or kind.
    """
    import pyarrow as pa

    path = Path(path)
    if not path.is_file():
        raise InputError(path, "", "no such scores file", "write it with `matproof m2m score ROWS -o SCORES`")
    metadata = read_metadata(path)
    version = metadata.get("schema_version", "none")
    if version != str(SCORES_VERSION):
        remedy = "score the rows again"
        raise InputError(path, "schema_version", f"is {version}, this version reads {SCORES_VERSION}", remedy)
    try:
        table = _read_csv(path) if path.suffix.lower() == ".csv" else _read_parquet(path)
    except (pa.ArrowException, KeyError, OSError) as error:
        problem = str(error).strip("'\"").splitlines()[0][:200]
        raise InputError(path, "", f"not a scores file ({problem})", "score the rows again") from error
    return table, metadata


def _read_parquet(path: Path) -> "pa.Table":
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read().select(list(SCORE_COLUMNS)).cast(schema())


def _read_csv(path: Path) -> "pa.Table":
    from pyarrow import csv

    options = csv.ConvertOptions(
        column_types=schema(), include_columns=list(SCORE_COLUMNS), null_values=[""], strings_can_be_null=True
    )
    parsing = csv.ParseOptions(newlines_in_values=True)
    return csv.read_csv(path, convert_options=options, parse_options=parsing)
