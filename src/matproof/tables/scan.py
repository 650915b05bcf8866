"""Which runs there are, and the signature of what the rows of each come from: names, sizes, times and file numbers.

No file is opened. A campaign has thousands of runs on a shared file system, where every call costs: a run is looked at
with three directory listings and one call a record. The file number (inode) is part of the signature because every
record is renamed into place: another one of the same size within one tick of the clock still has another number.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from matproof.records.places import Results, RunPlace

_NAMES = RunPlace(Path())
ATTEMPTS, EVALUATIONS = _NAMES.attempts.name, _NAMES.evaluations.name
RUN_JSON = _NAMES.run_json.name
"""Names below a run: a Path for each of a thousand files costs more than to read them."""

Signature = list[tuple[str, int, int, int]]
"""(path below the run, size in bytes, modification time in ns, file number), sorted."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run directory."""

    claim: str
    setting: str
    repeat: str
    place: RunPlace

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it."""
        return (self.claim, self.setting, self.repeat)


@dataclass(frozen=True, slots=True)
class Contents:
    """The records of a run, as its directories list them."""

    attempts: list[int]
    """Numbers of the attempt directories, ascending."""
    evaluations: list[str]
    """Names of the evaluations' files, sorted."""
    signature: Signature


def find_runs(results: Path) -> Iterator[FoundRun]:
    """Every `runs/<claim>/<setting>/<repeat>/` whose repeat is a number, sorted; hidden directories apart."""
    root = Results(results).runs
    for claim in _directories(os.fspath(root)):
        for setting in _directories(f"{root}/{claim}"):
            home = root / claim / setting
            for repeat in sorted(_directories(f"{root}/{claim}/{setting}"), key=lambda name: (len(name), name)):
                if repeat.isdecimal() and repeat.isascii():
                    yield FoundRun(claim, setting, repeat, RunPlace(home / repeat))


def contents_of(place: RunPlace) -> Contents:
    """The records of the run at `place` and their signature, taken before anything is read."""
    root = os.fspath(place.root)
    attempts = sorted(int(name) for name in _directories(f"{root}/{ATTEMPTS}") if name.isdecimal())
    found: Signature = []
    _add(found, root, RUN_JSON)
    for number in attempts:
        name = attempt_name(number)
        found.append((name, 0, 0, 0))
        _add(found, root, f"{name}/{RUN_JSON}")
    evaluations = _records(f"{root}/{EVALUATIONS}")
    for name in evaluations:
        _add(found, root, f"{EVALUATIONS}/{name}")
    return Contents(attempts, evaluations, sorted(found))


def attempt_name(number: int) -> str:
    """Path of an attempt's directory below its run."""
    return f"{ATTEMPTS}/{number:03d}"


def signature_of(place: RunPlace) -> Signature:
    """The signature of what the rows of a run come from."""
    return contents_of(place).signature


def _add(found: Signature, root: str, name: str) -> None:
    try:
        status = os.stat(f"{root}/{name}")  # noqa: PTH116 - a Path an entry costs more than the call
    except (FileNotFoundError, NotADirectoryError):
        return
    shown = os.fsencode(name).decode("utf-8", "replace")
    found.append((shown, status.st_size, status.st_mtime_ns, status.st_ino))


def _directories(path: str) -> list[str]:
    """Names of the directories in `path`, hidden ones apart, sorted; none where it is no directory."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _records(path: str) -> list[str]:
    """Names in `path` that are an evaluation's, sorted; none where it is no directory."""
    try:
        return sorted(name for name in os.listdir(path) if is_evaluation(name))  # noqa: PTH208 - as above
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_evaluation(name: str) -> bool:
    """Whether a file of this name in `evaluations/` is a judge's record."""
    return name.endswith(".json") and not name.startswith(".")
