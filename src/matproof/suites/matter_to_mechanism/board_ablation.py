"""The ablation as Markdown that reads as well in a terminal."""

from collections.abc import Sequence
from typing import Any

from matproof.suites.matter_to_mechanism.ablation import BREAKDOWNS
from matproof.suites.matter_to_mechanism.boards import grid, name_text, number, profile_text
from matproof.suites.matter_to_mechanism.columns import METRICS
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS
from matproof.tables.words import one_line, shorten

MOST_GROUPS = 8
"""Groups of a breakdown that are shown, largest first; a file has all."""


def ablation_text(rows: Sequence[Row], notes: dict[str, str], *, beside: bool = False) -> str:
    """Ranks under other weights and profiles, redundancy, contamination, breakdowns."""
    parts = ["# Ablation", "", "## Weights: mean CBS (rank)", "", *_means(rows, "weights"), ""]
    parts += [*_taus(rows, "weights_ranks", "scheme", beside), ""]
    parts += ["## Lexicon profiles: mean CBS (rank)", ""]
    if any(row["part"] == "profiles_ranks" for row in rows):
        parts += [*_means(rows, "profiles"), "", *_taus(rows, "profiles_ranks", "profile", False), ""]
    else:
        parts += [notes["profiles"], ""]
    parts += ["## Redundancy: Spearman's ρ, all systems", "", *_redundancy(rows), ""]
    parts += ["## Contamination", "", *_contamination(rows, beside), "", *_years(rows), ""]
    for field in BREAKDOWNS:
        parts += [f"## By {field.replace('_', ' ')}: mean CBS (rows)", "", *_breakdown(rows, field), ""]
    return "\n".join([*parts, f"- {profile_text(notes)}"]) + "\n"


def _means(rows: Sequence[Row], part: str) -> list[str]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["part"] == part:
            found.setdefault(row["system"], {})[row["name"]] = row
    names = list(dict.fromkeys(row["name"] for row in rows if row["part"] == part))
    ordered = sorted(found.values(), key=lambda item: item[names[0]]["rank"] or len(found) + 1)
    lines = [[name_text(item[names[0]]), *(_ranked(item[name]) for name in names)] for item in ordered]
    return grid(["system", *(one_line(name, 40) for name in names)], lines).splitlines()


def _ranked(row: Row) -> str | None:
    return None if row["value"] is None else f"{row['value']:.4f} ({row['rank']})"


def _taus(rows: Sequence[Row], part: str, what: str, beside: bool) -> list[str]:
    lines = []
    for row in rows:
        if row["part"] == part:
            cells: list[Any] = [one_line(row["name"], 40), number(row["value"], 3), number(row["p_value"]), row["n"]]
            lines.append([*cells, number(row.get("published"), 3), row["note"]] if beside else [*cells, row["note"]])
    headers = [what, "τ with the first", "p", "systems", *(["τ in the paper"] if beside else []), "note"]
    return grid(headers, lines, texts=(0, len(headers) - 1)).splitlines()


def _redundancy(rows: Sequence[Row]) -> list[str]:
    values = {
        (row["name"], row["other"]): row["value"]
        for row in rows
        if row["part"] == "redundancy" and row["system"] == ALL_SYSTEMS
    }
    lines = [
        [first.upper(), *(number(values.get((first, second)), 3) for second in METRICS[1:])] for first in METRICS[:-1]
    ]
    return grid(["", *(name.upper() for name in METRICS[1:])], lines).splitlines()


def _contamination(rows: Sequence[Row], beside: bool) -> list[str]:
    names = ("mean_rare_terms", "share_without", "share_two_or_more")
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["part"] == "contamination" and row["name"] in names:
            found.setdefault(row["system"], {})[row["name"]] = row
    lines = [[_name(item[names[0]]), *(number(item[name]["value"], 3) for name in names)] for item in found.values()]
    if beside:
        printed = [found[ALL_SYSTEMS][name].get("published") for name in names]
        lines.append(["in the paper", *(number(value, 3) for value in printed)])
    headers = ["system", "rare terms a row", "rows without", "rows with two or more"]
    return grid(headers, lines).splitlines()


def _years(rows: Sequence[Row]) -> list[str]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["part"] == "contamination" and row["name"] == "cbs_by_year":
            found.setdefault(row["system"], []).append(row)
    lines = []
    for items in found.values():
        cells = [f"{number(item['value']) or '–'} ({item['n']})" for item in items[:2]]
        lines.append(
            [_name(items[0]), *cells, number(items[2]["value"]), number(items[2].get("p_value")), items[2]["note"]]
        )
    periods = [item["other"] for item in next(iter(found.values()))]
    headers = ["system", *(f"CBS {period} (rows)" for period in periods[:2]), "difference", "p", "note"]
    return grid(headers, lines, texts=(0, 5)).splitlines()


def _breakdown(rows: Sequence[Row], field: str) -> list[str]:
    mine = [row for row in rows if row["part"] == "breakdown" and row["name"] == field]
    sizes = {row["other"]: row["n"] for row in mine if row["system"] == ALL_SYSTEMS}
    groups = sorted(sizes, key=lambda label: (-sizes[label], label))[:MOST_GROUPS]
    systems = list(dict.fromkeys(row["system"] for row in mine))
    cells = {(row["system"], row["other"]): row for row in mine}
    lines = []
    for system in systems:
        found = [cells.get((system, label)) for label in groups]
        first = next(row for row in mine if row["system"] == system)
        lines.append([_name(first), *(_counted(row) for row in found)])
    text = grid(["system", *(shorten(one_line(label), 24) for label in groups)], lines).splitlines()
    rest = len(sizes) - len(groups)
    return [*text, *(["", f"and {rest} smaller groups, in the file"] if rest else [])]


def _counted(row: Row | None) -> str | None:
    return None if row is None or row["value"] is None else f"{row['value']:.3f} ({row['n']})"


def _name(row: Row) -> str:
    return ALL_SYSTEMS if row["system"] == ALL_SYSTEMS else name_text(row)
