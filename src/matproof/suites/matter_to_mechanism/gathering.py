"""Several rows files into one: the literature's rows and each system's, as scoring and the analyses want them.

Every file needs all columns that a metric reads: joined to a file that has them, a missing one would turn into empty
cells, and those into low scores that nobody asked for.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.core.outputs import check_output
from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS, SOLUTION_COLUMNS, SYSTEM, USED_BY
from matproof.suites.matter_to_mechanism.rows import read_rows, require, write_table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (*PROBLEM_COLUMNS, *SOLUTION_COLUMNS, SYSTEM)


NEEDED = {
    "paper_id": "every score (it names the row)",
    SYSTEM: "m2m gather (it tells rows of a paper apart)",
    **{name: ", ".join(metrics) for name, metrics in USED_BY.items()},
}


def gather(paths: Sequence[Path], output: Path, encoding: str = "utf-8") -> dict[str, int]:
    """Write all rows of `paths`, in their order, to `output`; system → its number of rows.

    Raises InputError where a file lacks a column, or two rows share `paper_id` and `system`.
    """
    import pyarrow as pa

    check_output(output, *paths)
    tables = [_read(path, encoding) for path in paths]
    counts: dict[str, int] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path, table in zip(paths, tables, strict=True):
        for paper, system in zip(table["paper_id"].to_pylist(), table[SYSTEM].to_pylist(), strict=True):
            if (paper, system) in seen:
                problem = f"{paper[:80]!r} of system {system[:80]!r} is in {seen[paper, system]} already"
                raise InputError(path, "paper_id", problem, "give a system's row of a paper once")
            seen[paper, system] = path
            counts[system] = counts.get(system, 0) + 1
    write_table(pa.concat_tables(tables), output)
    return counts


def _read(path: Path, encoding: str) -> "pa.Table":
    """The rows at `path` with exactly `COLUMNS`; those that no metric reads are empty where they are missing."""
    import pyarrow as pa

    table = read_rows(path, columns=COLUMNS, encoding=encoding)
    require(table, path, NEEDED)
    empty = pa.array([""] * table.num_rows, pa.string())
    return pa.table({name: table[name] if name in table.column_names else empty for name in COLUMNS})
