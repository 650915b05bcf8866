"""Which attempt of a run counts, and what becomes of the others."""

from pathlib import Path
from typing import Any

from records_fixture import judgement, run_record, write_run

from matproof.tables.gather import gather, leaderboard_text
from matproof.tables.store import read_rows

LOST: dict[str, Any] = {
    "outcome": "infrastructure",
    "reason": "node failed",
    "valid": False,
    "self_reproduced": None,
}


def test_a_run_whose_every_try_was_lost_is_an_infrastructure_failure(tmp_path: Path) -> None:
    for attempt in (1, 2):
        write_run(tmp_path, run_record("A_x", **LOST, attempt=attempt), complete=False)
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert summary.infrastructure == 1
    (row,) = read_rows(tmp_path, "runs")
    assert (row["outcome"], row["complete"], row["attempt"], row["attempts"]) == ("infrastructure", False, 2, 2)
    assert row["lost_attempts"] == 2


def test_a_lost_rerun_does_not_hide_the_newest_complete_attempt(tmp_path: Path) -> None:
    place = write_run(tmp_path, run := run_record("A_x", outcome="walltime"), judgement(run, 4))
    place.run_json.unlink()
    for attempt in (2, 3):
        write_run(tmp_path, run_record("A_x", **LOST, attempt=attempt), complete=False)
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert (summary.infrastructure, summary.problems) == (0, [])
    (row,) = read_rows(tmp_path, "runs")
    assert (row["outcome"], row["complete"], row["attempt"]) == ("walltime", True, 1)
    assert (row["attempts"], row["lost_attempts"]) == (3, 2)
    (board,) = read_rows(tmp_path, "leaderboard")
    assert (board["mean_score"], board["runs"], board["infrastructure"], board["lost_attempts"]) == (4.0, 1, 0, 2)
    assert "1 run · 2 lost attempts" in leaderboard_text(tmp_path)


def test_a_judgement_of_an_older_attempt_than_the_newest_complete_one_does_not_count(tmp_path: Path) -> None:
    place = write_run(tmp_path, run := run_record("A_x"), judgement(run, 4))
    write_run(tmp_path, run_record("A_x", attempt=2), complete=False)
    write_run(tmp_path, run_record("A_x", **LOST, attempt=3), complete=False)
    place.run_json.unlink()
    (problem,) = gather(tmp_path, tmp_path / "tasks", False).problems
    assert problem["field"] == "attempt"
    (row,) = read_rows(tmp_path, "runs")
    assert (row["attempt"], row["lost_attempts"]) == (2, 1)
    assert read_rows(tmp_path, "evaluations") == []


def test_what_lost_tries_spent_is_kept_but_not_counted(tmp_path: Path) -> None:
    write_run(tmp_path, run_record("A_x", outcome="infrastructure", reason="node failed"), complete=False)
    write_run(tmp_path, run := run_record("A_x", attempt=2), judgement(run, 4))
    gather(tmp_path, tmp_path / "tasks", False)
    usage = [(row["source"], row["attempt"], row["counted"], row["cost_usd"]) for row in read_rows(tmp_path, "usage")]
    assert usage == [("agent", 1, False, 0.25), ("agent", 2, True, 0.25), ("judge", 2, True, 0.05)]
    (row,) = read_rows(tmp_path, "leaderboard")
    assert row["cost_usd"] == 0.25


def test_a_run_that_has_not_ended_is_unfinished(tmp_path: Path) -> None:
    (tmp_path / "runs/A_x/live/1/attempts/001").mkdir(parents=True)
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert (summary.unfinished, summary.problems) == (1, [])
    assert read_rows(tmp_path, "runs") == []
    assert "1 run unfinished" in leaderboard_text(tmp_path)
