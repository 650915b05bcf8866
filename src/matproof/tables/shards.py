"""One shard a run: its rows, and the signature of the files they came from.

Two properties are deliberate. A signature is taken before the files are read, so a file that changes meanwhile gives
a new signature next time. And it holds names, sizes and times only: a run whose signature is unchanged is never
opened again, which is what keeps a nightly `gather` of thousands of runs cheap. Shards of another table version or
of another matproof version are made again.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from matproof import __version__
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.records.base import Record
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import Results, RunPlace
from matproof.records.run import RunRecord
from matproof.tables import rows
from matproof.tables.columns import SHARDED, TABLES_VERSION, Row

State = Literal["complete", "infrastructure", "unfinished", "broken"]
Signature = list[tuple[str, int, int]]
"""(path below the run, size in bytes, modification time in ns), sorted."""


class Shard(Record):
    """`tables/shards/<claim>/<setting>/<repeat>.json`."""

    tables_version: int
    written_by: str
    signature: Signature
    state: State
    """`complete`: an attempt counts. `infrastructure`: every try was lost. `unfinished`: none ended yet. `broken`: its
    record can't be read, see problems."""
    tables: dict[str, list[Row]] = {}
    problems: list[Row] = []


@dataclass(frozen=True, slots=True, kw_only=True)
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


def find_runs(results: Path) -> Iterator[FoundRun]:
    """Every `runs/<claim>/<setting>/<repeat>/` whose repeat is a number, sorted; hidden directories apart."""
    for claim in _directories(Results(results).runs):
        for setting in _directories(claim):
            for repeat in sorted(_directories(setting), key=lambda path: (len(path.name), path.name)):
                if repeat.name.isdecimal() and repeat.name.isascii():
                    yield FoundRun(claim=claim.name, setting=setting.name, repeat=repeat.name, place=RunPlace(repeat))


def _directories(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith(".") and entry.is_dir())


def attempt_numbers(place: RunPlace) -> list[int]:
    """Numbers of the attempt directories, ascending."""
    return sorted(int(path.name) for path in _directories(place.attempts) if path.name.isdecimal())


def signature_of(place: RunPlace) -> Signature:
    """The signature of what the rows of a run come from."""
    files = [place.run_json, *(place.attempt(number).run_json for number in attempt_numbers(place))]
    if place.evaluations.is_dir():
        files += [path for path in place.evaluations.iterdir() if _is_evaluation(path)]
    found: Signature = []
    for path in files:
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        found.append((os.fsencode(path.relative_to(place.root)).decode("utf-8", "replace"), *_size_and_time(status)))
    found += [(f"attempts/{number:03d}", 0, 0) for number in attempt_numbers(place)]
    return sorted(found)


def _is_evaluation(path: Path) -> bool:
    return path.suffix == ".json" and not path.name.startswith(".")


def _size_and_time(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def shard_path(results: Path, key: tuple[str, str, str]) -> Path:
    """Where the shard of the run `key` is."""
    claim, setting, repeat = key
    return Results(results).tables / "shards" / claim / setting / f"{repeat}.json"


def stored_shard(path: Path, signature: Signature) -> Shard | None:
    """The shard at `path` where it still holds for `signature`; a broken or older one counts as none."""
    try:
        shard = Shard.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError, ValidationError):
        return None
    current = shard.tables_version == TABLES_VERSION and shard.written_by == __version__
    return shard if current and shard.signature == signature else None


def make_shard(results: Path, run: FoundRun, signature: Signature) -> Shard:
    """Read `run` and write its shard. Never raises for what a file holds: that becomes a problem in the shard."""
    reader = _Reader(results, run)
    state = reader.read()
    shard = Shard(
        tables_version=TABLES_VERSION,
        written_by=__version__,
        signature=signature,
        state=state,
        tables={name: reader.tables[name] for name in SHARDED if reader.tables[name]},
        problems=reader.problems,
    )
    write_json(shard_path(results, run.key), shard)
    return shard


def _worth(record: RunRecord) -> tuple[bool, int]:
    """Complete attempts before lost ones, newer before older."""
    return record.outcome != "infrastructure", record.attempt


