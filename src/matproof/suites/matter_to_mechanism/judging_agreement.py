"""What judgements agree with: CBS, one another, and themselves in the other order (the paper's section 4.4).

An *item* is one problem and two systems under one judge. Its *combined* verdict is the one that both orders give, and
a tie where they differ. Items of which an order is unscored have none and count in no rate but `unscored`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from matproof.suites.matter_to_mechanism.boards import grid
from matproof.suites.matter_to_mechanism.judging import TIE, Judgement
from matproof.suites.matter_to_mechanism.taxonomy import rate
from matproof.tables.columns import Row

Cbs = Mapping[tuple[str, str], float]
"""(`paper_id`, system) → composite."""
Item = tuple[str, str, str]
"""(`paper_id`, system_a, system_b)."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One judge's items."""

    judge: str
    scripted: bool
    both: dict[Item, tuple[str, str]]
    """Item → its winners in the orders ab and ba, where both are scored."""
    combined: dict[Item, str]
    lines: int
    unscored: int
    ties: int


def agreement(judgements: Sequence[Judgement], cbs: Cbs | None = None) -> list[Row]:
    """Rows of the table `m2m_judgements`. Without `cbs`, the rates that need it are left out."""
    judges = [_judged(name, judgements) for name in dict.fromkeys(one.judge for one in judgements)]
    rows = []
    for judged in judges:
        if cbs is not None:
            rows += _with_cbs(judged, cbs)
        flips = sum(one != other for one, other in judged.both.values())
        rows.append(_row("order_flip_rate", judged, flips, len(judged.both), "items whose verdict the order changes"))
        scored = judged.lines - judged.unscored
        rows.append(_row("tie_rate", judged, judged.ties, scored, "ties among scored single judgements"))
        rows.append(_row("unscored", judged, judged.unscored, judged.lines, "judgements without a readable verdict"))
    for one, other in combinations(judges, 2):
        common = [item for item in one.combined if item in other.combined]
        same = sum(one.combined[item] == other.combined[item] for item in common)
        row = _row("judge_agreement", one, same, len(common), "items with the same combined verdict, ties included")
        rows.append(row | {"other": other.judge, "scripted": one.scripted or other.scripted})
    return rows


def _judged(name: str, judgements: Sequence[Judgement]) -> _Judged:
    own = [one for one in judgements if one.judge == name]
    orders: dict[Item, dict[str, str]] = {}
    for one in own:
        if one.winner is not None:
            orders.setdefault((one.paper_id, one.system_a, one.system_b), {})[one.order] = one.winner
    both = {item: (found["ab"], found["ba"]) for item, found in orders.items() if len(found) == 2}
    return _Judged(
        judge=name,
        scripted=any(one.scripted for one in own),
        both=both,
        combined={item: ab if ab == ba else TIE for item, (ab, ba) in both.items()},
        lines=len(own),
        unscored=sum(one.winner is None for one in own),
        ties=sum(one.winner == TIE for one in own),
    )


def _with_cbs(judged: _Judged, cbs: Cbs) -> list[Row]:
    better = {item: found for item in judged.combined if (found := _better(item, cbs)) is not None}
    left_out = len(judged.combined) - len(better)
    besides = f"; {left_out} items without two different composites left out" if left_out else ""
    hits = sum(judged.combined[item] == found for item, found in better.items())
    decided = sum(judged.combined[item] != TIE for item in better)
    pairs = _system_pairs(judged, cbs)
    return [
        _row(
            "cbs_agreement", judged, hits, len(better), f"items won by the higher composite, ties are misses{besides}"
        ),
        _row("cbs_agreement_decided", judged, hits, decided, "the same among items that are no tie"),
        _row("cbs_agreement_systems", judged, sum(pairs), len(pairs), "system pairs won by the higher mean composite"),
    ]


def _better(item: Item, cbs: Cbs) -> str | None:
    """The system with the higher composite on the item's problem; None where they are equal or one is unknown."""
    paper_id, one, other = item
    values = cbs.get((paper_id, one)), cbs.get((paper_id, other))
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return None
    return one if values[0] > values[1] else other


def _system_pairs(judged: _Judged, cbs: Cbs) -> list[bool]:
    """For each pair of systems, whether the one that won more items has the higher mean composite on them."""
    wins: dict[tuple[str, str], Counter[str]] = {}
    sums: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for (paper_id, one, other), winner in judged.combined.items():
        values = cbs.get((paper_id, one)), cbs.get((paper_id, other))
        if values[0] is not None and values[1] is not None:
            wins.setdefault((one, other), Counter())[winner] += 1
            sums.setdefault((one, other), []).append((values[0], values[1]))
    found = []
    for (one, other), values_of in sums.items():
        gap = sum(first - second for first, second in values_of)
        lead = wins[one, other][one] - wins[one, other][other]
        if gap:
            found.append(lead != 0 and (lead > 0) == (gap > 0))
    return found


def _row(what: str, judged: _Judged, count: int, of: int, note: str) -> Row:
    row: Row = {"what": what, "judge": judged.judge, "other": None, "n": of, "scripted": judged.scripted}
    found = rate(count, of)
    shares = {"value": found["rate"], "low": found["low"], "high": found["high"]}
    return row | shares | {"note": note if of else f"none of: {note}"}


def agreement_text(rows: Sequence[Row]) -> str:
    """The rates for people."""
    cells = []
    for row in rows:
        who = f"{row['judge']} and {row['other']}" if row["other"] else row["judge"]
        span = None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
        value = None if row["value"] is None else f"{row['value']:.3f}"
        cells.append(
            [row["what"], who + (" (scripted)" if row["scripted"] else ""), value, span, row["n"], row["note"]]
        )
    return grid(["what", "judge", "share", "95 % interval", "of", "what counts"], cells, texts=(0, 1, 5))
