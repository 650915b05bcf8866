"""Systems by their mean composite: means, standard errors, intervals, and which of them can't be told apart.

Three properties are deliberate. What is resampled is a paper, not a row: rows about one paper are not independent.
Standard error and interval come from one percentile bootstrap over papers (scipy, a fixed seed), so that both follow
from the same draws and a repeat gives the same digits. And two systems are compared on the papers that both
answered, by a paired t-test of the paper means, with the false-discovery rate of all comparisons held at 5 %
(Benjamini and Hochberg): systems whose difference may be chance are named instead of ranked by it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, SYSTEM
from matproof.suites.matter_to_mechanism.ranking import CONFIDENCE, mean, ranks
from matproof.suites.matter_to_mechanism.scored import Scored, is_scripted
from matproof.tables.columns import Row
from matproof.tables.m2m_published import Published, known_names

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2_000
SEED = 20_260_101
_AT_ONCE = 4_000_000
"""Draws held in memory at a time."""
_SAME = 1e-12
"""Differences of composites below this are rounding."""

METHOD = (
    f"mean over scored rows; standard error and {CONFIDENCE:.0%} interval: percentile bootstrap over papers, "
    f"{RESAMPLES} resamples, seed {SEED}; told apart: paired t-test on shared papers, false-discovery rate "
    f"{1 - CONFIDENCE:.0%}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of the problems that a system was asked."""

    problems: int
    unusable: int
    """Replies without a hypothesis, which make no row."""
    unfinished: int
    """Left undone by a limit or the provider."""

    @property
    def note(self) -> str | None:
        """What is lost, in words."""
        told = [f"{self.unusable} of {self.problems} replies had no hypothesis: no row"] if self.unusable else []
        told += [f"{self.unfinished} of {self.problems} problems were left undone"] if self.unfinished else []
        return "; ".join(told) or None


def leaderboard(
    scored: Scored,
    *,
    asked: Mapping[str, Asked] | None = None,
    published: Published | None = None,
    scripted: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """The rows of `m2m_leaderboard`, best first. `progress` is told each system before its bootstrap.

    `asked`: what is known of systems' generation. One of which no reply made a row is listed too, without a rank.
    """
    asked = asked or {}
    names = [*scored.systems(), *(name for name in asked if name not in set(scored.systems()))]
    groups = {str(name): group for name, group in scored.frame.groupby(SYSTEM, sort=False)}
    rows = []
    for number, name in enumerate(names, start=1):
        progress(f"{number} of {len(names)} systems: {name}")
        summary = _summary(groups.get(name, scored.frame.iloc[:0]))
        if name in asked:
            notes = [note for note in (asked[name].note, summary["note"]) if note]
            summary |= {**asdict(asked[name]), "note": "; ".join(notes) or None}
        rows.append({SYSTEM: name, "scripted": is_scripted(name, scripted), **summary})
    places = ranks({row[SYSTEM]: row["cbs"] for row in rows})
    told = _comparisons(groups)
    known = known_names(names, published) if published else {}
    for row in rows:
        name = row[SYSTEM]
        row |= {"rank": places[name], **_standing(name, names, told)}
        if published and name in known:
            for column in (COMPOSITE, *METRICS):
                row[f"published_{column}"] = published.value("mean", column, system=known[name])
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0, row[SYSTEM]))


def _summary(group: "pd.DataFrame") -> Row:
    """Counts, means and interval of one system."""
    scored = group[group[COMPOSITE].notna()]
    row: Row = {
        "rows": len(group),
        "papers": int(scored["paper_id"].nunique()),
        "unscored": len(group) - len(scored),
        "sns_unscored": int(group["sns"].isna().sum()),
        "cbs": mean(scored[COMPOSITE]),
        **{metric: mean(group[metric]) for metric in METRICS},
    }
    notes = []
    if row["sns_unscored"]:
        notes.append(f"SNS null in {row['sns_unscored']} rows: their composite is of the five other metrics")
    if not len(scored):
        notes.append("no row has a composite")
    elif row["papers"] < 2:
        notes.append("one paper: no error is known")
    else:
        row |= _interval(scored)
    return {**row, "note": "; ".join(notes) or None}


def _interval(scored: "pd.DataFrame") -> Row:
    """Standard error and interval of the mean composite, by resampling papers."""
    from scipy.stats import bootstrap

    papers = scored.groupby("paper_id")[COMPOSITE].agg(["sum", "count"])
    result = bootstrap(
        (papers["sum"].to_numpy(dtype="float64"), papers["count"].to_numpy(dtype="float64")),
        lambda sums, counts, axis=-1: sums.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _AT_ONCE // len(papers)),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=SEED,
    )
    low, high = result.confidence_interval
    return {"cbs_se": float(result.standard_error), "cbs_low": float(low), "cbs_high": float(high)}


def _comparisons(groups: "dict[str, pd.DataFrame]") -> dict[tuple[str, str], bool | None]:
    """(a, b) → whether a is told to be better (true) or worse (false) than b; None where it may be chance."""
    from scipy.stats import false_discovery_control

    means = {name: group.groupby("paper_id")[COMPOSITE].mean().dropna() for name, group in groups.items()}
    names = list(means)
    pairs = [(a, b) for index, a in enumerate(names) for b in names[index + 1 :]]
    tests = {pair: _paired(means[pair[0]], means[pair[1]]) for pair in pairs}
    known = [pair for pair in pairs if tests[pair] is not None]
    adjusted = false_discovery_control([tests[pair][1] for pair in known]) if known else []  # type: ignore[index]
    told: dict[tuple[str, str], bool | None] = dict.fromkeys(pairs)
    for pair, p_value in zip(known, adjusted, strict=True):
        difference, _ = tests[pair] or (0.0, 1.0)
        if p_value < 1 - CONFIDENCE and difference != 0:
            told[pair] = bool(difference > 0)
    backwards = {(b, a): None if better is None else not better for (a, b), better in told.items()}
    return told | backwards


def _paired(first: Any, second: Any) -> tuple[float, float] | None:
    """Mean difference on shared papers and its p-value; None with fewer than two shared papers."""
    import numpy as np
    from scipy.stats import ttest_rel

    shared = first.index.intersection(second.index)
    if len(shared) < 2:
        return None
    differences = (first.loc[shared] - second.loc[shared]).to_numpy(dtype="float64")
    if np.ptp(differences) < _SAME:
        constant = float(differences[0])
        return (0.0, 1.0) if abs(constant) < _SAME else (constant, 0.0)
    return float(differences.mean()), float(ttest_rel(first.loc[shared], second.loc[shared]).pvalue)


def _standing(name: str, names: Sequence[str], told: dict[tuple[str, str], bool | None]) -> Row:
    others = [other for other in names if other != name]
    verdicts = {other: told.get((name, other)) for other in others}
    return {
        "rank_best": 1 + sum(better is False for better in verdicts.values()),
        "rank_worst": len(names) - sum(better is True for better in verdicts.values()),
        "not_told_apart": json.dumps([other for other, better in verdicts.items() if better is None]),
    }
