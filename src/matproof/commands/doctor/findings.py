"""What a check of a site found, and how it is said."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from matproof.core.errors import MatproofError

Verdict = Literal["ok", "weak", "bad"]
"""`weak`: runs, with less than could be; `bad`: something will not run until it is changed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tested."""

    subject: str
    verdict: Verdict
    found: str
    remedy: str | None = None
    """What to change; null where nothing need be."""
    where: str | None = None
    """Host, where it is not this one."""

    @property
    def line(self) -> str:
        """For a person, in one line."""
        where = f" on {self.where}" if self.where else ""
        remedy = f" → {self.remedy}" if self.remedy else ""
        return " ".join(f"{self.verdict:<4}  {self.subject}{where}: {self.found}{remedy}".split("\n"))


Check = Callable[[], Iterator[Finding]]


def found_by(check: Check, subject: str) -> Iterator[Finding]:
    """What `check` finds; an error that it can't say itself is a finding too, so that the other checks go on."""
    try:
        yield from check()
    except (MatproofError, OSError) as error:
        yield Finding(subject, "bad", str(error))
