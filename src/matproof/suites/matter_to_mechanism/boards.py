"""Leaderboard and taxonomy as Markdown that reads as well in a terminal."""

import json
from collections.abc import Sequence
from typing import Any

from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS, Published
from matproof.tables.words import one_line, plural, shorten

NAME_WIDTH = 32


def grid(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, texts: Sequence[int] = (0,)) -> str:
    """A Markdown table; columns are numbers, set right, except those of `texts`. None is a dash."""
    from tabulate import tabulate

    cells = [["–" if cell is None else str(cell).replace("|", "¦") for cell in row] for row in rows]
    align = ["left" if index in texts else "right" for index in range(len(headers))]
    return tabulate(cells, list(headers), tablefmt="github", colalign=align, disable_numparse=True)


def name_text(row: Row) -> str:
    """A system's name, marked where a script answered in place of a model."""
    name = shorten(one_line(row["system"]), NAME_WIDTH)
    return f"{name} (scripted)" if row["scripted"] else name


def number(value: float | None, digits: int = 4) -> str | None:
    """A number with that many decimals; None stays None."""
    return None if value is None else f"{value:.{digits}f}"


def leaderboard_text(rows: Sequence[Row], notes: dict[str, str], published: Published | None = None) -> str:
    """The leaderboard for people; with `published` the paper's numbers stand beside."""
    headers = [
        "#",
        "system",
        "rows",
        "no hypothesis",
        "CBS ± SE",
        "95 % interval",
        "may be",
        *(name.upper() for name in METRICS),
    ]
    headers += ["CBS in the paper"] if published else []
    lines = []
    for row in rows:
        mean = number(row["cbs"])
        error = "" if row.get("cbs_se") is None else f" ± {row['cbs_se']:.4f}"
        span = None if row.get("cbs_low") is None else f"{row['cbs_low']:.4f} to {row['cbs_high']:.4f}"
        cells = [
            row["rank"],
            name_text(row),
            row["rows"],
            row.get("unusable"),
            None if mean is None else mean + error,
            span,
        ]
        cells += [_places(row), *(number(row[metric], 3) for metric in METRICS)]
        lines.append([*cells, number(row.get("published_cbs"))] if published else cells)
    parts = ["# Matter to Mechanism", "", grid(headers, lines, texts=(1,)), ""]
    parts += [f"- {line}" for line in _notes(rows, notes)]
    if published:
        parts += ["", "## In the paper", "", published_board(published)]
    return "\n".join(parts) + "\n"


def published_board(published: Published) -> str:
    """The paper's own means; a dash where its text does not give one."""
    names = (COMPOSITE, *METRICS)
    rows: list[list[Any]] = []
    for system in published.systems():
        values = [published.value("mean", name, system=system) for name in names]
        rows.append([system, number(values[0]), *(number(value, 3) for value in values[1:])])
    return grid(["system", *(name.upper() for name in names)], rows)


def taxonomy_text(rows: Sequence[Row], notes: dict[str, str], *, beside: bool = False) -> str:
    """Rates of the flags for people, a table a flag; with `beside` the paper's rates stand beside."""
    parts = ["# Error taxonomy", ""]
    for flag in dict.fromkeys(row["flag"] for row in rows):
        lines = []
        for row in (row for row in rows if row["flag"] == flag):
            span = None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
            name = ALL_SYSTEMS if row["system"] == ALL_SYSTEMS else name_text(row)
            cells = [name, row["count"], row["rows"], row["unknown"], number(row["rate"], 3), span]
            lines.append([*cells, number(row["published"], 3)] if beside else cells)
        headers = [
            "system",
            "flagged",
            "rows",
            "unknown",
            "rate",
            "95 % interval",
            *(["in the paper"] if beside else []),
        ]
        parts += [f"## {flag.replace('_', ' ')}", "", grid(headers, lines), ""]
    return "\n".join([*parts, f"- {notes['method']}", f"- {profile_text(notes)}"]) + "\n"


def profile_text(notes: dict[str, str]) -> str:
    """Which lexicon profile the scores were made with."""
    text = f"profile {one_line(notes['profile'], 40)}, sha256 {one_line(notes['profile_sha256'], 64)}"
    return text + (f"; composite {one_line(notes['composite'], 200)}" if notes.get("composite") else "")


def _places(row: Row) -> str:
    best, worst = row["rank_best"], row["rank_worst"]
    return str(best) if best == worst else f"{best} to {worst}"


def _notes(rows: Sequence[Row], notes: dict[str, str]) -> list[str]:
    told = [f"CBS: {notes['method']}", profile_text(notes)]
    unscored = sum(row["unscored"] for row in rows)
    told.append(f"unscored: {plural(unscored, 'row')} without a composite" if unscored else "every row was scored")
    told.append(_replies(rows))
    for row in rows:
        if row["note"]:
            told.append(f"{name_text(row)}: {row['note']}")
    for group in groups(rows):
        told.append(f"not told apart: {', '.join(group)}")
    return told


def _replies(rows: Sequence[Row]) -> str:
    """How many replies made no row, of the systems of which that is known."""
    known = [row for row in rows if row.get("problems") is not None]
    if not known:
        return "replies that made no row: not known here, their systems' generation records were not given"
    lost, problems = (sum(row[name] for row in known) for name in ("unusable", "problems"))
    return f"replies without a hypothesis, which make no row: {lost} of {problems} ({plural(len(known), 'system')})"


def groups(rows: Sequence[Row]) -> list[list[str]]:
    """Runs of neighbours in the ranking of which no two are told apart, the longest first of each start."""
    names = [row["system"] for row in rows]
    alike = {row["system"]: set(json.loads(row["not_told_apart"])) for row in rows}
    found: list[list[str]] = []
    end = 0
    for start in range(len(names)):
        stop = start + 1
        while stop < len(names) and all(names[stop] in alike[name] for name in names[start:stop]):
            stop += 1
        if stop - start > 1 and stop > end:
            found.append(names[start:stop])
            end = stop
    return found
