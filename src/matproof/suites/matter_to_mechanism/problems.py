"""The problem side of rows: all that a model is ever shown of a row whose solution it shall write.

`paper_id` stays out of every prompt, since an identifier of a paper can stand for the paper's own solution.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.models.prompts import Prompt, load_prompt
from matproof.suites.matter_to_mechanism.asking import clean
from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

PACKAGE = "matproof.suites.matter_to_mechanism"
SHOWN_COLUMNS = tuple(name for name in PROBLEM_COLUMNS if name != "paper_id")
"""Columns that reach a model."""
MAX_SHOWN_CHARS = 8000
"""Longest field that a prompt holds; what is longer is cut, and noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem: its row's own problem-side cells, as they are."""

    paper_id: str
    fields: dict[str, str]
    """Problem column → text, empty where missing; `paper_id` is not among them."""
    year: str = ""

    @property
    def text(self) -> str:
        """The problem as every prompt shows it."""
        return prompt("problem").render(**{name: shown(text) for name, text in self.fields.items()}).strip()

    @property
    def notes(self) -> tuple[str, ...]:
        """Fields that the prompts show only in part."""
        long = [name for name, text in self.fields.items() if len(text) > MAX_SHOWN_CHARS]
        return tuple(f"{name} shown to the model up to {MAX_SHOWN_CHARS} characters" for name in long)


def shown(text: str) -> str:
    """A cell as prompts hold it: cut at `MAX_SHOWN_CHARS`, without control characters."""
    cut = text[:MAX_SHOWN_CHARS] + (" […]" if len(text) > MAX_SHOWN_CHARS else "")
    return clean(cut).strip()


@cache
def prompt(name: str) -> Prompt:
    """A prompt of the suite."""
    return load_prompt(PACKAGE, name)


def problems_of(table: "pa.Table") -> list[Problem]:
    """The problems of a rows table in its order, one for each `paper_id`: the first of rows that share it.

    Raises InputError for a row without one.
    """
    columns = {name: table.column(name).to_pylist() if name in table.column_names else None for name in SHOWN_COLUMNS}
    ids = table.column("paper_id").to_pylist()
    years = table.column("year").to_pylist() if "year" in table.column_names else [""] * len(ids)
    if "" in ids:
        where = f"row {ids.index('') + 1}"
        raise InputError("paper_id", where, "is empty, so nothing tells its problem from others", "give it a name")
    found: dict[str, Problem] = {}
    for index, paper_id in enumerate(ids):
        if paper_id not in found:
            fields = {name: cells[index] if cells is not None else "" for name, cells in columns.items()}
            found[paper_id] = Problem(paper_id=paper_id, fields=fields, year=years[index])
    return list(found.values())
