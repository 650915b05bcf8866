"""The page of Matter to Mechanism: the suite's tables as one static page.

Every table but the leaderboard may be missing; its section is left out then. All texts come from files that a user
or a model wrote, so the template escapes and cleans each.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matproof.report import m2m_figures as figures
from matproof.report.m2m_sections import (
    Attack,
    Breakdown,
    Contamination,
    Correlation,
    Judging,
    Stability,
    Validation,
    attacks,
    breakdowns,
    contamination,
    correlations,
    judging,
    stability,
    validation,
)
from matproof.report.pages import Frame, render
from matproof.tables.columns import Row
from matproof.tables.m2m import METRICS, Name, read_m2m, read_notes
from matproof.tables.m2m_published import ALL_SYSTEMS, Published, published_numbers
from matproof.tables.store import table_path

M2M_PAGE = "m2m.html"
"""Its name in the site."""
WIDTH, MARGIN = 260.0, 10.0
"""Picture of a mean with its interval."""
FULL_NAMES = {
    "rcf": "reasoning chain fidelity",
    "hpa": "hypothesis–problem alignment",
    "msi": "mechanistic specificity",
    "sns": "scientific novelty",
    "ip": "intervention plausibility",
    "pdq": "problem decomposition",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """A system on the leaderboard."""

    row: Row
    mark: figures.Mark
    alike: list[str]
    """Systems that it is not told apart from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of the taxonomy heatmap."""

    row: Row
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the template shows."""

    board: list[BoardRow]
    axis: figures.Axis
    notes: dict[str, str]
    papers: int
    rows: int
    unscored: int
    problems: int
    """Problems asked of the systems whose generation is known."""
    unusable: int
    """Of those, replies without a hypothesis."""
    scripted: int
    flags: list[str]
    errors: list[tuple[str, bool, list[Cell]]] = field(default_factory=list)
    """(system, scripted, a cell a flag)."""
    stability: list[Stability] = field(default_factory=list)
    validation: Validation | None = None
    correlation: Correlation | None = None
    contamination: Contamination | None = None
    breakdowns: list[Breakdown] = field(default_factory=list)
    attacks: list[Attack] = field(default_factory=list)
    judging: Judging | None = None
    published: Published


def has_m2m(results: Path) -> bool:
    """Whether there is a leaderboard to show."""
    return table_path(results, "m2m_leaderboard").is_file()


def m2m_page(results: Path, home: str, frame: Frame | None = None) -> str:
    """HTML of the page. `home` is the link to the first page. Raises InputError for a missing or broken table."""
    rows = read_m2m(table_path(results, "m2m_leaderboard"), "m2m_leaderboard")
    printed = published_numbers()
    axis = figures.axis_of(
        [row[name] for row in rows for name in ("cbs", "cbs_low", "cbs_high", "published_cbs")], WIDTH, MARGIN
    )
    taxonomy, ablation = _optional(results, "m2m_taxonomy"), _optional(results, "m2m_ablation")
    flags = list(dict.fromkeys(row["flag"] for row in taxonomy))
    view = View(
        board=[_board_row(row, axis) for row in rows],
        axis=axis,
        notes=read_notes(table_path(results, "m2m_leaderboard"), "m2m_leaderboard"),
        papers=max((row["papers"] for row in rows), default=0),
        rows=sum(row["rows"] for row in rows),
        unscored=sum(row["unscored"] for row in rows),
        problems=sum(row["problems"] or 0 for row in rows),
        unusable=sum(row["unusable"] or 0 for row in rows),
        scripted=sum(row["scripted"] for row in rows),
        flags=flags,
        errors=_errors(taxonomy, flags),
        stability=stability(ablation),
        validation=validation(_optional(results, "m2m_validation")),
        correlation=correlations(ablation),
        contamination=contamination(ablation),
        breakdowns=breakdowns(ablation),
        attacks=attacks(_optional(results, "m2m_attacks")),
        judging=judging(_optional(results, "m2m_judgements"), printed),
        published=printed,
    )
    return render(
        "m2m.html",
        frame=frame,
        view=view,
        root=home,
        here=M2M_PAGE,
        metrics=METRICS,
        full_names=FULL_NAMES,
        width=WIDTH,
    )


def write_m2m_page(results: Path, out: Path) -> Path:
    """Write the page below the site `out` and return its path. Raises InputError."""
    from matproof.core.files import write_text

    path = out / M2M_PAGE
    home = "index.html" if (out / "index.html").is_file() else path.name
    write_text(path, m2m_page(results, home))
    return path


def _optional(results: Path, name: Name) -> list[Row]:
    path = table_path(results, name)
    return read_m2m(path, name) if path.is_file() else []


def _board_row(row: Row, axis: figures.Axis) -> BoardRow:
    mark = figures.mark(axis, row["cbs"], row["cbs_low"], row["cbs_high"], row["published_cbs"])
    return BoardRow(row=row, mark=mark, alike=_names(row["not_told_apart"]))


def _names(text: str | None) -> list[str]:
    try:
        names = json.loads(text or "[]")
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _errors(rows: Sequence[Row], flags: Sequence[str]) -> list[tuple[str, bool, list[Cell]]]:
    """The heatmap: all systems last, since it is a sum of the others."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["system"], {})[row["flag"]] = row
    names = [name for name in found if name != ALL_SYSTEMS] + [name for name in found if name == ALL_SYSTEMS]
    return [
        (
            name,
            any(row["scripted"] for row in found[name].values()),
            [Cell(row=found[name][flag], style=figures.heat(found[name][flag]["rate"])) for flag in flags],
        )
        for name in names
        if set(found[name]) == set(flags)
    ]
