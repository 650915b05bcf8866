"""Scoring a rows file: every row's six scores, their composite and its taxonomy flags, in the file's order."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from matproof.suites.matter_to_mechanism.arrays import booleans, doubles, texts
from matproof.suites.matter_to_mechanism.batch import HYPOTHESIS, INTERVENTION, TEXTS, Batch
from matproof.suites.matter_to_mechanism.columns import (
    ALL_ROWS,
    CBS_RENORMALISED,
    CGE,
    COMPOSITE,
    METRICS,
    SNS_UNSCORED_REASON,
    SYSTEM,
    USED_BY,
)
from matproof.suites.matter_to_mechanism.lexicon import Bound, Profile
from matproof.suites.matter_to_mechanism.neighbours import Floats, Ints, Search
from matproof.suites.matter_to_mechanism.novelty import SMALLEST, Corpus, novelty, reading_key
from matproof.suites.matter_to_mechanism.row_scores import RowScorer, Scores
from matproof.suites.matter_to_mechanism.rows import read_rows, require
from matproof.suites.matter_to_mechanism.scores_file import schema
from matproof.suites.matter_to_mechanism.seventh import with_seventh

_ROWS = 2_000
_BYTES = 32_000_000

Report = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores with what belongs in their file's metadata and what the reader should be told."""

    table: pa.Table
    metadata: dict[str, str]
    notes: list[str]


def read_for_scoring(path: Path, encoding: str = "utf-8") -> pa.Table:
    """The columns of the rows file that scores need. Raises InputError naming a missing one and its metric."""
    table = read_rows(path, columns=("paper_id", SYSTEM, *TEXTS), encoding=encoding)
    require(table, path, {"paper_id": "every score (it names the row)"} | {k: ", ".join(v) for k, v in USED_BY.items()})
    return table


def score(
    table: pa.Table,
    profile: Profile,
    *,
    threads: int = 1,
    approximate: bool = False,
    seventh: Floats | None = None,
    report: Report = lambda *_: None,
) -> Scored:
    """Score the rows of `table` (as `read_rows` gives them). The same rows give the same scores in any order.

    `seventh`: CGE of each row, which enters the composite and is the last column; by default there is none.
    """
    total = table.num_rows
    ids = table.column("paper_id").to_pylist()
    systems = table.column(SYSTEM).to_pylist() if SYSTEM in table.column_names else [ALL_ROWS] * total
    hypotheses, interventions = Corpus(), Corpus()
    parts: list[Scores] = []
    batteries: list[str] = []
    scorer = RowScorer(profile)
    for batch in _batches(table):
        numbers = scorer.numbers(batch)
        parts.append(scorer.scores(batch, numbers))
        for corpus, place in ((hypotheses, HYPOTHESIS), (interventions, INTERVENTION)):
            tokens, counts = batch.tokens(place)
            corpus.add(numbers[tokens], counts)
        batteries += [row.battery_system for row in batch.rows]
        report("rows", len(batteries), total)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        report("neighbours", done, 3 * total)

    def keys(members: Ints) -> list[tuple[Any, ...]]:
        first = table.column("hypothesis").to_pylist()
        second = table.column("intervention_or_solution").to_pylist()
        return [reading_key(ids[row], f"{first[row].lower()}\n{second[row].lower()}") for row in members.tolist()]

    search = Search(threads=threads, approximate=approximate, advance=advance)
    found = novelty(scorer.names, hypotheses, interventions, _numbered(systems), _numbered(batteries), keys, search)
    columns |= {
        "sns_corpus": found.corpus,
        "sns_within_system": found.within_system,
        "sns_intervention": found.intervention,
    }
    columns["sns"] = np.minimum(
        1.0,
        (
            0.40 * found.corpus
            + 0.25 * found.within_system
            + 0.20 * found.intervention
            + 0.15 * columns["sns_cross_domain"]
        ),
    )
    columns[COMPOSITE] = composite(columns, profile.weights)
    if seventh is not None:
        columns[COMPOSITE] = with_seventh(columns[COMPOSITE], seventh)
    result = _table(ids, systems, columns, profile)
    if seventh is not None:
        result = result.append_column(CGE, doubles(seventh))
    return Scored(result, _metadata(profile, search.name), _notes(ids, systems))


def composite(columns: dict[str, Floats], weights: dict[str, float]) -> Floats:
    """CBS: the weighted mean of the six metrics, of the five others where SNS is NaN."""
    five = sum((weights[name] * columns[name] for name in METRICS if name != "sns"), np.zeros_like(columns["rcf"]))
    total_of_five = sum(weight for name, weight in weights.items() if name != "sns")
    sns = columns["sns"]
    six = (five + weights["sns"] * np.nan_to_num(sns)) / (total_of_five + weights["sns"])
    return np.minimum(1.0, np.where(np.isnan(sns), five / total_of_five, six))


def flags(columns: dict[str, Floats], bounds: dict[str, Bound]) -> pa.Array:
    """Where all bounds hold; null where a metric is NaN and no other bound decides."""
    holds = np.ones(len(columns["rcf"]), np.bool_)
    unknown = np.zeros(len(holds), np.bool_)
    for metric, bound in bounds.items():
        values = columns[metric]
        unknown |= np.isnan(values)
        if bound.above is not None:
            holds &= values > bound.above
        if bound.below is not None:
            holds &= values < bound.below
    return booleans(holds, unknown)


def _batches(table: pa.Table) -> Iterator[Batch]:
    size = max(1, min(_ROWS, int(_BYTES * table.num_rows / max(1, table.nbytes))))
    for start in range(0, table.num_rows, size):
        part = table.slice(start, size)
        yield Batch(list(zip(*(part.column(name).to_pylist() for name in TEXTS), strict=True)))


def _numbered(values: list[str]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _table(ids: list[str], systems: list[str], columns: dict[str, Floats], profile: Profile) -> pa.Table:
    unscored = np.isnan(columns["sns"])
    sizes = Counter(systems)
    reasons = [
        f"its system has {sizes[system]} rows, fewer than {SMALLEST}" if lost else None
        for system, lost in zip(systems, unscored.tolist(), strict=True)
    ]
    arrays = {name: doubles(values) for name, values in columns.items()}
    arrays |= {"paper_id": texts(ids), SYSTEM: texts(systems), SNS_UNSCORED_REASON: texts(reasons)}
    arrays[CBS_RENORMALISED] = booleans(unscored, np.zeros_like(unscored))
    arrays |= {f"taxonomy_{name}": flags(columns, rule.bounds) for name, rule in profile.taxonomy.items()}
    kinds = schema()
    return pa.table([arrays[item.name] for item in kinds], schema=kinds)


def _metadata(profile: Profile, neighbours: str) -> dict[str, str]:
    return {"profile": profile.name, "profile_sha256": profile.sha256, "neighbours": neighbours}


def _notes(ids: list[str], systems: list[str]) -> list[str]:
    notes = []
    for system, size in sorted(Counter(systems).items()):
        if size < SMALLEST:
            notes.append(
                f"system {system!r}: SNS not scored ({size} rows, fewer than {SMALLEST}); CBS over the other five"
            )
    repeated = sum(count - 1 for count in Counter(zip(systems, ids, strict=True)).values())
    if repeated:
        notes.append(
            f"{repeated} rows repeat the paper_id of another row of their system; each is scored as a row of its own"
        )
    return notes
