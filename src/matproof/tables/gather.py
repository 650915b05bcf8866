"""The station `gather`: runs and evaluations into tables and the leaderboard.

Tables are rebuilt from shards every time, and a run is read again only where it changed. The same results give
the same bytes: nothing here knows the time. What can't be read is left out, named in `problems`, and never counted
as a score; that is no failure of the station, since the tables of all other runs are needed all the same.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from matproof.core.files import read_text, to_json, write_text
from matproof.records.places import Results
from matproof.records.run import LOST
from matproof.tables.beside_checks import beside_rows
from matproof.tables.board_text import board_csv, board_markdown
from matproof.tables.claims import claim_rows
from matproof.tables.columns import SHARDED, Row
from matproof.tables.leaderboard import leaderboard
from matproof.tables.panels import agreement_rows, judged_again, panel_rows, write_disagreements
from matproof.tables.reading import current_shards
from matproof.tables.segments import rows_of
from matproof.tables.store import plain_rows, read_metadata, read_table, write_arrow, write_table
from matproof.tables.views import run_key

_COUNTED = ("runs", "judgements", "checks", "flags", "required_steps", "usage")
"""Of the tables that come from shards, those whose every row others are computed from."""
__all__ = ["GatherSummary", "board_counts", "gather", "leaderboard_text", "read_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherSummary:
    """What `gather` did."""

    new: int
    """Runs that had no shard."""
    changed: int
    """Runs whose files changed since their shard."""
    unchanged: int
    """Runs that were not opened."""
    vanished: int
    """Shards dropped because their run is gone."""
    infrastructure: int
    """Runs of which every try so far was lost."""
    unfinished: int
    """Run directories without any result yet."""
    problems: list[Row]
    """Rows of `problems`: file, field, problem, remedy."""
    files: list[Path]
    """What was written, the leaderboard last."""

    @property
    def runs(self) -> int:
        """Run directories."""
        return self.new + self.changed + self.unchanged


def gather(results: Path, tasks: Path, include_scripted: bool = False, workers: int | None = None) -> GatherSummary:
    """Build every table of `results`. A `tasks` that is missing leaves what is known of claims to the runs.

    `workers` processes read the runs that are new or changed; None is as many as there are processors.
    """
    shards, seen = current_shards(results, workers)
    arrow = {name: rows_of(shards, name) for name in SHARDED}
    tables = {name: plain_rows(arrow[name]) for name in _COUNTED}
    tables["evaluations"] = plain_rows(arrow["evaluations"], dimension="overall")
    tables["claims"], problems = claim_rows(tasks, {row["claim"]: row["claim_id"] for row in tables["runs"]})
    tables["problems"] = plain_rows(rows_of(shards, "problems")) + problems
    several = judged_again(tables["evaluations"], tables["judgements"])
    again = [row for row in plain_rows(arrow["evaluations"]) if run_key(row) in several] if several else []
    tables["panels"] = panel_rows(again, tables["judgements"])
    tables["panel_agreement"] = agreement_rows(again, tables["judgements"])
    tables["judge_and_checks"] = beside_rows(
        tables["evaluations"], tables["checks"], tables["flags"], tables["required_steps"]
    )
    files = [write_arrow(results, name, table) for name, table in arrow.items()]
    files += [write_table(results, name, rows) for name, rows in tables.items() if name not in arrow]
    files.append(write_disagreements(results, tables["panels"]))
    states = Counter(shards["state"].to_pylist())
    files += _write_leaderboard(results, tables, states["unfinished"], include_scripted)
    return GatherSummary(
        new=seen.new,
        changed=seen.changed,
        unchanged=seen.unchanged,
        vanished=seen.vanished,
        infrastructure=states["infrastructure"],
        unfinished=states["unfinished"],
        problems=tables["problems"],
        files=files,
    )


def leaderboard_text(results: Path) -> str:
    """The leaderboard for people, as `gather` wrote it. Raises InputError where there is none."""
    return read_text(Results(results).tables / "leaderboard.md")


def board_counts(results: Path) -> tuple[dict[str, int], list[str]]:
    """The counts and the left-out settings that the leaderboard's metadata holds. Raises InputError."""
    notes = read_metadata(results, "leaderboard")
    return json.loads(notes["matproof.counts"]), json.loads(notes["matproof.left_out"])


def _write_leaderboard(
    results: Path, tables: dict[str, list[Row]], unfinished: int, include_scripted: bool
) -> list[Path]:
    board = leaderboard(
        tables["runs"],
        tables["evaluations"],
        tables["usage"],
        include_scripted=include_scripted,
        checks=tables["checks"],
        outcomes={row["claim"]: row.get("outcome") for row in tables["claims"]},
    )
    ended = Counter(row["outcome"] for row in tables["runs"])
    lost = {outcome: ended[outcome] for outcome in LOST}
    counts = {
        "runs": len(tables["runs"]) - sum(lost.values()),
        "claims": len({row["claim"] for row in tables["runs"]}),
        **lost,
        "lost_attempts": sum(row["lost_attempts"] for row in tables["runs"]),
        "unfinished": unfinished,
        "problems": len(tables["problems"]),
    }
    metadata = {
        "matproof.include_scripted": str(include_scripted).lower(),
        "matproof.left_out": to_json(board.left_out, indent=None),
        "matproof.counts": to_json(counts, indent=None),
    }
    directory = Results(results).tables
    texts = {
        directory / "leaderboard.csv": board_csv(board.rows),
        directory / "leaderboard.md": board_markdown(board.rows, left_out=board.left_out, counts=counts),
    }
    for path, text in texts.items():
        write_text(path, text)
    return [write_table(results, "leaderboard", board.rows, metadata), *texts]
