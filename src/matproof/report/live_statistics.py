"""Statistics of a campaign that is still running, for the site that `matproof serve` shows.

They resample, so they are made again only where the tables they stand on changed, take at most a quarter of the time
however long they take, and are left out of large campaigns, which says so once.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.core.errors import MatproofError
from matproof.tables.columns import TABLES
from matproof.tables.store import read_arrow, table_path

MOST_RUNS = 2_000
"""Runs of a campaign whose statistics are made while it runs."""
SHARE = 4
"""They wait until this many times as long as they last took has passed since they were last begun."""


@dataclass(slots=True)
class LiveStatistics:
    """When the statistics of the tables in `work` are due, and why they are not there."""

    work: Path
    include_scripted: bool
    tell: Callable[[str], None]
    stop: Callable[[], None]
    """Called between two analyses; what it raises ends the work."""
    made_from: str = ""
    due: float = 0.0
    said: str | None = None

    def refresh(self) -> bool:
        """Make them again where they are due. Returns whether they were made. Raises InputError without tables."""
        runs = read_arrow(self.work, "runs").num_rows
        if runs > MOST_RUNS:
            self._say(
                f"statistics are left out of the live site: {runs:,} runs are more than {MOST_RUNS:,}; "
                "`matproof statistics` makes them"
            )
            return False
        state = _state(self.work)
        if state == self.made_from:
            self._still_true()
            return False
        if elapsed() < self.due:
            return False
        began = elapsed()
        try:
            self._make()
        except MatproofError as error:
            self._say(f"no statistics now: {error}")
        else:
            self.said = None
        self.made_from, self.due = state, began + SHARE * (elapsed() - began)
        return self.said is None

    def _make(self) -> None:
        from matproof.tables.statistics import statistics, write_statistics

        rows = statistics(self.work, include_scripted=self.include_scripted, tell=lambda _: self.stop())
        write_statistics(self.work, rows)

    def _still_true(self) -> None:
        """Gathering wrote the same tables again: their date is no sign of news."""
        path = table_path(self.work, "statistics")
        if self.said is None and path.is_file():
            path.touch()

    def _say(self, text: str) -> None:
        if text != self.said:
            self.tell(text)
        self.said = text


def _state(work: Path) -> str:
    """What changes where a table does; gathering the same runs gives the same bytes."""
    digest = hashlib.sha256()
    for name in sorted(set(TABLES) - {"statistics"}):
        path = table_path(work, name)
        if path.is_file():
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
