"""The files of a calibration, in a directory of their own: experts' grades outlive the results they are about.

calibration/
  sample.json   which run each packet is: for the organiser alone, it names settings
  packets/      one page a run: all that an expert gets
  grades.json   what experts said, once checked
  report.json, report.md

Scores are whole numbers from 1 to 5, or null where an expert could not tell, which counts as unscored.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from matproof.core.errors import InputError
from matproof.records.base import Record
from matproof.records.evaluation import DIMENSIONS

SCALES = ("overall", *DIMENSIONS)
"""What experts score: the same as judges."""
LOWEST, HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class Kit:
    """Where they are."""

    root: Path

    @property
    def sample(self) -> Path:
        """Which run each packet is."""
        return self.root / "sample.json"

    @property
    def packets(self) -> Path:
        """What experts get."""
        return self.root / "packets"

    @property
    def grades(self) -> Path:
        """What experts said."""
        return self.root / "grades.json"

    @property
    def report_json(self) -> Path:
        """Agreement, every number."""
        return self.root / "report.json"

    @property
    def report_text(self) -> Path:
        """Agreement, for people."""
        return self.root / "report.md"

    def packet(self, name: str) -> Path:
        """Page of one packet."""
        return self.packets / f"{name}.html"

    def read_sample(self) -> "Sample":
        """The sample. Raises InputError where there is none."""
        if not self.sample.is_file():
            remedy = f"run `matproof calibrate sample RESULTS --out {self.root}` first"
            raise InputError(self.sample, "", "no such file", remedy)
        return Sample.read(self.sample)

    def read_grades(self) -> "Grades":
        """The grades imported so far; none where nothing was imported."""
        return Grades.read(self.grades) if self.grades.is_file() else Grades()


class Part(BaseModel):
    """Base of the parts."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SampledRun(Part):
    """A run that is to be graded."""

    packet: str
    claim: str
    setting: str
    repeat: int
    attempt: int
    """The attempt that counted when the sample was drawn; a later one is not graded."""
    reproduction_type: str
    verification: str


class Stratum(Part):
    """A setting and a kind of claim."""

    setting: str
    reproduction_type: str
    verification: str
    available: int
    """Runs that could be drawn."""
    wanted: int
    """Runs of an equal share."""
    drawn: int

    @property
    def short(self) -> bool:
        """Whether there were too few runs for an equal share."""
        return self.available < self.wanted


class Sample(Record):
    """`sample.json`."""

    sample: str
    """Hash of what was drawn: a packet's form repeats it."""
    seed: int
    asked: int
    """Runs asked for."""
    scripted: bool
    """Whether runs may be drawn in which a script answered in place of the agent's model."""
    runs: list[SampledRun]
    """By packet."""
    strata: list[Stratum]


class Grade(Part):
    """What one expert said of one packet."""

    packet: str
    rater: str = Field(min_length=1, max_length=40)
    """The expert's code; no name is needed."""
    scores: dict[str, int | None]
    """Scale → score; null where the expert could not tell."""
    notes: str = Field(default="", max_length=20_000)
    file: str
    """File that it came in."""


class Grades(Record):
    """`grades.json`."""

    sample: str = ""
    grades: list[Grade] = []
