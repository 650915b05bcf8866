"""Every statistic of a campaign, from its gathered tables: one row a number, each with its n, unscored and method.

Nothing is computed twice or elsewhere: text, CSV, Parquet and the report read these rows. The same tables give the
same bytes, since every resampling has a fixed seed.
"""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import write_text
from matproof.tables.columns import TABLES, Row
from matproof.tables.comparisons import comparison_rows
from matproof.tables.distinguishable import rank_rows
from matproof.tables.observed import Observed, observed
from matproof.tables.published import published_columns
from matproof.tables.rates import cost_rows, failure_rows, pass_rows
from matproof.tables.scores import score_rows
from matproof.tables.self_judgement import judge_and_checks_rows, self_judgement_rows
from matproof.tables.statistics_text import statistics_markdown
from matproof.tables.store import table_path, write_table

_ANALYSES: dict[str, Callable[[Observed], list[Row]]] = {
    "scores": score_rows,
    "ranks": rank_rows,
    "comparisons": comparison_rows,
    "failure labels": failure_rows,
    "cost of a success": cost_rows,
    "pass@k": pass_rows,
    "judges beside checks": judge_and_checks_rows,
    "self-judgement": self_judgement_rows,
}


def statistics(
    results: Path, *, include_scripted: bool = False, tell: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Rows of the table `statistics` of a campaign. `tell` hears of each analysis before it is done.

    Raises InputError where `gather` has not run.
    """
    return statistics_of(observed(results, include_scripted=include_scripted), tell)


def statistics_of(campaign: Observed, tell: Callable[[str], None] = lambda _: None) -> list[Row]:
    """The same of a campaign that was read."""
    rows: list[Row] = []
    for name, analysis in _ANALYSES.items():
        tell(name)
        rows += analysis(campaign)
    return [row | published_columns(row) for row in rows]


def write_statistics(results: Path, rows: Sequence[Row]) -> list[Path]:
    """Write Parquet, CSV and Markdown beside the other tables, and return their paths."""
    path = table_path(results, "statistics")
    written = [write_table(results, "statistics", rows)]
    for ending, text in ((".csv", statistics_csv(rows)), (".md", statistics_markdown(rows))):
        write_text(path.with_suffix(ending), text)
        written.append(path.with_suffix(ending))
    return written


def statistics_csv(rows: Sequence[Row]) -> str:
    """Every column; null is empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [column.name for column in TABLES["statistics"]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def check_settings(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Raises InputError for a setting that no number is about."""
    known = sorted({row["setting"] for row in rows if row.get("setting")})
    for name in names:
        if name not in known:
            raise InputError("--compare", "setting", f"{name!r} has no judged run", f"use two of {', '.join(known)}")
