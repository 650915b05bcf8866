"""The station `gather`: runs and evaluations into tables and the leaderboard.

Tables are rebuilt from shards every time, and a shard is made again only where a run changed. The same results give
the same bytes: nothing here knows the time. What can't be read is left out, named in `problems`, and never counted
as a score; that is no failure of the station, since the tables of all other runs are needed all the same.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matproof.core.files import read_text, to_json, write_text
from matproof.records.places import Results
from matproof.tables.board_text import board_csv, board_markdown
from matproof.tables.claims import claim_rows
from matproof.tables.columns import SHARDED, Row
from matproof.tables.leaderboard import leaderboard
from matproof.tables.shards import Shard, find_runs, make_shard, shard_path, signature_of, stored_shard
from matproof.tables.store import read_metadata, read_table, write_table

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


def gather(results: Path, tasks: Path, include_scripted: bool = False) -> GatherSummary:
    """Build every table of `results`. A `tasks` that is missing leaves what is known of claims to the runs."""
    seen = {"new": 0, "changed": 0, "unchanged": 0}
    shards: list[Shard] = []
    keys = set()
    for run in find_runs(results):
        keys.add(run.key)
        path, signature = shard_path(results, run.key), signature_of(run.place)
        stored = stored_shard(path, signature)
        seen["unchanged" if stored else "changed" if path.exists() else "new"] += 1
        shards.append(stored or make_shard(results, run, signature))
    vanished = _drop_vanished(results, keys)
    tables = {name: _joined(shards, name) for name in SHARDED}
    ran = {row["claim"]: row["claim_id"] for row in tables["runs"]}
    tables["claims"], problems = claim_rows(tasks, ran)
    tables["problems"] = [row for shard in shards for row in shard.problems] + problems
    files = [write_table(results, name, rows) for name, rows in tables.items()]
    states = {state: sum(shard.state == state for shard in shards) for state in ("infrastructure", "unfinished")}
    files += _write_leaderboard(results, tables, states, include_scripted)
    return GatherSummary(
        **seen,
        vanished=vanished,
        **states,
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


def _joined(shards: Iterable[Shard], name: str) -> list[Row]:
    return [row for shard in shards for row in shard.tables.get(name, [])]


def _write_leaderboard(
    results: Path, tables: dict[str, list[Row]], states: dict[str, int], include_scripted: bool
) -> list[Path]:
    board = leaderboard(tables["runs"], tables["evaluations"], tables["usage"], include_scripted=include_scripted)
    lost = sum(row["outcome"] == "infrastructure" for row in tables["runs"])
    counts = {
        "runs": len(tables["runs"]) - lost,
        "claims": len({row["claim"] for row in tables["runs"]}),
        "infrastructure": lost,
        "lost_attempts": sum(row["lost_attempts"] for row in tables["runs"]),
        "unfinished": states["unfinished"],
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


def _drop_vanished(results: Path, keys: set[tuple[str, str, str]]) -> int:
    """Remove shards of runs that are gone, and the directories that this empties."""
    root = Results(results).tables / "shards"
    dropped = 0
    for path in sorted(root.glob("*/*/*.json")) if root.is_dir() else []:
        claim, setting = path.parts[-3:-1]
        if (claim, setting, path.stem) not in keys:
            path.unlink(missing_ok=True)
            dropped += 1
    _remove_empty([*root.glob("*/*"), *root.glob("*")] if root.is_dir() else [])
    return dropped


def _remove_empty(directories: Sequence[Path]) -> None:
    for directory in directories:
        if directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()
