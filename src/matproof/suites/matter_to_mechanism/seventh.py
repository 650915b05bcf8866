"""CGE: soundness and falsifiability of each row as a model judged it elsewhere, joined to the six scores.

It enters the composite with a fixed share, and the six others share the rest as they do without it. Every row needs a
value: a composite with it and one without can't be averaged.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import CGE, SYSTEM
from matproof.suites.matter_to_mechanism.rows import read_rows, require

SHARE = 0.10
"""Of the composite."""


def read_seventh(path: Path, ids: Sequence[str], systems: Sequence[str] | None) -> NDArray[np.float64]:
    """The score of each row from the table at `path` (`paper_id`, `cge` and, where the rows have one, `system`).

    Raises InputError for a value that is no number from 0 to 1, a row that is there twice, or a row without a value.
    """
    needed = ["paper_id", CGE] if systems is None else ["paper_id", SYSTEM, CGE]
    table = read_rows(path, columns=needed)
    require(table, path, dict.fromkeys(needed, "--cge"))
    keys = list(zip(*(table.column(name).to_pylist() for name in needed[:-1]), strict=True))
    found: dict[tuple[str, ...], float] = {}
    for number, (key, text) in enumerate(zip(keys, table.column(CGE).to_pylist(), strict=True), start=1):
        if key in found:
            raise InputError(path, f"row {number}", f"a second value for {_name(key)}", "give each row one")
        found[key] = _value(path, number, text)
    wanted = [(paper,) for paper in ids] if systems is None else list(zip(ids, systems, strict=True))
    if lost := [key for key in wanted if key not in found]:
        problem = f"no value for {_name(lost[0])}" + (f" and {len(lost) - 1} more" if len(lost) > 1 else "")
        raise InputError(path, CGE, problem, "give every row one, or score without --cge")
    return np.array([found[key] for key in wanted])


def with_seventh(composite: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """CBS of seven scores from that of six."""
    return np.asarray(np.minimum(1.0, (1 - SHARE) * composite + SHARE * scores))


def _value(path: Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        problem = f"{text[:40]!r} is no number from 0 to 1" if text else "is empty"
        raise InputError(path, f"{CGE}, row {number}", problem, "scale the scores to 0 to 1")
    return value


def _name(key: tuple[str, ...]) -> str:
    return " of ".join(repr(part[:80]) for part in key)
