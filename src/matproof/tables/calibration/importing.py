"""Experts' files into grades: every mistake is refused by file, packet and scale, and one mistake keeps all out.

A file is what a packet's form saved (JSON), or a table (CSV) with the columns packet, rater, overall, the five
dimensions and notes. Half steps are refused and not rounded: only the expert knows which way.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError
from matproof.core.files import read_text
from matproof.tables.calibration.kit import HIGHEST, LOWEST, SCALES, Grade, Grades, Sample

_LONGEST_NOTES, _LONGEST_RATER = 20_000, 40
_COLUMNS = {"packet", "rater", "sample", "notes", *SCALES}


def read_files(files: Sequence[Path], sample: Sample, before: Grades) -> tuple[Grades, list[InputError]]:
    """All grades, earlier ones first, and every problem; where there is any, nothing should be kept."""
    problems: list[InputError] = []
    grades = list(before.grades)
    known = {run.packet for run in sample.runs}
    seen = {(grade.packet, grade.rater): grade.file for grade in grades}
    for file in files:
        try:
            entries = list(_entries(file))
        except InputError as error:
            problems.append(error)
            continue
        if not entries:
            problems.append(InputError(file, "", "holds no grade", "leave it out, or fill it in"))
        for where, entry in entries:
            grade, found = _grade(file, where, entry, known, sample.sample)
            problems += found
            if grade is None:
                continue
            key = (grade.packet, grade.rater)
            if key in seen:
                said = f"{grade.packet} was graded by {grade.rater} already, in {seen[key]}"
                problems.append(InputError(file, where, said, "keep one of the two"))
            else:
                seen[key] = file.name
                grades.append(grade)
    ordered = sorted(grades, key=lambda grade: (grade.packet, grade.rater))
    return Grades(sample=sample.sample, grades=ordered), problems


def _entries(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where in the file, fields) of each grade. Raises InputError."""
    text = read_text(file).removeprefix("\ufeff")
    if file.suffix.lower() == ".csv":
        yield from _csv_entries(file, text)
    elif file.suffix.lower() == ".json":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(file, "", "not valid JSON", "save the packet's form again") from error
        for index, entry in enumerate(data if isinstance(data, list) else [data], start=1):
            if not isinstance(entry, dict):
                raise InputError(file, f"entry {index}", "is not a grade", "save the packet's form again")
            name = entry.get("packet")
            yield (name if isinstance(name, str) and len(name) < 60 else f"entry {index}"), entry
    else:
        raise InputError(file, "ending", f"{file.suffix or 'none'} can't be read", "give .json or .csv files")


def _csv_entries(file: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text), restkey="(too many cells)")
    names = [name.strip() for name in reader.fieldnames or []]
    if missing := [name for name in ("packet", "rater", *SCALES) if name not in names]:
        raise InputError(file, "header", f"no column {', '.join(missing)}", "name the columns as the form does")
    if len(set(names)) != len(names):
        raise InputError(file, "header", "a column is there twice", "keep one of each")
    reader.fieldnames = names
    for entry in reader:
        scores = {name: _number((entry.get(name) or "").strip()) for name in SCALES}
        fields = {name: (value or "").strip() if isinstance(value, str) else value for name, value in entry.items()}
        yield f"line {reader.line_num}", {**fields, **scores}


def _number(text: str) -> Any:
    """A cell as a number where it is one; else as it is, to be refused by name."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _grade(
    file: Path, where: str, entry: dict[str, Any], known: set[str], sample: str
) -> tuple[Grade | None, list[InputError]]:
    """The grade of an entry, or what is wrong with it."""
    problems: list[InputError] = []

    def wrong(field: str, problem: str, remedy: str) -> None:
        problems.append(InputError(file, f"{where}: {field}", problem, remedy))

    if unknown := sorted(str(name)[:60] for name in set(entry) - _COLUMNS):
        wrong(unknown[0], "unknown field", "remove it, or correct its spelling")
    packet, rater, notes = entry.get("packet"), entry.get("rater"), entry.get("notes") or ""
    if not isinstance(packet, str) or packet not in known:
        wrong("packet", f"{str(packet)[:60]!r} is no packet of this sample", "use the id at the top of the page")
    if entry.get("sample", sample) not in (sample, ""):
        wrong("sample", "the form belongs to another sample", "grade the packets of this one")
    if not isinstance(rater, str) or not rater.strip() or len(rater.strip()) > _LONGEST_RATER:
        wrong("rater", f"must be a code of 1 to {_LONGEST_RATER} characters", "give each expert one")
    if not isinstance(notes, str) or len(notes) > _LONGEST_NOTES:
        wrong("notes", f"must be text of at most {_LONGEST_NOTES} characters", "shorten them")
    for scale in SCALES:
        if (problem := _score_problem(entry, scale)) is not None:
            wrong(scale, problem, f"use a whole number from {LOWEST} to {HIGHEST}, or nothing where you can't tell")
    if problems:
        return None, problems
    scores = {scale: None if entry[scale] is None else int(entry[scale]) for scale in SCALES}
    return Grade(packet=str(packet), rater=str(rater).strip(), scores=scores, notes=notes, file=file.name), []


def _score_problem(entry: dict[str, Any], scale: str) -> str | None:
    if scale not in entry:
        return "missing"
    value = entry[scale]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{str(value)[:40]!r} is not a score"
    if not LOWEST <= value <= HIGHEST:
        return f"{value} is not from {LOWEST} to {HIGHEST}"
    return None if float(value).is_integer() else f"{value} is between two steps"