class _Reader:
    """Reads the records of one run into rows and problems."""

    def __init__(self, results: Path, run: FoundRun) -> None:
        self._results = results
        self._run = run
        self._attempts = attempt_numbers(run.place)
        self.tables: dict[str, list[Row]] = {name: [] for name in SHARDED}
        self.problems: list[Row] = []

    def read(self) -> State:
        place = self._run.place
        tries = [record for number in self._attempts if (record := self._attempt(number)) is not None]
        if place.run_json.exists():
            path, record = place.run_json, self._record(place.run_json)
            if record is None:
                return "broken"
        else:
            # Snakemake removes run.json before another try: what an earlier one found is not lost with that try.
            record = max(tries, key=_worth, default=None)
            if record is None:
                return "unfinished"
            path = place.attempt(record.attempt).run_json
        complete = record.outcome != "infrastructure"
        if not self._add(path, record, complete=complete, tries=tries):
            return "broken"
        if not complete:
            return "infrastructure"
        self._evaluations(record)
        return "complete"

    def _add(self, path: Path, record: RunRecord, *, complete: bool, tries: list[RunRecord]) -> bool:
        others = [other for other in tries if other.attempt != record.attempt]
        lost = sum(item.outcome == "infrastructure" for item in [record, *others])
        return self._keep(
            path,
            runs=[rows.run_row(record, attempts=len(self._attempts), lost=lost, complete=complete)],
            steps=rows.step_rows(record),
            usage=[
                rows.run_usage_row(spent, counted=spent is record)
                for spent in sorted([record, *others], key=lambda item: item.attempt)
            ],
        )

    def _keep(self, path: Path, **tables: list[Row]) -> bool:
        """Take the rows that came from `path`, all or none: a table can't hold a number beyond 64 bits."""
        for row in (row for found in tables.values() for row in found):
            for field, value in row.items():
                if isinstance(value, int) and abs(value) >= 2**63:
                    self._problem(path, InputError(path, field, "is larger than 64 bits hold", "run its station again"))
                    return False
        for name, found in tables.items():
            self.tables[name] += found
        return True

    def _attempt(self, number: int) -> RunRecord | None:
        path = self._run.place.attempt(number).run_json
        return self._record(path) if path.exists() else None

    def _record(self, path: Path) -> RunRecord | None:
        try:
            record = RunRecord.read(path)
        except (InputError, OSError, ValueError, RecursionError) as error:
            self._problem(path, error, remedy=f"matproof rerun {self._run.claim}")
            return None
        found = (record.claim, record.setting, str(record.repeat))
        for field, says, is_ in zip(("claim", "setting", "repeat"), found, self._run.key, strict=True):
            if says != is_:
                self._problem(path, InputError(path, field, f"says {says!r}, lies under {is_!r}", "move it back"))
                return None
        return record

    def _evaluations(self, run: RunRecord) -> None:
        directory = self._run.place.evaluations
        for path in sorted(directory.iterdir()) if directory.is_dir() else []:
            if _is_evaluation(path) and (record := self._evaluation(path, run)) is not None:
                self._keep(
                    path,
                    evaluations=rows.evaluation_rows(record),
                    checks=rows.check_rows(record),
                    failures=rows.failure_rows(record),
                    usage=rows.judge_usage_rows(record),
                )

    def _evaluation(self, path: Path, run: RunRecord) -> EvaluationRecord | None:
        try:
            record = EvaluationRecord.read(path)
        except (InputError, OSError, ValueError, RecursionError) as error:
            self._problem(path, error, remedy=f"remove {path.name} and evaluate again")
            return None
        expected = {
            "claim": run.claim,
            "setting": run.setting,
            "repeat": run.repeat,
            "judge": path.stem,
            "attempt": run.attempt,
        }
        for field, value in expected.items():
            says = getattr(record, field)
            if says != value:
                remedy = f"remove {path.name} and evaluate again"
                self._problem(path, InputError(path, field, f"judges {says!r}, the run is {value!r}", remedy))
                return None
        return record

    def _problem(self, path: Path, error: Exception, remedy: str | None = None) -> None:
        row = rows.problem_row(path, error, below=self._results)
        self.problems.append(row | ({"remedy": remedy} if remedy else {}))
