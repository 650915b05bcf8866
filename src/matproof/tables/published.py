"""What the AutoMat paper prints: a reference table to show beside a user's own numbers.

Every number is in `data/automat_published.yaml` with the section or table that prints it. A setting is the same as a
published one where their names agree but for case, spaces and punctuation, or where the file names it as another name
of it; nothing else is guessed. Claims and runs differ from the paper's, so a number beside another is no comparison.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from matproof.core.files import read_model
from matproof.tables.columns import Row

FILE = Path(__file__).parent / "data" / "automat_published.yaml"


class PublishedValue(BaseModel):
    """One printed number, or a range over the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    analysis: Literal["data", "score", "comparison", "calibration", "case"]
    name: str
    setting: str | None = None
    other: str | None = None
    """The second setting of a comparison."""
    group: str | None = None
    """Category of claims, dimension, or claim."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    source: str
    """Section, table or figure that prints it."""

    @model_validator(mode="after")
    def _is_a_number_or_a_range(self) -> Self:
        if (self.value is None) == (self.low is None) or (self.low is None) != (self.high is None):
            raise ValueError("give `value`, or `low` and `high`")
        return self


class PublishedTable(BaseModel):
    """All of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1]
    title: str
    settings: dict[str, list[str]]
    """Name in the paper → other names of it."""
    numbers: tuple[PublishedValue, ...]

    def setting(self, name: str | None) -> str | None:
        """The paper's name of a setting; None where it has none of that name."""
        for known, others in self.settings.items():
            if name is not None and plain(name) in {plain(known), *map(plain, others)}:
                return known
        return None

    def find(
        self,
        analysis: str,
        name: str,
        *,
        setting: str | None = None,
        other: str | None = None,
        group: str | None = None,
    ) -> PublishedValue | None:
        """The number for a setting of the user's; a range over the settings stands for each of them."""
        own, second = self.setting(setting), self.setting(other)
        for number in self.numbers:
            asked = (number.analysis, number.name, number.group) == (analysis, name, group)
            same = (number.setting, number.other) == (own, second) or (number.low is not None and own is not None)
            if asked and same:
                return number
        return None


def plain(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name).casefold()


@cache
def published_table() -> PublishedTable:
    """The reference table of this package. Raises InputError where the file was changed into nonsense."""
    return read_model(PublishedTable, FILE)


def published_columns(row: Row) -> Row:
    """The columns `published…` of a row of the table `statistics`; empty where the paper prints no such number."""
    group = row.get("group")
    found = published_table().find(
        row["analysis"], row["name"], setting=row.get("setting"), other=row.get("other"), group=group
    )
    if found is None or row["scripted"] or row["kind"] == "checks":
        return {}
    return {
        "published": found.value,
        "published_low": found.low,
        "published_high": found.high,
        "published_source": found.source,
    }
