"""What the composite rests on: redundancy of the metrics, contamination, and breakdowns.

Redundancy is Spearman's ρ between metrics, over all rows and within each system, since differences between systems
alone correlate metrics. Contamination counts the profile's rare terms in hypotheses, and splits rows by the year of
their paper: a model may have read older ones. The year is the paper's, so a row without one takes it from another
row of the same paper.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, SYSTEM
from matproof.suites.matter_to_mechanism.lexicon import Profile
from matproof.suites.matter_to_mechanism.ranking import spearman
from matproof.suites.matter_to_mechanism.scored import Scored, is_scripted
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS, Published

if TYPE_CHECKING:
    import pandas as pd

RECENT = 2024
"""Papers from this year on may be newer than a model's training text."""
BREAKDOWNS = ("battery_system", "component", "problem_type_broad")
NEEDED = ("hypothesis", *BREAKDOWNS)
"""Columns of the rows file that this reads; `year` too, where it is there."""
EMPTY = "(empty)"
_YEAR = re.compile(r"\s*(\d{4})(?:\D|$)")


def redundancy(scored: Scored, *, scripted: Sequence[str] = ()) -> list[Row]:
    """ρ of each pair of metrics, over all systems and within each."""
    table = []
    for system, group in _groups(scored):
        for index, first in enumerate(METRICS):
            for second in METRICS[index + 1 :]:
                found = spearman(list(group[first]), list(group[second]))
                row = _row("redundancy", first, second, system, scripted)
                table.append(row | {"value": found.value, "p_value": found.p_value, "n": found.n, "note": found.note})
    return table


def contamination(
    scored: Scored, profile: Profile, *, published: Published | None = None, scripted: Sequence[str] = ()
) -> list[Row]:
    """Counts of rare terms and the split by year, over all systems and for each."""
    counts = rare_counts(list(scored.frame["hypothesis"]), profile)
    frame = scored.frame.assign(rare=counts, period=_periods(scored.frame))
    table = []
    for system, group in _groups(replace(scored, frame=frame)):
        table += _rare_rows(system, group, published if system == ALL_SYSTEMS else None, scripted)
        table += _year_rows(system, group, scripted)
    return table


def breakdown(scored: Scored, *, scripted: Sequence[str] = ()) -> list[Row]:
    """Mean composite by battery system, component and problem type, over all systems and for each.

    Groups are texts that agree but for case and spaces, under their most frequent spelling.
    """
    table = []
    for field in BREAKDOWNS:
        labels = _labels(list(scored.frame[field]))
        frame = scored.frame.assign(group=labels)
        for system, rows in _groups(replace(scored, frame=frame)):
            for label, group in rows.groupby("group", sort=True):
                table.append(_row("breakdown", field, str(label), system, scripted) | _mean(group[COMPOSITE]))
    return table


def rare_counts(texts: Sequence[str], profile: Profile) -> list[int]:
    """How many of the profile's rare terms each text mentions, each once, matched as the profile matches."""
    if profile.match == "substring":
        return [sum(term in text for term in profile.rare_terms) for text in map(str.lower, texts)]
    patterns = [
        re.compile(rf"(?<!\w){re.escape(term.removesuffix('*'))}" + ("" if term.endswith("*") else r"(?!\w)"))
        for term in profile.rare_terms
    ]
    return [sum(pattern.search(text) is not None for pattern in patterns) for text in map(str.lower, texts)]


def year_of(text: str) -> int | None:
    """The year that a cell begins with (`2024`, `2024-05-01`); None where there is none."""
    found = _YEAR.match(text)
    return int(found[1]) if found else None


def _periods(frame: "pd.DataFrame") -> "pd.Series[str]":
    """`recent`, `older` or missing, of each row."""
    import pandas as pd

    if "year" not in frame.columns:
        return pd.Series([None] * len(frame), index=frame.index, dtype="str")
    years = [year_of(text) for text in frame["year"]]
    by_paper: dict[str, int] = {}
    for paper, year in zip(frame["paper_id"], years, strict=True):
        if year is not None:
            by_paper.setdefault(paper, year)
    known = [
        by_paper.get(paper) if year is None else year for paper, year in zip(frame["paper_id"], years, strict=True)
    ]
    periods = [None if year is None else "recent" if year >= RECENT else "older" for year in known]
    return pd.Series(periods, index=frame.index, dtype="str")


def _rare_rows(system: str, group: "pd.DataFrame", published: Published | None, scripted: Sequence[str]) -> list[Row]:
    rare, number = group["rare"], len(group)
    values = {
        "mean_rare_terms": float(rare.mean()),
        "share_without": float((rare == 0).mean()),
        "share_two_or_more": float((rare >= 2).mean()),
    }
    return [
        _row("contamination", name, None, system, scripted)
        | {"value": value, "n": number, "published": published.value("contamination", name) if published else None}
        for name, value in values.items()
    ]


def _year_rows(system: str, group: "pd.DataFrame", scripted: Sequence[str]) -> list[Row]:
    """Mean composite of both periods, and their difference."""
    recent, older = (group.loc[group["period"] == period, COMPOSITE].dropna() for period in ("recent", "older"))
    unknown = int(group["period"].isna().sum())
    row = _row("contamination", "cbs_by_year", None, system, scripted)
    table = [row | {"other": f"{RECENT} or later"} | _mean(recent), row | {"other": f"before {RECENT}"} | _mean(older)]
    difference = row | {"other": "difference", "n": len(recent) + len(older), "value": None}
    told = f"{unknown} rows without a year" if unknown else None
    if len(recent) < 2 or len(older) < 2:
        reason = "fewer than two rows in a period"
        return [*table, difference | {"note": f"{reason}; {told}" if told else reason}]
    from scipy.stats import ttest_ind

    p_value = float(ttest_ind(recent, older, equal_var=False).pvalue)
    value = float(recent.mean() - older.mean())
    return [*table, difference | {"value": value, "p_value": p_value if p_value == p_value else None, "note": told}]


def _mean(values: "pd.Series[float]") -> Row:
    """Mean, standard error and number of the known values."""
    from scipy.stats import sem

    known = values.dropna()
    return {
        "value": float(known.mean()) if len(known) else None,
        "se": float(sem(known)) if len(known) > 1 else None,
        "n": len(known),
        "note": None if len(known) else "no scored row",
    }


def _labels(texts: Sequence[str]) -> list[str]:
    plain = [" ".join(text.split()).casefold() for text in texts]
    spellings: dict[str, Counter[str]] = {}
    for key, text in zip(plain, texts, strict=True):
        spellings.setdefault(key, Counter())[" ".join(text.split())] += 1
    shown = {key: _commonest(counts) for key, counts in spellings.items()}
    return [shown[key] or EMPTY for key in plain]


def _commonest(counts: Counter[str]) -> str:
    """The most frequent spelling; of equally frequent ones the first in the alphabet, whatever the rows' order."""
    return min(counts, key=lambda text: (-counts[text], text))


def _groups(scored: Scored) -> "list[tuple[str, pd.DataFrame]]":
    frame = scored.frame
    return [(ALL_SYSTEMS, frame), *((name, frame[frame[SYSTEM] == name]) for name in scored.systems())]


def _row(part: str, name: str, other: str | None, system: str, scripted: Sequence[str]) -> Row:
    known = system != ALL_SYSTEMS and is_scripted(system, scripted)
    return {"part": part, "name": name, "other": other, "system": system, "scripted": known}
