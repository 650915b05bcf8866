"""A cell of a .csv or .tsv file, as a citation names it by row and column."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matproof.evaluation.quoting import squeezed

_UNIT = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell."""

    text: str
    line: int
    """Line of the file on which its row ends, from 1."""
    unit: str
    """Unit that the heading gives in brackets; empty where it gives none."""


class NoCellError(Exception):
    """There is no such cell; `str` says why."""


def find_cell(name: str, lines: Sequence[str], row: str | int | None, column: str | int | None) -> Cell:
    """The cell of the table `lines`, a file called `name`. Raises NoCellError."""
    delimiter = _delimiter(name, lines)
    if row is None or column is None:
        raise NoCellError("a cell needs both its row and its column")
    rows = _rows(lines, delimiter)
    heading = next(rows, (0, []))[1]
    index = _column(heading, column)
    by_number: tuple[int, list[str]] | None = None
    for number, (line, cells) in enumerate(rows, 1):
        if isinstance(row, str) and cells and squeezed(cells[0]) == squeezed(row):
            return _cell(cells, index, line, heading)
        if by_number is None and str(number) == str(row).strip():
            by_number = (line, cells)
            if isinstance(row, int):
                break
    if by_number is None:
        raise NoCellError(f"there is no row {str(row)[:60]!r}")
    return _cell(by_number[1], index, by_number[0], heading)


def _delimiter(name: str, lines: Sequence[str]) -> str:
    if name.lower().endswith(".tsv"):
        return "\t"
    if not name.lower().endswith(".csv"):
        raise NoCellError("only a .csv or .tsv file has cells: cite lines instead")
    return max(",;\t", key=lambda mark: lines[0].count(mark)) if lines else ","


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise NoCellError("the file is no table that can be read") from error


def _column(heading: list[str], column: str | int) -> int:
    names = [squeezed(name) for name in heading]
    wanted = squeezed(str(column))
    if isinstance(column, str) and names.count(wanted) == 1:
        return names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(heading):
        return int(wanted[:9]) - 1
    raise NoCellError(f"there is no one column {str(column)[:60]!r}")


def _cell(cells: list[str], index: int, line: int, heading: list[str]) -> Cell:
    if index >= len(cells):
        raise NoCellError(f"the row ends before column {index + 1}")
    unit = _UNIT.search(heading[index])
    return Cell(text=cells[index], line=line, unit=unit[1].strip() if unit else "")
