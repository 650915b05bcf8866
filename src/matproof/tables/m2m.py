"""Tables of Matter to Mechanism: their columns, and files of them by ending.

Parquet has the fixed schema and the notes (profile, method) in its metadata; CSV has every column in full; Markdown
is for people. Null means unknown or not applicable, never zero, and has its reason in `note`.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from matproof.core.errors import InputError
from matproof.core.files import write_bytes, write_text
from matproof.core.outputs import check_output
from matproof.tables.columns import Column, Row
from matproof.tables.words import one_line

METRICS = ("rcf", "hpa", "msi", "sns", "ip", "pdq")
"""The six aggregates, in the order of the weights."""
M2M_VERSION = 2
Name = Literal["m2m_leaderboard", "m2m_taxonomy", "m2m_validation", "m2m_ablation", "m2m_attacks", "m2m_judgements"]
_MADE_BY: dict[Name, str] = {
    "m2m_leaderboard": "leaderboard SCORES -o",
    "m2m_taxonomy": "taxonomy SCORES -o",
    "m2m_validation": "validate ROWS SCORES -o",
    "m2m_ablation": "ablate ROWS SCORES -o",
    "m2m_attacks": "attack SCORES --deltas -o",
    "m2m_judgements": "judge ROWS … --table",
}
ENDINGS = (".parquet", ".csv", ".md")

_SYSTEM = (
    Column("system", "text", "who wrote the hypotheses"),
    Column("scripted", "bool", "a script answered in place of a model"),
)

M2M_TABLES: dict[Name, tuple[Column, ...]] = {
    "m2m_leaderboard": (
        Column("rank", "int", "place by mean composite; equals share it; null without a composite"),
        *_SYSTEM,
        Column("rows", "int", "rows of the system"),
        Column("papers", "int", "different `paper_id`s among the scored rows: what is resampled"),
        Column("unscored", "int", "rows without a composite"),
        Column("problems", "int", "problems that the system was asked; null: no record of its generation was given"),
        Column("unusable", "int", "of those, replies without a hypothesis: no row, and in no mean"),
        Column("unfinished", "int", "of those, left undone by a limit or the provider"),
        Column("sns_unscored", "int", "rows whose SNS is null: their composite is of the five other metrics"),
        Column("cbs", "float", "mean composite over the scored rows"),
        Column("cbs_se", "float", "standard error of it, bootstrap over papers; null with one paper"),
        Column("cbs_low", "float", "lower end of its 95 % interval"),
        Column("cbs_high", "float", "upper end of its 95 % interval"),
        *(Column(metric, "float", f"mean {metric.upper()} over the rows that have one") for metric in METRICS),
        Column("rank_best", "int", "1 + systems that are told to be better"),
        Column("rank_worst", "int", "systems less those told to be worse"),
        Column("not_told_apart", "text", "JSON: systems whose difference from this one may be chance"),
        Column("published_cbs", "float", "mean composite that the paper prints for a system of this name"),
        *(Column(f"published_{metric}", "float", f"the same for {metric.upper()}") for metric in METRICS),
        Column("note", "text", "why a number is null or of fewer metrics"),
    ),
    "m2m_taxonomy": (
        *_SYSTEM,
        Column("flag", "text", "kind of error"),
        Column("rows", "int", "rows of the system for which the flag is known"),
        Column("count", "int", "of those, flagged"),
        Column("unknown", "int", "rows for which it is not: a metric that it needs is null"),
        Column("rate", "float", "count / rows"),
        Column("low", "float", "lower end of the 95 % Wilson interval of the rate"),
        Column("high", "float", "upper end of it"),
        Column("published", "float", "rate that the paper prints for a system of this name"),
    ),
    "m2m_validation": (
        Column("level", "text", "`system` (a mean), `ranks` (Kendall τ over systems), `rows` (Spearman ρ over rows)"),
        Column("metric", "text", "cbs, bleu, rouge_l, bertscore or embedding_cosine"),
        *_SYSTEM,
        Column("value", "float", "the mean, τ or ρ, against the composite; null: see `note`"),
        Column("p_value", "float", "two-sided p-value of τ or ρ"),
        Column("n", "int", "rows (`system`, `rows`) or systems (`ranks`)"),
        Column("published", "float", "τ that the paper prints"),
        Column("published_p", "float", "its p-value"),
        Column("note", "text", "how it was computed, or why it is null"),
    ),
    "m2m_ablation": (
        Column("part", "text", "`weights`, `weights_ranks`, `profiles`, `profiles_ranks`, `redundancy`, …"),
        Column("name", "text", "weight scheme, profile, metric, statistic, or field of the breakdown"),
        Column("other", "text", "the other metric (redundancy), the group (breakdown), the period (contamination)"),
        *_SYSTEM,
        Column("value", "float", "mean composite, τ, ρ, or the statistic; null: see `note`"),
        Column("se", "float", "standard error of a mean over rows"),
        Column("rank", "int", "place of the system under the scheme or profile"),
        Column("p_value", "float", "two-sided p-value of τ, ρ or a difference"),
        Column("n", "int", "rows, or systems for τ"),
        Column("published", "float", "the same number as the paper prints it"),
        Column("note", "text", "how it was computed, or why it is null"),
    ),
    "m2m_attacks": (
        Column("style", "text", "attack style"),
        Column("source", "text", "`programmatic` or the model that wrote the rows"),
        Column("metric", "text", "one of the six, cbs, or cbs_without_sns (of the five others)"),
        Column("original", "float", "mean of the originals"),
        Column("attacked", "float", "mean of the attacked rows"),
        Column("delta", "float", "mean of attacked less original, over pairs"),
        Column("low", "float", "lower end of its 95 % interval (t over papers)"),
        Column("high", "float", "upper end of it"),
        Column("pairs", "int", "rows with both"),
        Column("published", "float", "delta that the paper prints"),
        Column("note", "text", "why a number is null"),
    ),
    "m2m_judgements": (
        Column("what", "text", "which rate: agreement with CBS or of judges, order_flip_rate, tie_rate, unscored"),
        Column("judge", "text", "judge"),
        Column("other", "text", "the other judge (judge_agreement)"),
        Column("value", "float", "share of the comparisons"),
        Column("low", "float", "lower end of its 95 % Wilson interval"),
        Column("high", "float", "upper end of it"),
        Column("n", "int", "comparisons that it is a share of"),
        Column("scripted", "bool", "a script answered in place of a judge's model"),
        Column("note", "text", "what counts as one"),
    ),
}
"""Table → columns, in order."""


def check_table(path: Path, *inputs: Path) -> None:
    """Raises InputError where no table can be written to `path`, or one of `inputs` would be lost."""
    _check_ending(path)
    check_output(path, *inputs)


def _check_ending(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise InputError(path, "ending", f"{path.suffix or 'none'} is not a table's", f"use {' or '.join(ENDINGS)}")


def write_m2m(path: Path, name: Name, rows: Sequence[Row], notes: dict[str, str], text: str) -> None:
    """Write `rows` as the table `name`, in the form that the ending says; `text` is the Markdown form.

    Missing keys become null; unknown ones are a bug and raise KeyError. Raises InputError for another ending.
    """
    _check_ending(path)
    columns = [column.name for column in M2M_TABLES[name]]
    for row in rows:
        if unknown := set(row) - set(columns):
            raise KeyError(f"table {name} has no column {sorted(unknown)}")
    if path.suffix == ".parquet":
        write_bytes(path, _parquet(name, rows, notes))
    elif path.suffix == ".csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(path, stream.getvalue())
    else:
        write_text(path, text)


def read_m2m(path: Path, name: Name) -> list[Row]:
    """The Parquet table `name` as rows of plain values. Raises InputError where it is missing or another table."""
    rows: list[Row] = _read(path, name).to_pylist()
    return rows


def read_notes(path: Path, name: Name) -> dict[str, str]:
    """The notes of the Parquet table `name`, without their prefix. Raises InputError."""
    stored = _read(path, name).schema.metadata or {}
    pairs = ((key.decode(), value.decode("utf-8", "replace")) for key, value in stored.items())
    return {key.removeprefix("matproof."): value for key, value in pairs if key.startswith("matproof.")}


def _schema(name: Name, notes: dict[str, str]) -> Any:
    import pyarrow as pa

    kinds = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    metadata = {"matproof.table": name, "matproof.schema_version": str(M2M_VERSION)}
    metadata |= {f"matproof.{key}": value for key, value in notes.items()}
    fields = [pa.field(column.name, kinds[column.kind]) for column in M2M_TABLES[name]]
    return pa.schema(fields, metadata=metadata)


def _parquet(name: Name, rows: Sequence[Row], notes: dict[str, str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=_schema(name, notes)), sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _read(path: Path, name: Name) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    remedy = f"write it with `matproof m2m {_MADE_BY[name]} {path.name}`"
    if not path.is_file():
        raise InputError(path, "", "no such table", remedy)
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(path, "", "not a readable Parquet file", remedy) from error
    found = (table.schema.metadata or {}).get(b"matproof.table", b"another table").decode("utf-8", "replace")
    version = (table.schema.metadata or {}).get(b"matproof.schema_version", b"none").decode("utf-8", "replace")
    if (found, version) != (name, str(M2M_VERSION)) or not table.schema.equals(_schema(name, {})):
        raise InputError(path, "", f"is not {name} of version {M2M_VERSION} ({one_line(found, 60)})", remedy)
    return table
