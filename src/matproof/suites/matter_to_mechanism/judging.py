"""Pairwise judging: two systems' hypotheses for one problem, shown to a model as A and B, once in each order.

Nothing tells the judge who wrote which: proposals are JSON of the same fields, without names. A reply without a
readable verdict is asked for it once more; then the comparison is unscored, with the reason, and counts in no rate.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from matproof.records.base import Record
from matproof.suites.matter_to_mechanism.asking import Asker, Message, NoAnswerError
from matproof.suites.matter_to_mechanism.attacks import sample_order
from matproof.suites.matter_to_mechanism.columns import SOLUTION_COLUMNS, SYSTEM
from matproof.suites.matter_to_mechanism.interview import Interview, cost_words
from matproof.suites.matter_to_mechanism.problems import Problem, problems_of, prompt, shown
from matproof.suites.matter_to_mechanism.tagged import TAGS
from matproof.suites.matter_to_mechanism.verdicts import Verdict, parse_verdict
from matproof.suites.matter_to_mechanism.working import Progress, Worked, work_through

if TYPE_CHECKING:
    import pyarrow as pa

Order = Literal["ab", "ba"]
ORDERS: tuple[Order, ...] = ("ab", "ba")
TIE = "tie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One problem and what two systems wrote for it; `a` comes before `b` by name."""

    problem: Problem
    system_a: str
    system_b: str
    proposals: dict[str, dict[str, str]]
    """System → its proposal as it is shown."""


class Judgement(Record):
    """What one judge said of one comparison in one order: one line of the file of judgements."""

    judge: str
    """The judge's model."""
    paper_id: str
    system_a: str
    system_b: str
    """The two systems, by name in order."""
    order: Order
    """`ab`: A was `system_a`; `ba`: A was `system_b`."""
    winner: str | None
    """A system's name, `tie`, or null where unscored."""
    reason: str | None
    """The judge's own words."""
    unscored_reason: str | None
    asked: int
    """Questions that it took: 2 where the first reply had no verdict."""
    scripted: bool
    """Whether a script answered."""
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    """US dollars; null where unknown."""


def comparisons(table: "pa.Table", *, pairs: int | None, seed: int) -> list[Comparison]:
    """All pairs of systems on the problems that both have a hypothesis for, in the table's order of problems.

    `pairs`: at most so many problems for each pair of systems, drawn by seed, names and `paper_id` alone.
    """
    problems = {problem.paper_id: problem for problem in problems_of(table)}
    written: dict[str, dict[str, dict[str, str]]] = {}
    columns = [name for name in TAGS.values() if name in table.column_names]
    for row in table.select(["paper_id", SYSTEM, *columns]).to_pylist():
        proposal = {name: shown(row[name]) for name in columns if row[name].strip()}
        if "hypothesis" in proposal:
            written.setdefault(row[SYSTEM], {}).setdefault(row["paper_id"], proposal)
    found = []
    for one, other in combinations(sorted(written), 2):
        common = [paper_id for paper_id in problems if paper_id in written[one] and paper_id in written[other]]
        drawn = sorted(common, key=lambda paper_id: sample_order(json.dumps([one, other, paper_id]), seed))[:pairs]
        for paper_id in (paper_id for paper_id in common if paper_id in set(drawn)):
            sides = {one: written[one][paper_id], other: written[other][paper_id]}
            found.append(Comparison(problem=problems[paper_id], system_a=one, system_b=other, proposals=sides))
    return found


def shown_systems(comparison: Comparison, order: Order) -> tuple[str, str]:
    """(who is A, who is B)."""
    both = (comparison.system_a, comparison.system_b)
    return both if order == "ab" else (both[1], both[0])


def question(comparison: Comparison, order: Order) -> str:
    """The judge's prompt."""
    first, second = shown_systems(comparison, order)
    proposals = {"A": comparison.proposals[first], "B": comparison.proposals[second]}
    text = json.dumps(proposals, ensure_ascii=False, indent=1)
    return prompt("judge").render(problem=comparison.problem.text, proposals=text)


def judge_all(given: Sequence[Comparison], asker: Asker, *, parallel: int) -> Worked[Judgement]:
    """Judge each comparison in both orders; results stand at twice the comparison's place, `ba` one further."""
    tasks = [(comparison, order) for comparison in given for order in ORDERS]
    scripted = asker.asked.backend.scripted
    progress = Progress(
        f"judge {asker.asked.model}",
        len(tasks),
        lambda: cost_words(asker.usage().cost_usd, scripted=scripted),
    )
    return work_through(tasks, lambda task: judge(*task, asker), parallel=parallel, progress=progress)


def judge(comparison: Comparison, order: Order, asker: Asker) -> Judgement:
    """Ask once, and once more where the verdict can't be read."""
    interview = Interview(asker, comparison.problem.paper_id)
    verdict: Verdict | str
    try:
        messages = (Message(role="user", text=question(comparison, order)),)
        said = interview.go_on("judge", messages)
        verdict = parse_verdict(said.text)
        if isinstance(verdict, str):
            again = Message(role="user", text=prompt("judge-again").render().strip())
            reply = Message(role="assistant", text=said.text[:20_000])
            second = parse_verdict(interview.go_on("judge", (*messages, reply, again)).text)
            if isinstance(second, str):
                verdict = f"{verdict}; asked again: {second}"
            else:
                verdict = Verdict(second.choice, shown(said.text))
    except NoAnswerError as error:
        verdict = str(error)
    return _judgement(comparison, order, verdict, interview)


def _judgement(comparison: Comparison, order: Order, verdict: Verdict | str, interview: Interview) -> Judgement:
    read = verdict if isinstance(verdict, Verdict) else None
    first, second = shown_systems(comparison, order)
    return Judgement(
        judge=interview.asker.asked.model,
        paper_id=comparison.problem.paper_id,
        system_a=comparison.system_a,
        system_b=comparison.system_b,
        order=order,
        winner=None if read is None else {"A": first, "B": second, "TIE": TIE}[read.choice],
        reason=None if read is None else read.reason,
        unscored_reason=verdict if isinstance(verdict, str) else None,
        asked=interview.used.calls,
        scripted=interview.asker.asked.backend.scripted,
        input_tokens=interview.used.input_tokens,
        output_tokens=interview.used.output_tokens,
        cost_usd=interview.used.cost_usd,
    )


def joined(tables: Iterable["pa.Table"]) -> "pa.Table":
    """Rows of several files as one table of the columns that judging reads; missing ones are empty."""
    import pyarrow as pa

    from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS

    names = (*PROBLEM_COLUMNS, *SOLUTION_COLUMNS, SYSTEM)
    parts = []
    for table in tables:
        empty = pa.array([""] * table.num_rows, pa.string())
        cells = [table.column(name).cast(pa.string()) if name in table.column_names else empty for name in names]
        parts.append(pa.table(cells, names=list(names)))
    return pa.concat_tables(parts)
