"""Progress of a campaign, one line a finished job: how many are left, how long it takes, station, claim, setting.

A Snakemake logger plugin (`logger: matproof` in a profile). Errors, warnings and dry runs keep Snakemake's own text.
"""

import sys
import threading
import time
from logging import WARNING, LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

__all__ = ["LogHandler"]

_QUIET = {
    LogEvent.RUN_INFO,
    LogEvent.SHELLCMD,
    LogEvent.JOB_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RULEGRAPH,
}
_NOISE = (
    "Select jobs",
    "Assuming unrestricted",
    "host:",
    "Building DAG",
    "Complete log",
    "Provided ",
    "Rules claiming",
    "Using shell",
    "Conda environments",
)
_TOLD = ("claim", "setting", "judge", "audience", "system", "profile")
"""Wildcards that tell jobs of a rule apart."""
_LONG = "reproduce"
"""The station that may take hours: its start is told too."""


class LogHandler(LogHandlerBase):
    """Writes to standard error."""

    def __post_init__(self) -> None:
        """Start the clock."""
        self._begun = time.monotonic()
        self._jobs: dict[int, tuple[str, float]] = {}
        self._finished: list[int] = []
        self._writing = threading.Lock()

    @property
    def writes_to_stream(self) -> bool:
        """In place of Snakemake's own stream."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Snakemake keeps its own log file."""
        return False

    @property
    def has_filter(self) -> bool:
        """Snakemake's filter applies."""
        return False

    @property
    def has_formatter(self) -> bool:
        """Snakemake's formatter serves for everything that is not progress."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """No."""
        return False

    def emit(self, record: LogRecord) -> None:
        """Write what a person waits for; never raise into the workflow."""
        try:
            line = self._line(record)
        except Exception:
            self.handleError(record)
            return
        if line:
            with self._writing:
                sys.stderr.write(line + "\n")
                sys.stderr.flush()

    def _line(self, record: LogRecord) -> str | None:
        said: dict[str, Any] = vars(record)
        event = said.get("event")
        if self.common_settings.dryrun or record.levelno >= WARNING or event is LogEvent.JOB_ERROR:
            return self.format(record)
        if event is LogEvent.JOB_INFO:
            title = _title(said["rule_name"], said["wildcards"] or {})
            self._jobs[said["jobid"]] = (title, time.monotonic())
            return f"{self._clock()}  begins{' ' * 15}{title}" if said["rule_name"] == _LONG else None
        if event is LogEvent.JOB_FINISHED:
            self._finished.append(said["job_id"])
            return None
        if event is LogEvent.PROGRESS:
            return self._progress(said["done"], said["total"])
        if event in _QUIET:
            return None
        text = record.getMessage().strip()
        return None if not text or text == "None" or text.startswith(_NOISE) else text

    def _progress(self, done: int, total: int) -> str:
        now = time.monotonic()
        lines = []
        batch, self._finished = self._finished, []
        for offset, job in enumerate(batch, start=1 - len(batch)):
            title, started = self._jobs.pop(job, ("job", now))
            left = total - done - offset
            count = f"{done + offset:>4} done, {left:>4} left"
            lines.append(f"{self._clock()}  {count}  {title}  ({now - started:.1f} s)")
        return "\n".join(lines)

    def _clock(self) -> str:
        """Time since the start, as h:mm:ss."""
        minutes, rest = divmod(int(time.monotonic() - self._begun), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{rest:02d}"


def _title(rule: str, wildcards: dict[str, Any]) -> str:
    rest = [str(value) for name, value in wildcards.items() if name in _TOLD]
    repeat = wildcards.get("repeat")
    if repeat not in (None, "1", 1):
        rest.append(f"repeat {repeat}")
    return f"{rule:<10} {' · '.join(rest)}".rstrip()
