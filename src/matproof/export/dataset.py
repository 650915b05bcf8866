"""`matproof export parquet`: the tables of a campaign with a data card and a manifest of hashes.

The card is Markdown with YAML at its head, as data hubs read it: a configuration a table, then what the columns mean,
how many rows, how many runs were scored and not, and what produced them. Without leave to export hidden material, the
tables and columns leave that can't quote a claim's reference, and the card names the others.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from matproof import __version__
from matproof.core.errors import InputError
from matproof.core.files import sha256_of
from matproof.export.bundle import Bundle, bundle
from matproof.export.judged import LONGEST_REASON
from matproof.export.leaving import Leaving
from matproof.tables.columns import TABLES, TABLES_VERSION, Row
from matproof.tables.leaderboard import leaderboard
from matproof.tables.store import as_arrow, parquet_bytes, read_rows, table_path

CARD, MANIFEST = "README.md", "SHA256SUMS"
PLAIN = (
    "leaderboard", "runs", "evaluations", "judgements", "failures", "steps", "usage", "claims", "panels",
    "panel_agreement", "statistics",
)  # fmt: skip
"""Tables that leave; a table that is not named here holds hidden material, or is not known not to."""
_HIDDEN = {"failures": ("evidence",), "claims": ("outcome",)}
"""Columns that may quote a claim's reference."""
_OWN = {"runs": ("host", "job")}
"""Columns that name machines of whoever exports."""
_COUNTS = ("setting", "judge", "scripted", "runs", "scored", "unscored", "infrastructure", "mean_score", "success_rate")
_NOT_DATA = ("problems",)


def export_tables(
    results: Path, out: Path, *, tasks: Path, with_reference: bool = False, licence: str | None = None
) -> Bundle:
    """Write the tables of `results` as a data set. Raises InputError where `gather` has not written them."""
    names = [name for name in TABLES if name in PLAIN or (with_reference and name not in _NOT_DATA)]
    if not table_path(results, "runs").is_file():
        raise InputError(results, "", "has no tables", f"run `matproof gather {results}` first")
    names = [name for name in names if table_path(results, name).is_file()]
    leaving = Leaving([results, tasks, Path.cwd(), Path.home()])
    with bundle(out, leaving, most_file=10**12, most_total=10**12) as made:
        tables = {name: _shown(read_rows(results, name), name, leaving, with_reference) for name in names}
        for name, rows in tables.items():
            source = {"matproof.source_sha256": sha256_of(table_path(results, name))}
            made.write(f"data/{name}.parquet", parquet_bytes(as_arrow(name, rows, source)))
        made.text(CARD, _card(tables, with_reference=with_reference, licence=licence))
        sums = "".join(f"{put.sha256}  {put.path}\n" for _, put in sorted(made.files.items()))
        made.write(MANIFEST, sums.encode())
    return made


def _shown(rows: Sequence[Row], name: str, leaving: Leaving, with_reference: bool) -> list[Row]:
    hidden = {*_OWN.get(name, ()), *(() if with_reference else _HIDDEN.get(name, ()))}
    cleaned: dict[str, str] = {}

    def shown(column: str, value: Any) -> Any:
        if column in hidden:
            return None
        if not isinstance(value, str):
            return value
        if column == "reason" and not with_reference:
            value = value[:LONGEST_REASON]
        return cleaned.setdefault(value, leaving.clean(value)) if value not in cleaned else cleaned[value]

    return [{column: shown(column, value) for column, value in row.items()} for row in rows]


def _card(tables: dict[str, list[Row]], *, with_reference: bool, licence: str | None) -> str:
    runs = tables["runs"]
    head = {
        "license": licence or "unknown",
        "pretty_name": "Attempts of AI agents to reproduce claims of materials science",
        "tags": ["materials-science", "agents", "reproducibility", "evaluation"],
        "configs": [
            {"config_name": name, "data_files": f"data/{name}.parquet"} | ({"default": True} if name == "runs" else {})
            for name in tables
        ],
    }
    sections = [
        "# Attempts of AI agents to reproduce claims of materials science",
        f"Written by `matproof export parquet`, version {__version__}; schema of the tables: {TABLES_VERSION}. "
        f"{len(runs)} runs of {len({row['claim'] for row in runs})} claims under "
        f"{len({row['setting'] for row in runs})} settings. Null means unknown or not applicable, never zero.",
        _scripted(runs),
        "## Scored and unscored\n\n" + _scored(tables),
        "## What it stands on\n\n" + _versions(runs),
        "## What is not here\n\n" + _missing(tables, with_reference),
        "## Tables\n\n" + "\n\n".join(_columns(name, rows) for name, rows in tables.items()),
        f"`{MANIFEST}` has the SHA-256 of every file (`sha256sum --check {MANIFEST}`). Each Parquet file holds, as "
        "`matproof.source_sha256`, the hash of the table that it was made from.",
    ]
    return f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n" + "\n\n".join(sections) + "\n"


def _scripted(runs: Sequence[Row]) -> str:
    number = sum(row["scripted"] for row in runs)
    said = "No run was scripted." if not number else "Their words are no model's; `scripted` marks them."
    return f"Scripted runs, in which a script answered in place of a model: {number} of {len(runs)}. {said}"


def _scored(tables: dict[str, list[Row]]) -> str:
    """One line a setting and judge, scripted ones too."""
    board = leaderboard(tables["runs"], tables["evaluations"], tables["usage"], include_scripted=True)
    header = f"| {' | '.join(_COUNTS)} |\n{'| --- ' * len(_COUNTS)}|"
    return "\n".join([header, *(f"| {' | '.join(_cell(row[name]) for name in _COUNTS)} |" for row in board.rows)])


def _versions(runs: Sequence[Row]) -> str:
    found: Counter[tuple[str, str]] = Counter()
    for row in runs:
        found.update(json.loads(row["versions"] or "{}").items())
    lines = [
        f"- `{_plain(name)}`: {_plain(version)} ({number} runs)" for (name, version), number in sorted(found.items())
    ]
    return "Programs, prompts and files, with versions or hashes, as the runs recorded them:\n\n" + "\n".join(lines)


def _missing(tables: Iterable[str], with_reference: bool) -> str:
    absent = sorted(set(TABLES) - set(tables))
    own = "Names of machines and jobs are null. "
    hidden = (
        ""
        if with_reference
        else "Columns that may quote a claim's reference are null (`failures.evidence`, "
        f"`claims.outcome`), and reasons are cut after {LONGEST_REASON} characters. "
    )
    return f"{own}{hidden}Tables that were not exported: {', '.join(f'`{name}`' for name in absent)}."


def _columns(name: str, rows: Sequence[Row]) -> str:
    lines = [f"| `{column.name}` | {column.kind} | {column.text} |" for column in TABLES[name]]
    return "\n".join(
        [f"### `{name}`, {len(rows):,} rows", "", "| column | kind | meaning |", "| --- | --- | --- |", *lines]
    )


def _cell(value: object) -> str:
    return "unknown" if value is None else f"{value:.3f}" if isinstance(value, float) else _plain(str(value))


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("`", "'")
