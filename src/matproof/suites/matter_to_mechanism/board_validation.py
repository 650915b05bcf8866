"""The validation as Markdown that reads as well in a terminal."""

from collections.abc import Sequence
from typing import Any

from matproof.suites.matter_to_mechanism.boards import grid, name_text, number, profile_text
from matproof.tables.columns import Row
from matproof.tables.m2m_published import ALL_SYSTEMS
from matproof.tables.words import one_line


def validation_text(rows: Sequence[Row], notes: dict[str, str], *, beside: bool = False) -> str:
    """Means per system, τ of the ranks and ρ of the rows; with `beside` the paper's τ stands beside."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows if row["level"] == "system"))
    parts = ["# Validation against text similarity", "", *_means(rows, metrics), ""]
    parts += ["## Ranks of systems: Kendall's τ with CBS", "", *_ranks(rows, beside), ""]
    parts += ["## Rows: Spearman's ρ with CBS", "", *_rows(rows, metrics[1:]), ""]
    for row in rows:
        if row["level"] == "ranks" and row["note"]:
            parts.append(f"- {row['metric']}: {row['note']}")
    settings = {row["metric"]: row["note"] for row in rows if row["level"] == "system" and row["metric"] != "cbs"}
    parts += [f"- {metric}: {one_line(note)}" for metric, note in settings.items()]
    parts += [f"- references: {one_line(notes['reference'], 60)}; {notes['left_out']}", f"- {profile_text(notes)}"]
    return "\n".join(parts) + "\n"


def _means(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["level"] == "system":
            found.setdefault(row["system"], {})[row["metric"]] = row
    ordered = sorted(found.values(), key=lambda item: -item["cbs"]["value"])
    lines = [
        [name_text(item["cbs"]), item["cbs"]["n"], *(number(item[metric]["value"]) for metric in metrics)]
        for item in ordered
    ]
    return grid(["system", "rows", *metrics], lines).splitlines()


def _ranks(rows: Sequence[Row], beside: bool) -> list[str]:
    lines = []
    for row in rows:
        if row["level"] == "ranks":
            cells: list[Any] = [row["metric"], number(row["value"], 3), number(row.get("p_value")), row["n"]]
            cells += [number(row["published"], 3), number(row["published_p"])] if beside else []
            lines.append(cells)
    headers = ["metric", "τ", "p", "systems", *(["τ in the paper", "p in the paper"] if beside else [])]
    return grid(headers, lines).splitlines()


def _rows(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["level"] == "rows":
            found.setdefault(row["system"], {})[row["metric"]] = row
    lines = []
    for system, item in found.items():
        first = next(iter(item.values()))
        name = ALL_SYSTEMS if system == ALL_SYSTEMS else name_text(first)
        lines.append([name, first["n"], *(number(item[metric]["value"], 3) for metric in metrics)])
    return grid(["system", "rows", *metrics], lines).splitlines()
