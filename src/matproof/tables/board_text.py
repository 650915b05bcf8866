"""The leaderboard as text: Markdown that reads as well in a terminal, and CSV with every column in full."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matproof.tables.columns import TABLES, Row
from matproof.tables.overconfidence import BOARD_NOTE, board_lines
from matproof.tables.words import cost_text, one_line, plural, score_text, seconds_text, share_text, shorten

WIDTH = 110
"""Columns of the widest line."""
_HEADERS = ("#", "setting", "judge", "score", "success", "runs", "unscored", "infra", "time", "cost")
_SHRINKING = (1, 2)
_LEFT = {1, 2}


def board_csv(rows: Sequence[Row]) -> str:
    """Every column of the leaderboard; null is empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [column.name for column in TABLES["leaderboard"]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def board_markdown(rows: Sequence[Row], *, left_out: Sequence[str], counts: dict[str, int]) -> str:
    """The leaderboard for people.

    `counts` has `runs`, `claims`, `infrastructure`, `unfunded`, `cancelled`, `lost_attempts`, `unfinished` and
    `problems`; what is missing is none.
    """
    told = [plural(counts["claims"], "claim"), plural(counts["runs"], "run")]
    for name, text in (
        ("infrastructure", f"{counts['infrastructure']} lost to infrastructure"),
        ("unfunded", f"{counts.get('unfunded')} cut by the campaign's budget"),
        ("cancelled", f"{counts.get('cancelled')} cancelled"),
        ("lost_attempts", plural(counts["lost_attempts"], "lost attempt")),
        ("unfinished", f"{counts['unfinished']} unfinished"),
        ("problems", plural(counts["problems"], "problem")),
    ):
        told += [text] if counts.get(name) else []
    parts = ["# Leaderboard", "", " · ".join(told), ""]
    live = [row for row in rows if not row["scripted"]]
    scripted = [row for row in rows if row["scripted"]]
    if live:
        parts += [*_table(live), "", *_grid(board_lines(live)), ""]
    if scripted:
        parts += ["## Scripted: demonstrations", "", *_wrapped(_scripted_note(scripted)), ""]
        parts += [*_table(scripted), "", *_grid(board_lines(scripted)), ""]
    if not rows:
        parts += [*_wrapped(empty_reason(left_out, counts)), ""]
    elif left_out:
        parts += [*_wrapped(_left_out_note(left_out)), ""]
    if rows:
        for note in _notes(rows):
            parts += _wrapped(f"- {note}", indent="  ")
        parts.append("")
    return "\n".join(parts)


def empty_reason(left_out: Sequence[str], counts: dict[str, int]) -> str:
    """Why the leaderboard has no row, and what to do."""
    if left_out:
        names = ", ".join(one_line(name, 40) for name in left_out)
        return (
            f"Nothing to rank: every setting is scripted ({names}). A script answered in place of a model, so these "
            "runs are demonstrations. Pass --include-scripted to see them."
        )
    if counts["unfinished"]:
        return f"Nothing to rank yet: {plural(counts['unfinished'], 'run')} unfinished and none has a result."
    if counts["problems"]:
        return "Nothing to rank: no run could be read, see the problems."
    return "Nothing to rank: there are no runs yet. `snakemake --profile profiles/local` makes some."


def _scripted_note(rows: Sequence[Row]) -> str:
    who = []
    if any(row["run_scripted"] for row in rows):
        who.append("the agent's model")
    if any(row["judge_scripted"] for row in rows):
        who.append("the judge's model")
    return (
        f"A script answered in place of {' and of '.join(who)}. Commands, files and checks are real; the words "
        "are nobody's, and no score here says anything about a model."
    )


def _left_out_note(left_out: Sequence[str]) -> str:
    names = ", ".join(one_line(name, 40) for name in left_out)
    return f"Left out as scripted: {names} (--include-scripted shows them)."


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = [
        "score: 1 to 5; success: a score of at least 4, or a correct verdict; both are means over claims ± standard "
        "error (repeats of a claim are averaged first), and an unscored run counts in neither",
        "time: median of a run; cost: of all runs, judges apart",
        BOARD_NOTE,
    ]
    if any(row["unscored"] or row["infrastructure"] for row in rows):
        notes.append("unscored: runs without a score from this judge; infra: runs lost to node, sandbox or provider")
    else:
        notes.append("every run was scored, and none was lost to node, sandbox or provider")
    if any(row["se_success"] is None and row["success_rate"] is not None for row in rows):
        notes.append("a number without ± rests on one claim: its standard error is unknown")
    if any(row_cost(row)[0] in "?≥" for row in rows):
        unknown = max(row["cost_unknown_runs"] for row in rows)
        notes.append(f"cost: ? is unknown, ≥ is the known part; up to {plural(unknown, 'run')} of a row unknown")
    for row in rows:
        if row["unscored"]:
            reasons = Counter(json.loads(row["unscored_reasons"])).most_common(3)
            said = "; ".join(f"{number} × {one_line(reason, 80)}" for reason, number in reasons)
            notes.append(f"unscored by {one_line(row['judge'], 30)} under {one_line(row['setting'], 30)}: {said}")
    return notes


def _cells(row: Row) -> tuple[str, ...]:
    return (
        "–" if row["rank"] is None else str(row["rank"]),
        one_line(row["setting"]),
        one_line(row["judge"] or "none"),
        score_text(row["mean_score"], row["se_score"]),
        share_text(row["success_rate"], row["se_success"]),
        str(row["runs"]),
        str(row["unscored"]),
        str(row["infrastructure"]),
        seconds_text(row["median_seconds"]) if row["runs"] else "–",
        row_cost(row),
    )


def row_cost(row: Row) -> str:
    """What the runs of a row cost; a dash where nothing was bought: no runs, or a script in place of a model."""
    if not row["runs"] or (row["run_scripted"] and row["cost_known_usd"] is None):
        return "–"
    return cost_text(row["cost_usd"], row["cost_known_usd"])


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [_HEADERS, *(_cells(row) for row in rows)]
    if not any(row["unscored"] or row["infrastructure"] for row in rows):
        lines = [(*line[:6], *line[8:]) for line in lines]
    return _grid(lines)


def _grid(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a Markdown table whose columns 1 and 2 give way where it would be wider than `WIDTH`."""
    columns = range(len(lines[0]))
    widths = [max(3, *(len(line[index]) for line in lines)) for index in columns]
    room = WIDTH - (3 * len(widths) + 1) - sum(width for index, width in enumerate(widths) if index not in _SHRINKING)
    widths[1], widths[2] = _share_room(widths[1], widths[2], room)
    rule = tuple("-" * widths[index] if index in _LEFT else "-" * (widths[index] - 1) + ":" for index in columns)
    return [_line(line, widths) for line in (lines[0], rule, *lines[1:])]


def _share_room(first: int, second: int, room: int) -> tuple[int, int]:
    """Widths of two columns that together have `room`: the narrower keeps its width as long as it takes half."""
    if first + second <= room:
        return first, second
    kept = min(second, max(room // 3, room - first))
    return max(room - kept, 8), max(kept, 8)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    shown = (shorten(cell.replace("|", "¦"), width) for cell, width in zip(cells, widths, strict=True))
    aligned: list[Any] = [
        cell.ljust(width) if index in _LEFT else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(shown, widths, strict=True))
    ]
    return f"| {' | '.join(aligned)} |"


def _wrapped(text: str, indent: str = "") -> list[str]:
    import textwrap

    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False)
