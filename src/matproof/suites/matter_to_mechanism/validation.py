"""Whether the composite only repeats what text similarity says: systems ranked by both, and rows.

A system's hypotheses are compared with the references: the rows of one system, by paper. A row takes part where both
texts are there and it has a composite; everything is computed over those rows, the mean composite too, so that two
rankings never rest on different rows. Kendall's τ is over systems, Spearman's ρ over rows (all together, and per
system, because differences between systems can make or hide a correlation of rows).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import COMPOSITE, SYSTEM
from matproof.suites.matter_to_mechanism.pairs import similarities
from matproof.suites.matter_to_mechanism.ranking import Agreement, kendall, mean, spearman
from matproof.suites.matter_to_mechanism.scored import Scored, is_scripted
from matproof.suites.matter_to_mechanism.similarity import Pair, Similarity
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS, Published
from matproof.tables.words import one_line, plural

if TYPE_CHECKING:
    import pandas as pd

HYPOTHESIS = "hypothesis"
REFERENCE = "Reference"
"""System whose hypotheses are the references, unless another is named."""

LONGEST = 20_000
"""Characters of a text that is compared: ROUGE-L takes time and memory of the product of two lengths."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Rows that take part, with their reference in the column `reference`, and how many do not, by reason."""

    frame: "pd.DataFrame"
    left_out: dict[str, int]


def matched(scored: Scored, reference: str = REFERENCE) -> Matched:
    """Rows of `scored` (with hypotheses) beside the reference of their paper. Raises InputError where none has one."""
    frame = scored.frame
    own = frame[SYSTEM] == reference
    if not own.any():
        names = one_line(", ".join(scored.systems()))
        raise InputError("--reference", reference, "no rows of that system", f"name one of {names}")
    texts = frame[own].drop_duplicates("paper_id").set_index("paper_id")[HYPOTHESIS]
    others = frame[~own].assign(reference=lambda rows: rows["paper_id"].map(texts))
    longest = others[[HYPOTHESIS, "reference"]].fillna("").map(len).max(axis=1)
    reasons = {
        "without a reference for their paper": others["reference"].isna(),
        "with an empty reference": others["reference"].fillna("x").str.strip() == "",
        "with an empty hypothesis": others[HYPOTHESIS].str.strip() == "",
        f"with a text of more than {LONGEST:,} characters": longest > LONGEST,
        "without a composite": others[COMPOSITE].isna(),
    }
    left_out, kept = {}, others[SYSTEM].notna()
    for reason, rows in reasons.items():
        left_out[reason] = int((kept & rows).sum())
        kept &= ~rows
    left_out["of a second reference of a paper"] = int(own.sum()) - len(texts)
    if not kept.any():
        raise InputError(
            "rows", SYSTEM, f"no row can be compared with {one_line(reference, 60)}", "see what is missing"
        )
    return Matched(others[kept], {reason: number for reason, number in left_out.items() if number})


def validation(
    rows: Matched,
    measures: Sequence[Similarity],
    *,
    published: Published | None = None,
    scripted: Sequence[str] = (),
    kept: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """The rows of `m2m_validation`. `kept` is the file of values already computed."""
    frame = rows.frame
    pairs: list[Pair] = list(zip(frame[HYPOTHESIS], frame["reference"], strict=True))
    systems = list(dict.fromkeys(frame[SYSTEM]))
    composite = {name: mean(frame.loc[frame[SYSTEM] == name, COMPOSITE]) for name in systems}
    table = _means(COMPOSITE, composite, frame, scripted, "mean over the compared rows")
    for measure in measures:
        values = frame.assign(value=similarities(measure, pairs, kept, progress))
        means = _system_values(measure, values, systems)
        table += _means(measure.name, means, frame, scripted, measure.setting)
        table.append(_ranks_row(measure, kendall(composite, means), published))
        for name in (None, *systems):
            part = values if name is None else values[values[SYSTEM] == name]
            table.append(_rows_row(measure, name, spearman(list(part[COMPOSITE]), list(part["value"])), scripted))
    return table


def skipped_row(metric: str, reason: str, published: Published | None = None) -> Row:
    """The row of a metric that was not computed."""
    found = published.find("kendall", metric) if published else None
    return {
        "level": "ranks",
        "metric": metric,
        "system": None,
        "scripted": False,
        "value": None,
        "n": 0,
        "published": found.value if found else None,
        "published_p": found.p_value if found else None,
        "note": f"skipped: {reason}",
    }


def left_out_text(left_out: Mapping[str, int]) -> str:
    """Rows that took no part, in words."""
    if not left_out:
        return "every row was compared"
    return "not compared: " + ", ".join(f"{plural(number, 'row')} {reason}" for reason, number in left_out.items())


def _system_values(measure: Similarity, values: "pd.DataFrame", systems: Sequence[str]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in systems:
        part = values[values[SYSTEM] == name]
        if measure.corpus is None:
            found[name] = mean(part["value"])
        else:
            found[name] = measure.corpus(list(zip(part[HYPOTHESIS], part["reference"], strict=True)))
    return found


def _means(
    metric: str,
    means: Mapping[str, float | None],
    frame: "pd.DataFrame",
    scripted: Sequence[str],
    note: str,
) -> list[Row]:
    counts = frame[SYSTEM].value_counts()
    return [
        {
            "level": "system",
            "metric": metric,
            "system": name,
            "scripted": is_scripted(name, scripted),
            "value": mean,
            "n": int(counts[name]),
            "note": note,
        }
        for name, mean in means.items()
    ]


def _ranks_row(measure: Similarity, found: Agreement, published: Published | None) -> Row:
    row = skipped_row(measure.name, "", published)
    return row | {"value": found.value, "p_value": found.p_value, "n": found.n, "note": found.note}


def _rows_row(measure: Similarity, system: str | None, found: Agreement, scripted: Sequence[str]) -> Row:
    return {
        "level": "rows",
        "metric": measure.name,
        "system": system or ALL_SYSTEMS,
        "scripted": system is not None and is_scripted(system, scripted),
        "value": found.value,
        "p_value": found.p_value,
        "n": found.n,
        "note": found.note,
    }
