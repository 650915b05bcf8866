"""One run as detectors see it: files, commands, calls and results, read once and within bounds.

Everything here was written by an agent or by programs that it started. Nothing is executed, no link is followed, and
whatever its number and size, at most `MOST_TEXT` bytes of files and `MOST_TRACE` bytes of trace are read: what is left
out is counted, and `gaps` says so.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from matproof.claims.models import Expected
from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within
from matproof.core.trees import FoundFile, plain_files, printable
from matproof.evaluation.detectors.numbers import key_of, written
from matproof.evaluation.detectors.told import Command, Told, read_told
from matproof.evaluation.matching import Target, match
from matproof.records.analysis import ANALYSIS, AnalysisResult, ExtractedResult
from matproof.records.flags import LONGEST_EXCERPT, FoundAt
from matproof.records.inventory import MOST_FILES, Inventory, evidence_files
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord

MOST_TEXT = 32_000_000
"""Bytes read of all files together."""
MOST_OF_FILE = 4_000_000
"""Bytes read of one file, from its beginning."""
MOST_READ = 5_000
"""Files that are opened."""
MOST_RESULTS = 100
"""Reported numbers that are looked for."""
MOST_PAYLOAD = 5_000
"""Files of the payload that artifacts are compared with."""
LARGEST_COPY = 64_000_000
"""Bytes up to which an artifact is compared with the payload."""
MOST_COMPARED = 4_000_000_000
"""Bytes of artifacts that are compared with it; what comes later counts as the agent's own."""
SCRIPTS = frozenset({".py", ".sh", ".bash", ".ipynb", ".r", ".jl", ".m", ".pl", ".js", ".lmp", ".in", ".awk"})
LOGS = frozenset({".out", ".log", ".err", ".lammps"})


@dataclass(slots=True, weakref_slot=True)
class _Read:
    total: int = 0
    opened: int = 0
    cut: int = 0
    skipped: int = 0
    data: dict[str, bytes | None] = field(default_factory=dict)
    compared: int = 0


