"""Sections of the page of Matter to Mechanism, from the rows of their tables to what the template draws."""

from collections.abc import Sequence
from dataclasses import dataclass

from matproof.report import m2m_figures as figures
from matproof.tables.columns import Row
from matproof.tables.m2m import METRICS
from matproof.tables.m2m_published import ALL_SYSTEMS, Published

MOST_GROUPS = 12
"""Groups of a breakdown that the page shows, largest first."""
DELTA_WIDTH, DELTA_MARGIN = 240.0, 8.0
COLUMN, RANK = 118.0, 30.0
"""Width of a column and height of a rank in the bump chart."""
SIDE = 210.0
"""Room for names beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Ranks under several schemes or profiles."""

    what: str
    """`weights` or `profiles`."""
    columns: list[str]
    places: list[tuple[float, str]]
    """Where the columns stand in the picture."""
    paths: list[figures.Path]
    width: float
    height: float
    systems: list[tuple[str, bool, list[Row]]]
    """(system, scripted, a row a column), by their first rank."""
    taus: list[Row]

    @property
    def moving(self) -> int:
        """Systems whose rank changes."""
        return sum(path.moves for path in self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Agreement with text similarity."""

    taus: list[Row]
    metrics: list[str]
    systems: list[tuple[str, bool, dict[str, Row]]]
    """(system, scripted, metric → mean), best composite first."""
    rows: dict[str, Row]
    """Metric → ρ over all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """ρ between metrics over all systems: a line a metric, each with (style, row) or None on and below the diagonal."""

    lines: list[tuple[str, list[tuple[str, Row] | None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contamination:
    """Rare terms and the split by year."""

    names: list[str]
    rare: list[tuple[str, bool, list[Row]]]
    years: list[tuple[str, bool, list[Row]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Mean composite by one field."""

    field: str
    groups: list[str]
    more: int
    """Smaller groups that are not shown."""
    systems: list[tuple[str, bool, list[Row | None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What one attack style gains."""

    style: str
    source: str | None
    axis: figures.Axis
    rows: list[tuple[Row, figures.Mark]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Agreement of judges, and what the paper prints."""

    rows: list[Row]
    published: list[tuple[str, float, str]]
    """(what, value, source)."""
    scripted: bool


def stability(ablation: Sequence[Row]) -> list[Stability]:
    """Weights first, then profiles where there are several."""
    return [found for part in ("weights", "profiles") if (found := _stability(ablation, part)) is not None]


def _stability(ablation: Sequence[Row], part: str) -> Stability | None:
    rows = [row for row in ablation if row["part"] == part]
    columns = list(dict.fromkeys(row["name"] for row in rows))
    by_system = _grouped(rows)
    whole = {name: found for name, found in by_system.items() if [row["name"] for row in found] == columns}
    if len(columns) < 2 or not whole:
        return None
    right = SIDE + COLUMN * (len(columns) - 1)
    ordered = sorted(whole, key=lambda name: (whole[name][0]["rank"] or len(whole) + 1, name))
    return Stability(
        what=part,
        columns=columns,
        places=[(SIDE + COLUMN * index, name) for index, name in enumerate(columns)],
        paths=figures.bump({name: [row["rank"] for row in whole[name]] for name in ordered}, SIDE, right, RANK),
        width=right + SIDE,
        height=RANK * len(whole),
        systems=[(name, whole[name][0]["scripted"], whole[name]) for name in ordered],
        taus=[row for row in ablation if row["part"] == f"{part}_ranks"],
    )


def validation(table: Sequence[Row]) -> Validation | None:
    """None where there is no such table."""
    if not table:
        return None
    means = _grouped([row for row in table if row["level"] == "system"])
    systems = [(name, rows[0]["scripted"], {row["metric"]: row for row in rows}) for name, rows in means.items()]
    return Validation(
        taus=[row for row in table if row["level"] == "ranks"],
        metrics=list(dict.fromkeys(row["metric"] for row in table if row["level"] == "system")),
        systems=sorted(systems, key=lambda item: -(item[2]["cbs"]["value"] or 0.0) if "cbs" in item[2] else 0.0),
        rows={row["metric"]: row for row in table if row["level"] == "rows" and row["system"] == ALL_SYSTEMS},
    )


def correlations(ablation: Sequence[Row]) -> Correlation | None:
    """None where the table has no redundancy."""
    cells = {
        (row["name"], row["other"]): row
        for row in ablation
        if row["part"] == "redundancy" and row["system"] == ALL_SYSTEMS
    }
    if not cells:
        return None
    lines: list[tuple[str, list[tuple[str, Row] | None]]] = []
    for first in METRICS[:-1]:
        found = [cells.get((first, second)) for second in METRICS[1:]]
        lines.append((first, [None if row is None else (figures.tilt(row["value"]), row) for row in found]))
    return Correlation(lines=lines)


def contamination(ablation: Sequence[Row]) -> Contamination | None:
    """None where the table has none."""
    rows = [row for row in ablation if row["part"] == "contamination"]
    years = _grouped([row for row in rows if row["name"] == "cbs_by_year"])
    rare = _grouped([row for row in rows if row["name"] != "cbs_by_year"])
    names = list(dict.fromkeys(row["name"] for row in rows if row["name"] != "cbs_by_year"))
    if not rare:
        return None
    return Contamination(
        names=names,
        rare=[(name, found[0]["scripted"], found) for name, found in rare.items() if len(found) == len(names)],
        years=[(name, found[0]["scripted"], found) for name, found in years.items() if len(found) == 3],
    )


def breakdowns(ablation: Sequence[Row]) -> list[Breakdown]:
    """One for each field."""
    rows = [row for row in ablation if row["part"] == "breakdown"]
    return [_breakdown(field, [row for row in rows if row["name"] == field]) for field in _distinct(rows, "name")]


def _breakdown(field: str, rows: Sequence[Row]) -> Breakdown:
    sizes = {row["other"]: row["n"] or 0 for row in rows if row["system"] == ALL_SYSTEMS}
    ordered = sorted(sizes, key=lambda label: (-sizes[label], label))
    shown = ordered[:MOST_GROUPS]
    cells = {(row["system"], row["other"]): row for row in rows}
    flags = {row["system"]: row["scripted"] for row in rows}
    return Breakdown(
        field=field,
        groups=shown,
        more=len(ordered) - len(shown),
        systems=[(name, flag, [cells.get((name, label)) for label in shown]) for name, flag in flags.items()],
    )


def attacks(table: Sequence[Row]) -> list[Attack]:
    """A picture for each style and source, all on one axis around zero."""
    values = [row[name] for row in table for name in ("delta", "low", "high", "published")]
    axis = figures.axis_of(values, DELTA_WIDTH, DELTA_MARGIN, around=0.0)
    groups: dict[tuple[str, str | None], list[Row]] = {}
    for row in table:
        groups.setdefault((row["style"], row["source"]), []).append(row)
    return [
        Attack(
            style=style,
            source=source,
            axis=axis,
            rows=[(row, figures.mark(axis, row["delta"], row["low"], row["high"], row["published"])) for row in rows],
        )
        for (style, source), rows in groups.items()
    ]


def judging(table: Sequence[Row], published: Published) -> Judging | None:
    """None where nobody judged."""
    if not table:
        return None
    printed = [(one.name, one.value, one.source) for one in published.numbers if one.part == "judge"]
    return Judging(rows=list(table), published=printed, scripted=any(row["scripted"] for row in table))


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["system"], []).append(row)
    return found


def _distinct(rows: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))
