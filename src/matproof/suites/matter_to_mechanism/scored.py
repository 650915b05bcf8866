"""Scores files as the analyses read them: one frame of all rows, checked, with the profile that they were made with.

A score is a number from 0 to 1 or missing; missing ones stay missing and are counted by every analysis. Files that
were scored with different profiles are refused, because their means must not be mixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, SYSTEM, TAXONOMY
from matproof.suites.matter_to_mechanism.scores_file import read_scores
from matproof.tables.words import one_line

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCRIPTED_PREFIX = "scripted"
"""Systems named so answered from a script in place of a model, as settings of that name do."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows of one or more scores files."""

    frame: "pd.DataFrame"
    """`paper_id`, `system` (text), the six metrics and `cbs` (doubles, NaN where unscored), the flags (nullable
    booleans)."""
    profile: str
    profile_sha256: str
    """Name and hash of the lexicon profile; `unknown` where the files do not say."""
    composite: str = ""
    """What else than the six scores is in the composite; empty where nothing is."""

    def notes(self) -> dict[str, str]:
        """What a table made from these rows records of them."""
        notes = {"profile": self.profile, "profile_sha256": self.profile_sha256}
        return notes | ({"composite": self.composite} if self.composite else {})

    def only(self, index: "pd.Index[int]") -> "Scored":
        """The rows at `index` of the frame."""
        return replace(self, frame=self.frame.loc[index])

    def systems(self) -> list[str]:
        """Names of the systems, in the order of their first row."""
        return list(dict.fromkeys(self.frame[SYSTEM]))


def is_scripted(system: str, named: Sequence[str] = ()) -> bool:
    """Whether a script answered in place of the system's model: by its name, or because the user says so."""
    return system in named or system.casefold().startswith(SCRIPTED_PREFIX)


def load_scores(paths: Sequence[Path]) -> Scored:
    """The rows of `paths`, in order. Raises InputError for a missing column, a score that is none, mixed profiles."""
    import pandas as pd

    frames, profiles, composites = [], {}, {}
    for path in paths:
        table, notes = read_scores(path)
        frames.append(_frame(path, table))
        profile = (notes.get("profile", "unknown"), notes.get("profile_sha256", "unknown"))
        profiles[profile] = path
        composites[notes.get("composite", "")] = path
    if len(profiles) > 1:
        first, second = list(profiles)[:2]
        told = f"was scored with profile {one_line(second[0], 40)}, {profiles[first]} with {one_line(first[0], 40)}"
        if first[0] == second[0]:
            told = f"was scored with another version of profile {one_line(first[0], 40)} than {profiles[first]}"
        raise InputError(profiles[second], "profile", told, "score all rows with one profile")
    if len(composites) > 1:
        told = "was not scored with the same CGE file as the others"
        raise InputError(list(composites.values())[1], "composite", told, "score all rows with one, or none with any")
    (name, digest), (composite,) = next(iter(profiles)), composites
    frame = pd.concat(frames, ignore_index=True)
    return Scored(frame=frame, profile=name, profile_sha256=digest, composite=composite)


def _frame(path: Path, table: "pa.Table") -> "pd.DataFrame":
    import numpy as np
    import pandas as pd

    if table.num_rows == 0:
        raise InputError(path, "", "has no rows", "score at least one row")
    columns: dict[str, object] = {
        name: table.column(name).to_pandas().fillna("").astype("str") for name in ("paper_id", SYSTEM)
    }
    for name in (*METRICS, COMPOSITE):
        numbers = table.column(name).to_pandas().to_numpy(dtype="float64")
        wrong = np.flatnonzero((numbers < 0) | (numbers > 1))
        if wrong.size:
            row = int(wrong[0])
            problem = f"{numbers[row]:g} is not from 0 to 1"
            raise InputError(path, f"{name}, row {row + 1}", problem, "score the rows again")
        columns[name] = numbers
    columns |= {name: table.column(name).to_pandas(types_mapper=lambda _: pd.BooleanDtype()) for name in TAXONOMY}
    return pd.DataFrame(columns)