class Scene:
    """A run that ended. Names of files are paths below the attempt's directory."""

    def __init__(
        self,
        *,
        place: AttemptPlace,
        record: RunRecord,
        task: Path,
        expected: Expected | None,
        analysis: AnalysisResult | None,
    ) -> None:
        self.place = place
        self.record = record
        self.task = task
        self.expected = expected
        self.analysis = analysis
        self.notes: list[str] = []
        """What detectors could not look at, in words."""
        self._read = _Read()

    @cached_property
    def _tree(self) -> tuple[dict[str, FoundFile], bool]:
        found, whole = evidence_files(self.place)
        return {file.name: file for file in found}, whole

    @property
    def files(self) -> dict[str, FoundFile]:
        """Everything the attempt left as evidence, by name."""
        return self._tree[0]

    @cached_property
    def artifacts(self) -> list[FoundFile]:
        """What the agent left that it was not given: files of `artifacts/` that are no copies of the payload."""
        return [f for f in self.files.values() if f.name.startswith("artifacts/") and not self._was_given(f)]

    @cached_property
    def told(self) -> Told:
        """What the trace tells."""
        return read_told(self.place.trace, self.place.artifacts.name)

    @cached_property
    def commands(self) -> list[Command]:
        """Command lines that were executed, of steps first, in order."""
        of_steps = [
            Command(attempt.command, FoundAt(file="run.json", excerpt=excerpt(attempt.command)), attempt.workdir)
            for step in self.record.steps
            for attempt in step.attempts
        ]
        return of_steps + self.told.commands

    @cached_property
    def first_heard(self) -> dict[str, int]:
        """Key of each reported number → the line of the trace where a tool's answer showed it first.

        Answers to calls that read what the agent was given, or that only show a file back which it typed, don't count.
        """
        wanted = {key_of(result.value or 0.0) for result in self.reported}
        given = ("payload", "claim.txt", "paper", *{PurePosixPath(one.name).name for one in self.told.typed[:1_000]})
        found: dict[str, int] = {}
        left = MOST_TEXT // 2
        for heard in self.told.heard:
            if left < 0 or len(found) == len(wanted):
                break
            if any(word in heard.call for word in given):
                continue
            left -= len(heard.text)
            for _, value, _ in written(heard.text):
                if (key := key_of(value)) in wanted:
                    found.setdefault(key, heard.order)
        return found

    @cached_property
    def logged(self) -> set[str]:
        """Keys of the reported numbers that a captured log of a step shows."""
        wanted = {key_of(result.value or 0.0) for result in self.reported}
        logs = (text for name, text in self.texts() if name.startswith("steps/"))
        return {key for text in logs for _, value, _ in written(text) if (key := key_of(value)) in wanted}

    @cached_property
    def sources(self) -> dict[str, list[ExtractedResult]]:
        """File that the agent names as the source of a result that matters → those results."""
        found: dict[str, list[ExtractedResult]] = {}
        for result in self.reported:
            if result.source_file:
                found.setdefault(artifact_name(result.source_file), []).append(result)
        return found

    @cached_property
    def reported(self) -> list[ExtractedResult]:
        """Reported numbers that answer an expected quantity, or any where none is expected; at most MOST_RESULTS."""
        results = self._answering
        if len(results) > MOST_RESULTS:
            self.notes.append(f"only {MOST_RESULTS} of {len(results)} reported numbers were looked for")
        return results[:MOST_RESULTS]

    @property
    def _answering(self) -> list[ExtractedResult]:
        results = [] if self.analysis is None else [r for r in self.analysis.results if r.value is not None]
        if self.expected is None or not self.expected.quantities:
            return results
        targets = [
            Target(name=quantity.name, unit=quantity.unit, aliases=tuple(quantity.aliases))
            for quantity in self.expected.quantities
        ]
        answering = {found.reported_as for found in match(targets, results).values()}
        return [result for result in results if result.quantity in answering]

    @cached_property
    def inventory(self) -> Inventory | None:
        """What was there at the end of the run; None where that was not recorded. Raises InputError."""
        return Inventory.read(self.place.inventory) if self.place.inventory.is_file() else None

    def texts(self) -> Iterator[tuple[str, str]]:
        """Text files of the artifacts and logs of steps, those that matter most first, as far as the bounds allow."""
        for name in self._order:
            if (text := self.text(name)) is not None:
                yield name, text

    def scripts(self) -> Iterator[tuple[str, str]]:
        """Of those, the programs and input files of programs among the artifacts."""
        for name, text in self.texts():
            if name.startswith("artifacts/") and is_script(PurePosixPath(name)):
                yield name, text

    def text(self, name: str) -> str | None:
        """The file as text; None where it is none, or out of bounds."""
        data = self.data(name)
        if data is None:
            return None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16", "replace")
        return None if b"\0" in data[:65536] else data.decode("utf-8-sig", "replace")

    def data(self, name: str) -> bytes | None:
        """The first bytes of a file; None where it can't be read, or what may be read is used up."""
        read = self._read
        if name not in read.data:
            if read.total >= MOST_TEXT or read.opened >= MOST_READ:
                read.skipped += 1
                return None
            limit = min(MOST_OF_FILE, MOST_TEXT - read.total)
            try:
                found = read_within(self.place.root, name, limit=limit)
            except (OSError, UnsafePathError):
                read.data[name] = None
                return None
            read.opened += 1
            read.total += len(found)
            size = self.files[name].size if name in self.files else len(found)
            read.cut += size > len(found)
            read.data[name] = found
        return read.data[name]

    @property
    def gaps(self) -> str | None:
        """What could not be looked at so far, in words."""
        parts = list(self.notes)
        if not self._tree[1]:
            parts.append(f"not all files could be listed (at most {MOST_FILES:,} are)")
        if self._read.skipped or self._read.cut:
            parts.append(
                f"{self._read.total / 1e6:.0f} MB of {self._read.opened:,} files were read, and not all of the rest"
            )
        if self.told.cut:
            parts.append("only the beginning of the trace was read")
        return "; ".join(parts) or None

    @cached_property
    def _order(self) -> list[str]:
        logs = [file for file in self.files.values() if file.name.startswith("steps/")]
        named = {*self.sources, f"artifacts/{ANALYSIS}"}

        def rank(file: FoundFile) -> tuple[int, int, str]:
            path = PurePosixPath(file.name)
            first = 0 if file.name in named else 1 if path.suffix.lower() in SCRIPTS else 2 if is_log(path) else 3
            return first, file.size, file.name

        return [file.name for file in sorted([*self.artifacts, *logs], key=rank)]

    @cached_property
    def _given(self) -> dict[int, set[str]]:
        """Size → hashes of the payload's files."""
        found: dict[int, set[str]] = {}
        for file in plain_files(self.place.payload, MOST_PAYLOAD).files:
            if 0 < file.size <= LARGEST_COPY and (digest := self._digest(self.place.payload, file.name)) is not None:
                found.setdefault(file.size, set()).add(digest)
        return found

    def _was_given(self, file: FoundFile) -> bool:
        if file.size not in self._given or self._read.compared > MOST_COMPARED:
            return False
        self._read.compared += file.size
        return self._digest(self.place.root, file.name) in self._given[file.size]

    @staticmethod
    def _digest(root: Path, name: str) -> str | None:
        try:
            return hashlib.sha256(read_within(root, name, limit=LARGEST_COPY)).hexdigest()
        except (OSError, UnsafePathError):
            return None


def is_log(path: PurePosixPath) -> bool:
    """Whether a file is a log by its name."""
    return path.suffix.lower() in LOGS or path.name.lower().startswith("log.") or path.name in ("OUTCAR", "OSZICAR")


def is_script(path: PurePosixPath) -> bool:
    """Whether a file is a program, or an input file of one, by its name."""
    return path.suffix.lower() in SCRIPTS or path.name.lower().startswith("in.")


def artifact_name(path: str) -> str:
    """The name that an agent's path of an artifact means."""
    text = path.strip().removeprefix("/work/").removeprefix("/")
    text = str(PurePosixPath(text))
    return text if text.startswith("artifacts/") else f"artifacts/{text}"


def excerpt(text: str, start: int = 0, end: int | None = None) -> str:
    """The line of `text` around `start`, printable and short."""
    begin = max(text.rfind("\n", 0, start) + 1, start - 80)
    stop = text.find("\n", start if end is None else end)
    line = text[begin : len(text) if stop < 0 else stop][: LONGEST_EXCERPT * 2]
    shown = printable(line.replace("\n", " ⏎ ").replace("\t", " ").strip())
    return shown if len(shown) <= LONGEST_EXCERPT else shown[: LONGEST_EXCERPT - 1] + "…"


def at(name: str, text: str, start: int, end: int | None = None) -> FoundAt:
    """The place `start` of `text`, which the file `name` holds."""
    return FoundAt(file=printable(name), line=text.count("\n", 0, start) + 1, excerpt=excerpt(text, start, end))
