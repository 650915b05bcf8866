"""What the Matter to Mechanism paper prints: a reference table to show beside a user's own numbers.

Every number is in `data/m2m_published.yaml` with the table or section that prints it. A system is the same as a
published one where their names agree but for case, spaces and punctuation; nothing else is guessed.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from matproof.core.files import read_model

FILE = Path(__file__).parent / "data" / "m2m_published.yaml"
ALL_SYSTEMS = "all systems"
"""Name under which the paper's taxonomy pools them."""

Part = Literal[
    "data",
    "mean",
    "taxonomy",
    "kendall",
    "judge",
    "attack",
    "weights",
    "weights_kendall",
    "contamination",
    "evidence",
    "retrieval_minus_direct",
    "spot_check",
    "cost",
]


class PublishedNumber(BaseModel):
    """One printed number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    part: Part
    name: str
    """What it is: a metric, a flag, a weight scheme."""
    value: float
    system: str | None = None
    style: str | None = None
    """Attack style, in `attack`."""
    p_value: float | None = None
    source: str
    """Table, section or appendix that prints it."""


class Published(BaseModel):
    """All of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1]
    title: str
    numbers: tuple[PublishedNumber, ...]

    def find(
        self, part: Part, name: str, *, system: str | None = None, style: str | None = None
    ) -> PublishedNumber | None:
        """The number of that part and name, of that system or style where one is given."""
        for number in self.numbers:
            same = number.part == part and number.name == name and number.style == style
            if same and (number.system is None) == (system is None) and plain(number.system) == plain(system):
                return number
        return None

    def value(self, part: Part, name: str, *, system: str | None = None, style: str | None = None) -> float | None:
        """Its value; None where the paper's text does not give it."""
        number = self.find(part, name, system=system, style=style)
        return None if number is None else number.value

    def systems(self) -> list[str]:
        """The published systems, best first as the paper lists them."""
        return list(dict.fromkeys(one.system for one in self.numbers if one.part == "mean" and one.system))


def plain(name: str | None) -> str:
    """A system's name without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name or "").casefold()


def known_names(systems: Iterable[str], published: Published) -> dict[str, str]:
    """Each system that the paper has too → its name there."""
    names = {plain(name): name for name in published.systems()}
    return {system: names[plain(system)] for system in systems if plain(system) in names}


@cache
def published_numbers() -> Published:
    """The reference table of this package. Raises InputError where the file was changed into nonsense."""
    return read_model(Published, FILE)
