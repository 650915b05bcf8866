"""Letting a system write a hypothesis for each problem, and putting its replies into rows that can be scored.

A reply without a hypothesis makes no row: it would be scored near 0 as if it were one. It is listed with the reason in
the record beside the rows, counted and printed. A reply that lacks other tags makes a row with those cells empty, and
the row says so in `generation_notes`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from matproof.core.errors import InputError
from matproof.core.files import read_model, write_json
from matproof.records.base import Record
from matproof.suites.matter_to_mechanism.answering import SCRIPTED_PREFIX
from matproof.suites.matter_to_mechanism.asking import Asker, NoAnswerError
from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS, SOLUTION_COLUMNS, SYSTEM
from matproof.suites.matter_to_mechanism.interview import Interview, Used, cost_words
from matproof.suites.matter_to_mechanism.problems import Problem, prompt
from matproof.suites.matter_to_mechanism.rows import write_table
from matproof.suites.matter_to_mechanism.systems import (
    PROMPTS,
    CoScientist,
    OneQuestion,
    Researcher,
    System,
    WithRetrieval,
)
from matproof.suites.matter_to_mechanism.tagged import Tagged, parse_tagged
from matproof.suites.matter_to_mechanism.working import Progress, Worked, work_through

if TYPE_CHECKING:
    import pyarrow as pa

    from matproof.suites.matter_to_mechanism.retrieval import Retrieval

NOTES = "generation_notes"
"""What was not as asked in the reply, joined by `; `; empty where all was."""
GENERATION_COLUMNS = (NOTES, "generation_model", "generation_scripted")
"""Columns of generated rows besides those of every rows file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What came of one problem: a row's text, or the reason why there is none."""

    problem: Problem
    tagged: Tagged | None
    reason: str | None
    notes: tuple[str, ...]
    used: Used


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A finished or stopped job, in the order of the problems."""

    generated: tuple[Generated, ...]
    worked: Worked[Generated]
    problems: int

    @property
    def written(self) -> list[Generated]:
        """Those that make rows."""
        return [one for one in self.generated if one.reason is None]

    @property
    def unusable(self) -> list[Generated]:
        """Those whose reply makes no row."""
        return [one for one in self.generated if one.reason is not None]

    @property
    def noted(self) -> list[Generated]:
        """Those that make rows although something was not as asked."""
        return [one for one in self.written if one.notes]


def system_of(
    kind: str, *, retrieval: "Retrieval | None" = None, k: int = 3, candidates: int = 3, ideas: int = 4
) -> System:
    """The system of that kind. `retrieval` is needed by `retrieval` alone."""
    if kind == "co-scientist":
        return CoScientist(candidates)
    if kind == "researcher":
        return Researcher(ideas)
    if kind == "retrieval":
        if retrieval is None:
            raise InputError("--corpus", "", "a retrieval system needs a corpus", "give rows with hypotheses")
        return WithRetrieval(retrieval, k)
    return OneQuestion("direct" if kind == "endpoint" else kind)


def check_name(name: str, *, scripted: bool, option: str = "--name") -> None:
    """Raises InputError for a name of a system or judge that hides that a script answers, or is no plain line."""
    if scripted and not name.startswith(SCRIPTED_PREFIX):
        problem = f"{name!r} hides that a script answers in place of a model"
        raise InputError(option, "", problem, f"begin the name with {SCRIPTED_PREFIX}")
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise InputError(option, "", "not a plain name of at most 100 characters", "give another")


def generate(problems: Sequence[Problem], system: System, asker: Asker, *, parallel: int) -> Generation:
    """Let `system` write about each problem. What a limit or the provider kept from being done is in `worked`."""

    def work(problem: Problem) -> Generated:
        interview = Interview(asker, problem.paper_id)
        try:
            written = system.write(problem, interview.ask)
        except NoAnswerError as error:
            return Generated(problem=problem, tagged=None, reason=str(error), notes=(), used=interview.used)
        tagged = parse_tagged(written.reply)
        reason = tagged.problem
        if not written.reply:
            reason = "; ".join(written.notes) or "the reply is empty"
        return Generated(
            problem=problem,
            tagged=tagged,
            reason=reason,
            notes=(*problem.notes, *written.notes, *_cut(interview), *tagged.notes),
            used=interview.used,
        )

    scripted = asker.asked.backend.scripted
    progress = Progress("generate", len(problems), lambda: cost_words(asker.usage().cost_usd, scripted=scripted))
    worked = work_through(problems, work, parallel=parallel, progress=progress)
    done = tuple(worked.results[index] for index in sorted(worked.results))
    return Generation(generated=done, worked=worked, problems=len(problems))


def _cut(interview: Interview) -> tuple[str, ...]:
    return (f"{interview.cut} replies cut at the longest length",) if interview.cut else ()


def rows_of(generation: Generation, *, name: str, asker: Asker) -> "pa.Table":
    """The rows table: problem side as it was given, solution side as it was written, and how it was made."""
    import pyarrow as pa

    model, scripted = asker.asked.model, "true" if asker.asked.backend.scripted else "false"
    rows = []
    for one in generation.written:
        fields = one.tagged.fields if one.tagged is not None else {}
        solution = {column: fields.get(column, "") for column in SOLUTION_COLUMNS} | {"year": one.problem.year}
        made = {NOTES: "; ".join(one.notes), "generation_model": model, "generation_scripted": scripted}
        rows.append({"paper_id": one.problem.paper_id, **one.problem.fields, **solution, SYSTEM: name, **made})
    columns = (*PROBLEM_COLUMNS, *SOLUTION_COLUMNS, SYSTEM, *GENERATION_COLUMNS)
    return pa.table({column: pa.array([row[column] for row in rows], pa.string()) for column in columns})


class Unusable(BaseModel):
    """A problem whose reply makes no row."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper_id: str
    reason: str


