"""The list of all runs as data: chunks that the page loads one after the other, so that it opens at once however many
runs there are.

A page that was opened from disk may not fetch a file, but its own script may add a script element. So a chunk is a
script that hands one JSON text to the page. What the text says is data of agents and people: it is ASCII, with `<`
and `>` as escapes, and reaches the page as text only.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError
from matproof.records.evaluation import DIMENSIONS
from matproof.records.run import LOST
from matproof.report.campaign import Campaign, Key, key_of, style_of
from matproof.tables.columns import Row
from matproof.tables.store import read_rows, table_path
from matproof.tables.words import one_line

CHUNK = 4_000
"""Runs in one chunk, about 200 kB."""
VERDICTS = {"none": 0, "s1": 1, "s2": 2, "s3": 3, "s4": 4, "s5": 5, "yes": 6, "no": 7}
LOST_VERDICT = -1


def as_script(name: str, value: Any) -> str:
    """A script that gives `value` to the page that asked for it under `name`."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # A JSON text is a JavaScript string literal once it is written as JSON again; ASCII leaves no line separators.
    literal = json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"matproofData({json.dumps(name)},{literal});\n"


def run_list_files(campaign: Campaign, pages: set[Key]) -> dict[str, str]:
    """Files below the site: `data/runs.js` with what the rows refer to, and the chunks. `pages` are the runs that
    have one."""
    claims, settings = sorted(campaign.claims), campaign.settings
    outcomes = sorted({run["outcome"] for run in campaign.runs})
    labels = sorted({row["label"] for row in campaign.failures})
    judges = list(campaign.kinds)
    index = {"claim": _index(claims), "setting": _index(settings), "outcome": _index(outcomes), "label": _index(labels)}
    marks: dict[Key, int] = {}
    for row in campaign.failures:
        marks[key_of(row)] = marks.get(key_of(row), 0) | 1 << index["label"][row["label"]]
    rows = [_row(campaign, run, judges, index, marks, pages) for run in campaign.runs]
    chunks = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]
    head = {
        "claims": [[name, *(_claim(campaign.claims[name]))] for name in claims],
        "settings": settings,
        "outcomes": outcomes,
        "labels": labels,
        "judges": [[judge, campaign.kinds[judge]] for judge in judges],
        "runs": len(rows),
        "chunks": len(chunks),
    }
    files = {"data/runs.js": as_script("runs", head)}
    for number, chunk in enumerate(chunks):
        files[f"data/runs-{number}.js"] = as_script(f"runs-{number}", chunk)
    return files


def _index(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _claim(row: Row) -> list[str]:
    title = one_line(row.get("title") or "", 160)
    return [
        title,
        *(row.get(name) or "unknown" for name in ("subdomain", "reproduction_type", "verification", "outcome")),
    ]


def _row(
    campaign: Campaign,
    run: Row,
    judges: Sequence[str],
    index: dict[str, dict[str, int]],
    marks: dict[Key, int],
    pages: set[Key],
) -> list[Any]:
    key = key_of(run)
    given = [campaign.verdicts.get((key, judge)) for judge in judges]
    lost = run["outcome"] in LOST
    scripted = run["scripted"] or any(row is not None and row["scripted"] for row in given)
    said = run["self_reproduced"]
    return [
        index["claim"][run["claim"]],
        index["setting"][run["setting"]],
        run["repeat"],
        index["outcome"][run["outcome"]],
        int(run["valid"]),
        -1 if said is None else int(said),
        round(run["seconds"], 1),
        None if run["cost_usd"] is None else round(run["cost_usd"], 6),
        int(scripted) + 2 * (key in pages),
        marks.get(key, 0),
        *(LOST_VERDICT if lost else VERDICTS[style_of(row)] for row in given),
        *(campaign.flags.get(key) or ((0, 0) if run["detected"] else (None, None))),
    ]


def comparison_file(campaign: Campaign) -> str:
    """`data/compare.js`: each judge's scores by setting and claim (means over repeats), and the tests of all pairs
    where `matproof statistics` has run."""
    claims = sorted({run["claim"] for run in campaign.runs})
    return as_script(
        "compare",
        {
            "claims": [[name, *_claim(campaign.claims[name])] for name in claims],
            "settings": campaign.settings,
            "judges": [[judge, kind] for judge, kind in campaign.kinds.items()],
            "dimensions": list(DIMENSIONS),
            "scores": _scores(campaign, _index(claims)),
            "tests": _tests(campaign.results),
        },
    )


def _scores(campaign: Campaign, at: dict[str, int]) -> dict[str, dict[str, dict[int, list[float | None]]]]:
    """Judge → setting → claim → [overall, each dimension]; of a program that only says yes or no, 1 or 0."""
    values: dict[tuple[str, str, int, int], list[float]] = {}
    lost = {key_of(run) for run in campaign.runs if run["outcome"] in LOST}
    for row in campaign.overall:
        if row["status"] == "scored" and key_of(row) not in lost:
            value = row["score"] if campaign.kinds[row["judge"]] == "agent" else row["success"]
            if value is not None:
                values.setdefault((row["judge"], row["setting"], at[row["claim"]], 0), []).append(float(value))
    place = {name: number for number, name in enumerate(DIMENSIONS, 1)}
    for (judge, setting), found in campaign.dimensions.items():
        for dimension, claim, score in found:
            if dimension in place:
                values.setdefault((judge, setting, at[claim], place[dimension]), []).append(score)
    cells: dict[str, dict[str, dict[int, list[float | None]]]] = {}
    for (judge, setting, claim, column), scores in values.items():
        line = cells.setdefault(judge, {}).setdefault(setting, {})
        line.setdefault(claim, [None] * (1 + len(DIMENSIONS)))[column] = round(sum(scores) / len(scores), 4)
    return cells


def _tests(results: Path) -> list[list[Any]]:
    """Rows of the comparisons in the table `statistics`; none where it isn't there or is of another version."""
    if not table_path(results, "statistics").is_file():
        return []
    columns = ("judge", "setting", "other", "group", "name", "value", "low", "high", "p_value", "p_adjusted", "n")
    kept = ("difference", "signed_rank", "detectable")
    try:
        rows = read_rows(results, "statistics")
    except InputError:  # the site names it among its problems
        return []
    return [[row[name] for name in columns] for row in rows if row["analysis"] == "comparison" and row["name"] in kept]
