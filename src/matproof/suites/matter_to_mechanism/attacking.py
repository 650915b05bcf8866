"""Attacked tables: drawing the originals, and writing their attacked twins.

An attacked table holds the drawn originals and, for each style, their attacked twins, each style as a system of its
own, `<system>+<style>` (and `@<model>` where a model wrote it). This matters for SNS, whose corpus is the rows of one
system: a system that games the metric games all that it writes, so its corpus is its gamed texts; and its twin, the
originals, is drawn to the same problems, because novelty against 75 rows can't be compared with novelty against 2,645.
Score the whole table at once, and every delta is between rows of the same problem in corpora of the same size.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.attacks import (
    ATTACK_COLUMNS,
    NO_ATTACK,
    ORIGINAL_SYSTEM,
    STYLE,
    STYLES,
    WRITER,
    Row,
    attack,
    sample_order,
)
from matproof.suites.matter_to_mechanism.columns import ROW_COLUMNS, SYSTEM

if TYPE_CHECKING:
    import pyarrow as pa

PROGRAM = "programmatic"
"""`attack_writer` of texts that no model wrote."""
_ATTACKED = re.compile(rf"(.+)\+({'|'.join(STYLES)})(?:@(.+))?", re.DOTALL)


def attacked_system(system: str, style: str, writer: str) -> str:
    """The name of the system whose rows are those of `system`, attacked in `style` by a program or a model."""
    return f"{system}+{style}" if writer == PROGRAM else f"{system}+{style}@{writer}"


def original_of(system: str) -> tuple[str, str, str] | None:
    """(system, style, writer) where a name is that of an attacked system; None where it is not."""
    found = _ATTACKED.fullmatch(system)
    return None if found is None else (found[1], found[2], found[3] or PROGRAM)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The originals to attack, in the table's order, and of how many they were drawn."""

    rows: tuple[Row, ...]
    of: int


def draw(table: "pa.Table", path: Path, *, system: str | None, n: int, seed: int) -> Drawn:
    """At most `n` rows of one system, drawn by seed and `paper_id` alone. Raises InputError where that is unclear."""
    named = SYSTEM in table.column_names
    names = list(dict.fromkeys(table.column(SYSTEM).to_pylist())) if named else []
    if system is None and len(names) > 1:
        some = ", ".join(names[:8])
        raise InputError(path, SYSTEM, f"holds {len(names)} systems", f"choose one with --system: {some}")
    chosen = system or (names[0] if names else "") or "original"
    columns = [name for name in ROW_COLUMNS if name in table.column_names and name != SYSTEM]
    rows = [
        {**row, SYSTEM: chosen}
        for row, own in zip(
            table.select(columns).to_pylist(),
            table.column(SYSTEM).to_pylist() if named else [""] * table.num_rows,
            strict=True,
        )
        if system is None or own == system
    ]
    if not rows:
        raise InputError(path, SYSTEM, f"no row of {system!r}", f"use one of: {', '.join(names[:8])}")
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["paper_id"], row)
    kept = set(sorted(first, key=lambda paper_id: sample_order(paper_id, seed))[:n])
    return Drawn(tuple(row for paper_id, row in first.items() if paper_id in kept), len(first))


def by_program(originals: Sequence[Row], styles: Sequence[str], *, seed: int) -> dict[str, list[Row]]:
    """Style → attacked twins of all originals."""
    return {style: [attack(row, style, seed=seed) for row in originals] for style in styles}


def attacked_table(originals: Sequence[Row], attacked: Mapping[str, Sequence[Row]], *, writer: str) -> "pa.Table":
    """Originals and their attacked twins as one rows table, style by style."""
    import pyarrow as pa

    system = originals[0][SYSTEM]
    rows = [{**row, STYLE: NO_ATTACK, ORIGINAL_SYSTEM: system, WRITER: ""} for row in originals]
    for style, twins in attacked.items():
        marks = {SYSTEM: attacked_system(system, style, writer), STYLE: style, ORIGINAL_SYSTEM: system, WRITER: writer}
        rows += [{**row, **marks} for row in twins]
    columns = [*(name for name in ROW_COLUMNS if name in rows[0]), *ATTACK_COLUMNS]
    return pa.table({name: pa.array([row.get(name, "") for row in rows], pa.string()) for name in columns})