class Noted(BaseModel):
    """A row although something was not as asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper_id: str
    notes: tuple[str, ...]


class GenerationUsage(BaseModel):
    """What all calls of the job used, those of stopped runs too. Null is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class GenerationRecord(Record):
    """What is known of a job besides its rows; the same however often it was stopped and resumed."""

    system: str
    kind: str
    """Kind of system."""
    model: str
    scripted: bool
    """Whether a script answered in place of the model."""
    prompts: dict[str, str]
    """Prompt → version and hash."""
    temperature: float | None
    """Null: the provider's own."""
    max_output_tokens: int
    problems: int
    rows: int
    """Rows written."""
    unusable: tuple[Unusable, ...]
    noted: tuple[Noted, ...]
    unfinished: int
    """Problems that a limit or the provider left undone."""
    usage: GenerationUsage


def record_of(generation: Generation, *, kind: str, name: str, asker: Asker) -> GenerationRecord:
    """The record of a job."""
    asked = asker.asked
    used = sum((one.used for one in generation.generated), Used())
    return GenerationRecord(
        system=name,
        kind=kind,
        model=asked.model,
        scripted=asked.backend.scripted,
        prompts={name: prompt(name).stamp for name in ("problem", "form", *PROMPTS[kind])},
        temperature=asked.temperature,
        max_output_tokens=asked.max_output_tokens,
        problems=generation.problems,
        rows=len(generation.written),
        unusable=tuple(Unusable(paper_id=one.problem.paper_id, reason=one.reason or "") for one in generation.unusable),
        noted=tuple(Noted(paper_id=one.problem.paper_id, notes=one.notes) for one in generation.noted),
        unfinished=generation.problems - len(generation.generated),
        usage=GenerationUsage(**used.as_json()),
    )


def record_path(output: Path) -> Path:
    """Where the record of a job that writes `output` goes."""
    return output.with_name(f"{output.name}.generation.json")


def read_records(paths: Sequence[Path]) -> list[GenerationRecord]:
    """The records at `paths`. Raises InputError where one is none, or two are of one system."""
    found: dict[str, GenerationRecord] = {}
    for path in paths:
        record = read_model(GenerationRecord, path)
        if record.system in found:
            raise InputError(path, "system", f"{record.system!r} has a record already", "give one a system")
        found[record.system] = record
    return list(found.values())


def write_generation(generation: Generation, output: Path, *, kind: str, name: str, asker: Asker) -> None:
    """Write the rows to `output`, and the record beside them."""
    metadata = {"system": name, "kind": kind, "model": asker.asked.model}
    write_table(rows_of(generation, name=name, asker=asker), output, metadata)
    write_json(record_path(output), record_of(generation, kind=kind, name=name, asker=asker))
