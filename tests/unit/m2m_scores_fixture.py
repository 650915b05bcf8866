"""Scores and rows files of Matter to Mechanism with chosen values, written as the suite writes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, ROW_COLUMNS, SCORE_COLUMNS, TAXONOMY
from matproof.suites.matter_to_mechanism.rows import write_table
from matproof.suites.matter_to_mechanism.scores_file import schema, write_scores

WEIGHTS = (0.20, 0.20, 0.18, 0.15, 0.15, 0.12)
PROFILE = {"profile": "published", "profile_sha256": "ab" * 32}


def score_row(system: str, paper: str, *values: float, **changes: Any) -> dict[str, Any]:
    """A row of scores with six metric values (one value: all six), its composite, and no flag set."""
    metrics = dict(zip(METRICS, values if len(values) == 6 else values * 6, strict=True))
    composite = sum(weight * value for weight, value in zip(WEIGHTS, metrics.values(), strict=True))
    row: dict[str, Any] = dict.fromkeys(SCORE_COLUMNS)
    return row | {
        "paper_id": paper,
        "system": system,
        COMPOSITE: composite,
        "cbs_renormalised": False,
        **metrics,
        **dict.fromkeys(TAXONOMY, False),
        **changes,
    }


def write_rows_of_scores(path: Path, rows: Sequence[Mapping[str, Any]], **notes: str) -> Path:
    """A scores file of those rows."""
    write_scores(pa.Table.from_pylist([dict(row) for row in rows], schema=schema()), path, {**PROFILE, **notes})
    return path


def write_texts(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """A rows file; columns that are not given are empty."""
    full = [dict.fromkeys(ROW_COLUMNS, "") | dict(row) for row in rows]
    write_table(pa.Table.from_pylist(full), path)
    return path
