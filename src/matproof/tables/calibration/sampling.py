"""Which runs experts grade: a seeded draw, spread over settings × reproduction type × verification.

Runs are drawn one at a time from the stratum that has been drawn from least, then of the setting, then of the kind of
claim that has; what is left equal is decided by the seed. So strata share the sample equally as far as they have runs,
and settings and kinds stay balanced where there are more strata than runs to draw. Scores play no part: a sample that
knew them would restrict their range.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import to_json
from matproof.records.run import LOST
from matproof.tables.calibration.kit import Sample, SampledRun, Stratum
from matproof.tables.columns import Row
from matproof.tables.store import read_rows
from matproof.tables.views import UNKNOWN, run_key

Cell = tuple[str, str, str]
"""Setting, reproduction type, verification."""


def draw_sample(results: Path, *, number: int, seed: int, include_scripted: bool) -> Sample:
    """`number` runs of the gathered `results`, or all where there are fewer. Raises InputError."""
    claims = {row["claim"]: row for row in read_rows(results, "claims")}
    runs = [row for row in read_rows(results, "runs") if row["outcome"] not in LOST and row["complete"]]
    eligible = [row for row in runs if include_scripted or not row["scripted"]]
    if not eligible:
        why = "every run is scripted" if runs else "there is no run with a result"
        raise InputError(results, "", why, "pass --include-scripted" if runs else "make some, then run `gather`")
    cells: dict[Cell, list[Row]] = {}
    for row in sorted(eligible, key=run_key):
        cells.setdefault(_cell(row, claims.get(row["claim"], {})), []).append(row)
    drawn = _drawn(cells, number, seed)
    strata = _strata(cells, drawn, number)
    named = [
        SampledRun(
            packet=f"packet-{index:0{len(str(len(drawn)))}d}",
            claim=row["claim"],
            setting=row["setting"],
            repeat=row["repeat"],
            attempt=row["attempt"],
            reproduction_type=cell[1],
            verification=cell[2],
        )
        for index, (cell, row) in enumerate(drawn, start=1)
    ]
    told = to_json([seed, *(run.model_dump() for run in named)], indent=None)
    return Sample(
        sample=hashlib.sha256(told.encode()).hexdigest()[:16],
        seed=seed,
        asked=number,
        scripted=include_scripted,
        runs=named,
        strata=strata,
    )


def _cell(row: Row, claim: Row) -> Cell:
    return row["setting"], claim.get("reproduction_type") or UNKNOWN, claim.get("verification") or UNKNOWN


def _drawn(cells: dict[Cell, list[Row]], number: int, seed: int) -> list[tuple[Cell, Row]]:
    """What is drawn, in an order that says nothing of the settings."""
    import numpy as np

    random = np.random.default_rng(seed)
    left = {cell: [rows[index] for index in random.permutation(len(rows))] for cell, rows in cells.items()}
    luck = {cell: float(value) for cell, value in zip(cells, random.random(len(cells)), strict=True)}
    taken: Counter[object] = Counter()
    drawn: list[tuple[Cell, Row]] = []
    while len(drawn) < number and any(left.values()):
        cell = min(
            (cell for cell, rows in left.items() if rows),
            key=lambda cell: (taken[cell], taken[cell[0]], taken[cell[1:]], luck[cell]),
        )
        rows = left[cell]
        fewest = min(taken["claim", row["claim"]] for row in rows)
        row = rows.pop(next(i for i, row in enumerate(rows) if taken["claim", row["claim"]] == fewest))
        taken.update([cell, cell[0], cell[1:], ("claim", row["claim"])])
        drawn.append((cell, row))
    return [drawn[index] for index in random.permutation(len(drawn))]


def _strata(cells: dict[Cell, list[Row]], drawn: Sequence[tuple[Cell, Row]], number: int) -> list[Stratum]:
    """Every setting with every kind of claim that any setting has; those without a run are short too."""
    settings = sorted({cell[0] for cell in cells})
    kinds = sorted({cell[1:] for cell in cells})
    share = max(1, number // (len(settings) * len(kinds)))
    counts = Counter(cell for cell, _ in drawn)
    return [
        Stratum(
            setting=setting,
            reproduction_type=kind,
            verification=verification,
            available=len(cells.get((setting, kind, verification), ())),
            wanted=share,
            drawn=counts[setting, kind, verification],
        )
        for setting in settings
        for kind, verification in kinds
    ]
