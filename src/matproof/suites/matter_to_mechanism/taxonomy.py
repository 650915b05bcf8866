"""How often each system makes each kind of error: counts, rates and Wilson intervals of the six flags.

A flag is unknown where a metric that its rule reads is null; unknown ones are counted apart and are in no rate.
"""

from collections.abc import Sequence

from matproof.suites.matter_to_mechanism.columns import SYSTEM, TAXONOMY
from matproof.suites.matter_to_mechanism.ranking import CONFIDENCE
from matproof.suites.matter_to_mechanism.scored import Scored, is_scripted
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS, Published, known_names

METHOD = f"rate over rows for which the flag is known; interval: {CONFIDENCE:.0%} Wilson"
_PREFIX = "taxonomy_"


def taxonomy(scored: Scored, *, published: Published | None = None, scripted: Sequence[str] = ()) -> list[Row]:
    """The rows of `m2m_taxonomy`: all systems pooled first, then each, flags in their order."""
    names = scored.systems()
    known = known_names(names, published) if published else {}
    rows = []
    for name in (None, *names):
        group = scored.frame if name is None else scored.frame[scored.frame[SYSTEM] == name]
        printed = ALL_SYSTEMS if name is None else known.get(name)
        for column in TAXONOMY:
            flag = column.removeprefix(_PREFIX)
            values = group[column].dropna()
            rows.append(
                {
                    SYSTEM: ALL_SYSTEMS if name is None else name,
                    "scripted": name is not None and is_scripted(name, scripted),
                    "flag": flag,
                    "unknown": len(group) - len(values),
                    "published": published.value("taxonomy", flag, system=printed) if published and printed else None,
                    **rate(int(values.sum()), len(values)),
                }
            )
    return rows


def rate(count: int, rows: int) -> Row:
    """`count` of `rows` as a share with its Wilson interval; null where there are no rows."""
    from scipy.stats import binomtest

    if rows == 0:
        return {"rows": 0, "count": 0, "rate": None, "low": None, "high": None}
    interval = binomtest(count, rows).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return {
        "rows": rows,
        "count": count,
        "rate": count / rows,
        "low": float(interval.low),
        "high": float(interval.high),
    }
