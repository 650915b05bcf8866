"""One shard a run: the rows that its records become, and what is wrong with those that can't be read.

Never raises for what a file holds: that becomes a problem in the shard. What a record says is checked by its model
always; two copies of a run's record with the same bytes are checked once. Shards are kept in segments (see there).
"""

import os
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal, TypeVar

from pydantic_core import from_json

from matproof.core.errors import InputError
from matproof.records.base import Record
from matproof.records.evaluation import EvaluationRecord
from matproof.records.run import RunRecord
from matproof.tables import rows
from matproof.tables.columns import SHARDED, Row
from matproof.tables.scan import (
    EVALUATIONS,
    RUN_JSON,
    Contents,
    FoundRun,
    Signature,
    attempt_name,
    find_runs,
    signature_of,
)

__all__ = ["FoundRun", "Shard", "Signature", "State", "find_runs", "read_shard", "signature_of"]

R = TypeVar("R", bound=Record)
State = Literal["complete", "infrastructure", "unfinished", "broken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What one run adds to the tables."""

    state: State
    """`complete`: an attempt counts. `infrastructure`: every try was lost. `unfinished`: none ended yet. `broken`: its
    record can't be read, see problems."""
    tables: dict[str, list[Row]] = field(default_factory=dict)
    problems: list[Row] = field(default_factory=list)


def read_shard(results: Path, run: FoundRun, contents: Contents) -> Shard:
    """Read the records of `run` that `contents` lists."""
    reader = _Reader(results, run, contents)
    state = reader.read()
    return Shard(state=state, tables=reader.tables, problems=reader.problems)


def _worth(record: RunRecord) -> tuple[bool, int]:
    """Complete attempts before lost ones, newer before older."""
    return record.complete, record.attempt


class _Reader:
    """Reads the records of one run into rows and problems. A record is named by its path below the run."""

    def __init__(self, results: Path, run: FoundRun, contents: Contents) -> None:
        self._results = results
        self._run = run
        self._root = os.fspath(run.place.root)
        self._contents = contents
        self._checked: dict[bytes, RunRecord] = {}
        self.tables: dict[str, list[Row]] = {name: [] for name in SHARDED}
        self.problems: list[Row] = []

    def read(self) -> State:
        tries = [record for number in self._contents.attempts if (record := self._attempt(number)) is not None]
        name, (there, record) = RUN_JSON, self._record(RUN_JSON)
        if not there:
            # Snakemake removes run.json before another try: what an earlier one found is not lost with that try.
            record = max(tries, key=_worth, default=None)
            if record is None:
                return "unfinished"
            name = f"{attempt_name(record.attempt)}/{RUN_JSON}"
        if record is None:
            return "broken"
        complete = record.complete
        if not self._add(name, record, complete=complete, tries=tries):
            return "broken"
        if not complete:
            return "infrastructure"
        self._evaluations(record)
        return "complete"

    def _add(self, name: str, record: RunRecord, *, complete: bool, tries: list[RunRecord]) -> bool:
        others = [other for other in tries if other.attempt != record.attempt]
        lost = sum(not item.complete for item in [record, *others])
        return self._keep(
            name,
            runs=[rows.run_row(record, attempts=len(self._contents.attempts), lost=lost, complete=complete)],
            steps=rows.step_rows(record),
            usage=[
                rows.run_usage_row(spent, counted=spent is record)
                for spent in sorted([record, *others], key=lambda item: item.attempt)
            ],
        )

    def _keep(self, source: str, **tables: list[Row]) -> bool:
        """Take the rows that came from `source`, all or none: one that can't be stored leaves none behind."""
        for row in (row for found in tables.values() for row in found):
            if (wrong := _unstorable(row)) is not None:
                self._problem(source, InputError(self._path(source), *wrong, "run its station again"))
                return False
        for name, found in tables.items():
            self.tables[name] += found
        return True

    def _attempt(self, number: int) -> RunRecord | None:
        return self._record(f"{attempt_name(number)}/{RUN_JSON}")[1]

    def _path(self, name: str) -> Path:
        return self._run.place.root / name

    def _bytes(self, name: str) -> bytes:
        with open(f"{self._root}/{name}", "rb", buffering=0) as stream:  # noqa: PTH123 - see scan._NAMES
            return stream.read()

    def _record(self, name: str) -> tuple[bool, RunRecord | None]:
        """Whether there is something at `name`, and the record that it is; a run's own is a copy of an attempt's."""
        remedy = f"matproof rerun {self._run.claim}"
        try:
            data = self._bytes(name)
            record = self._checked.get(data) or _read(RunRecord, self._run.place.root, name, data)
        except (FileNotFoundError, NotADirectoryError):
            return False, None
        except (InputError, OSError, ValueError, RecursionError) as error:
            self._problem(name, error, remedy=remedy)
            return True, None
        found = (record.claim, record.setting, str(record.repeat))
        for field_name, says, is_ in zip(("claim", "setting", "repeat"), found, self._run.key, strict=True):
            if says != is_:
                wrong = f"says {says!r}, lies under {is_!r}"
                self._problem(name, InputError(self._path(name), field_name, wrong, "move it back"))
                return True, None
        self._checked[data] = record
        return True, record

    def _evaluations(self, run: RunRecord) -> None:
        for name in self._contents.evaluations:
            if (record := self._evaluation(name, run)) is not None:
                self._keep(
                    f"{EVALUATIONS}/{name}",
                    evaluations=rows.evaluation_rows(record),
                    judgements=rows.judgement_rows(record),
                    checks=rows.check_rows(record),
                    failures=rows.failure_rows(record),
                    flags=rows.flag_rows(record),
                    required_steps=rows.required_rows(record),
                    usage=rows.judge_usage_rows(record),
                )
        looked = [row["detected"] for row in self.tables["evaluations"] if "detected" in row]
        if looked:
            self.tables["runs"][0]["detected"] = any(looked)

    def _evaluation(self, file: str, run: RunRecord) -> EvaluationRecord | None:
        source, remedy = f"{EVALUATIONS}/{file}", f"remove {file} and evaluate again"
        try:
            record = _read(EvaluationRecord, self._run.place.root, source, self._bytes(source))
        except (InputError, OSError, ValueError, RecursionError) as error:
            self._problem(source, error, remedy=remedy)
            return None
        expected = {
            "claim": run.claim,
            "setting": run.setting,
            "repeat": run.repeat,
            "judge": file.removesuffix(".json"),
            "attempt": run.attempt,
        }
        for name, value in expected.items():
            says = getattr(record, name)
            if says != value:
                wrong = f"judges {says!r}, the run is {value!r}"
                self._problem(source, InputError(self._path(source), name, wrong, remedy))
                return None
        return record

    def _problem(self, name: str, error: Exception, remedy: str | None = None) -> None:
        row = rows.problem_row(self._path(name), error, below=self._results)
        self.problems.append(row | ({"remedy": remedy} if remedy else {}))


def _read(model: type[R], root: Path, name: str, data: bytes) -> R:
    """The record that `data` is, as `model.read` finds it; what is wrong with it, `model.read` says."""
    try:
        record = model.model_validate(from_json(data))
    except ValueError:
        return model.read(root / name)
    return record if record.schema_version == model.CURRENT else model.read(root / name)


def _unstorable(row: Row) -> tuple[str, str] | None:
    """A field of `row` that a table can't hold, and why; None where it can hold all."""
    for name, value in row.items():
        kind = type(value)
        if kind is int and not -(2**63) < value < 2**63:
            return name, "is larger than 64 bits hold"
        if kind is float and not isfinite(value):
            return name, "is not a finite number"
    return None
