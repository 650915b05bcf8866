import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.commands.gather import command
from matproof.core.errors import InputError
from matproof.records.base import Usage
from matproof.records.evaluation import DIMENSIONS
from matproof.records.run import SandboxReport
from matproof.tables.columns import TABLES, TABLES_VERSION, arrow_schema
from matproof.tables.gather import gather, read_table
from matproof.tables.segments import shards_directory, stored_shards
from matproof.tables.store import read_rows, write_table


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two claims under one setting, each judged twice."""
    for claim in ("MD-1_a", "MD-2_b"):
        run = run_record(claim)
        write_run(tmp_path / "results", run, judgement(run, 4), checked(run))
        write_claim(tmp_path / "tasks", claim)
    return tmp_path / "results"


def _spoil(path: Path) -> None:
    """Replace the content, keeping size and time: only someone who opens the file can know."""
    status = path.stat()
    path.write_bytes(b"x" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _tables(results: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (results / "tables").iterdir() if path.is_file()}


def test_an_unchanged_run_is_not_opened_again(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", False)
    before = _tables(results)
    for path in [*results.glob("runs/*/*/*/run.json"), *results.glob("runs/*/*/*/*/*.json")]:
        _spoil(path)
    summary = gather(results, tmp_path / "tasks", False)
    assert (summary.new, summary.unchanged, summary.problems) == (0, 2, [])
    assert _tables(results) == before


def test_a_spoilt_file_with_another_time_is_read_and_named(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", False)
    broken = results / "runs/MD-1_a/live/1/run.json"
    broken.write_text('{"claim": "MD-1_a"}')
    summary = gather(results, tmp_path / "tasks", False)
    assert (summary.changed, summary.unchanged) == (1, 1)
    assert [(row["file"], row["field"]) for row in summary.problems] == [("runs/MD-1_a/live/1/run.json", "claim_id")]
    assert read_table(results, "runs")["claim"].tolist() == ["MD-2_b"]


def test_a_new_run_adds_one_shard_and_a_vanished_one_takes_its_shard_along(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", False)
    place = write_run(results, run_record("MD-1_a", repeat=2))
    summary = gather(results, tmp_path / "tasks", False)
    assert (summary.new, summary.unchanged, summary.runs) == (1, 2, 3)
    place.root.rename(tmp_path / "elsewhere")
    summary = gather(results, tmp_path / "tasks", False)
    assert (summary.new, summary.unchanged, summary.vanished) == (0, 2, 1)
    assert stored_shards(results).keys == {"MD-1_a/live/1", "MD-2_b/live/1"}
    assert len(read_table(results, "runs")) == 2


def test_a_new_evaluation_is_seen(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", False)
    write_run(results, run := run_record("MD-1_a"), judgement(run, 5, "judge-b"))
    assert gather(results, tmp_path / "tasks", False).changed == 1
    evaluations = read_table(results, "evaluations")
    assert evaluations[evaluations.judge == "judge-b"]["score"].tolist() == [5] * 6


def test_the_same_results_give_the_same_bytes(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", True)
    before = _tables(results)
    for path in shards_directory(results).iterdir():
        path.unlink()
    assert gather(results, tmp_path / "tasks", True).new == 2
    assert _tables(results) == before


def test_every_table_has_its_version_and_all_its_columns_even_when_empty(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    gather(tmp_path / "results", tmp_path / "tasks", False)
    by_gather = {
        name: columns for name, columns in TABLES.items() if name != "statistics"
    }  # that is a station of its own
    for name, columns in by_gather.items():
        schema = pq.read_schema(tmp_path / "results" / "tables" / f"{name}.parquet")
        assert schema.names == [column.name for column in columns]
        assert schema.metadata[b"matproof.schema_version"] == str(TABLES_VERSION).encode()
        assert schema.equals(arrow_schema(name))


def test_a_run_has_a_row_for_the_overall_score_and_each_dimension(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", False)
    rows = [row for row in read_rows(results, "evaluations") if (row["claim"], row["judge"]) == ("MD-1_a", "judge-a")]
    assert [row["dimension"] for row in rows] == ["overall", *sorted(DIMENSIONS)]
    assert (rows[0]["grade"], rows[0]["success"], rows[1]["grade"]) == ("mostly_reproduced", True, None)


def test_an_unscored_evaluation_has_a_row_without_a_number(tmp_path: Path) -> None:
    write_run(tmp_path, run := run_record("A_x"), judgement(run, None, reason="no answer in 600 s"))
    gather(tmp_path, tmp_path / "tasks", False)
    (row,) = read_rows(tmp_path, "evaluations")
    assert (row["dimension"], row["score"], row["success"]) == ("overall", None, None)
    assert (row["status"], row["reason"]) == ("unscored", "no answer in 600 s")


def test_unknown_usage_stays_null(tmp_path: Path) -> None:
    write_run(tmp_path, run_record("A_x", usage=Usage(requests=2, cost_reason="no price for model-a"), sandbox=None))
    gather(tmp_path, tmp_path / "tasks", False)
    (row,) = read_rows(tmp_path, "runs")
    assert (row["requests"], row["input_tokens"], row["cost_usd"]) == (2, None, None)
    assert (row["cost_reason"], row["weaker"], row["session_s"]) == ("no price for model-a", None, None)
    assert read_table(tmp_path, "runs")["cost_usd"].isna().all()


def test_steps_checks_failures_and_phases_have_their_rows(tmp_path: Path) -> None:
    weak = SandboxReport(engine="bubblewrap", weaker={"memory": "no cgroup"})
    write_run(tmp_path, run := run_record("A_x", sandbox=weak), judgement(run, 2), checked(run, "incorrect"))
    gather(tmp_path, tmp_path / "tasks", False)
    steps = [(row["step"], row["tries"], row["returncode"], row["seconds"]) for row in read_rows(tmp_path, "steps")]
    assert steps == [("relax", 2, 0, 5.0), ("plot", 0, None, 0.0)]
    checks = [(row["name"], row["status"], row["reported"]) for row in read_rows(tmp_path, "checks")]
    assert checks == [("a0", "outside", 5.9), ("bulk", "missing", None), ("e_hcp < e_fcc", "holds", None)]
    assert [row["label"] for row in read_rows(tmp_path, "failures")] == ["overconfident_assessment"]
    (row,) = read_rows(tmp_path, "runs")
    assert (row["plan_s"], row["execute_s"], row["weaker"]) == (20.0, 40.0, True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"attempt": 2}, "attempt"),
        ({"judge": "other"}, "judge"),
        ({"claim": "B_y"}, "claim"),
        ({"schema_version": 9}, "schema_version"),
        ({"overall": 6}, "overall"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_an_evaluation_that_is_not_of_this_run_is_named_and_left_out(
    tmp_path: Path, change: dict[str, object], field: str
) -> None:
    place = write_run(tmp_path, run := run_record("A_x"), judgement(run, 4))
    path = place.evaluation("judge-a")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert [(row["file"], row["field"]) for row in summary.problems] == [
        ("runs/A_x/live/1/evaluations/judge-a.json", field)
    ]
    assert len(read_rows(tmp_path, "evaluations")) == 0
    assert len(read_rows(tmp_path, "runs")) == 1


def test_a_run_copied_to_another_name_is_not_counted_twice(tmp_path: Path) -> None:
    place = write_run(tmp_path, run_record("A_x"))
    copy = tmp_path / "runs/A_x/live/2/run.json"
    copy.parent.mkdir()
    copy.write_bytes(place.run_json.read_bytes())
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert [row["field"] for row in summary.problems] == ["repeat"]
    assert len(read_rows(tmp_path, "runs")) == 1


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[" * 200_000, b'{"claim": "\\ud800"}', b"null", b'{"seconds": NaN}']
)
def test_no_content_of_a_record_stops_the_station(tmp_path: Path, content: bytes) -> None:
    place = write_run(tmp_path, run_record("A_x"))
    place.run_json.write_bytes(content)
    summary = gather(tmp_path, tmp_path / "tasks", False)
    assert [row["file"] for row in summary.problems] == ["runs/A_x/live/1/run.json"]


def test_a_number_beyond_64_bits_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    write_run(tmp_path, run_record("A_x", usage=Usage(requests=1, input_tokens=10**30)))
    (problem,) = gather(tmp_path, tmp_path / "tasks", False).problems
    assert problem["field"] == "input_tokens"


def test_a_directory_in_place_of_a_record_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "runs/A_x/live/1/run.json").mkdir(parents=True)
    (problem,) = gather(tmp_path, tmp_path / "tasks", False).problems
    assert "can't be read" in problem["problem"]


def test_claims_come_from_the_tasks_and_a_claim_that_is_gone_keeps_a_row(results: Path, tmp_path: Path) -> None:
    write_claim(tmp_path / "tasks", "DDD-9_c", outcome="contradicted", subdomain="ddd")
    write_run(results, run_record("OLD-1_z"))
    gather(results, tmp_path / "tasks", False)
    rows = {row["claim"]: row for row in read_rows(results, "claims")}
    assert list(rows) == ["DDD-9_c", "MD-1_a", "MD-2_b", "OLD-1_z"]
    assert (rows["DDD-9_c"]["outcome"], rows["DDD-9_c"]["subdomain"]) == ("contradicted", "ddd")
    assert (rows["OLD-1_z"]["claim_id"], rows["OLD-1_z"]["title"]) == ("OLD-1", None)


def test_a_wrong_claim_file_is_a_problem_and_its_runs_stay(results: Path, tmp_path: Path) -> None:
    write_claim(tmp_path / "tasks", "MD-1_a", subdomain="alchemy")
    summary = gather(results, tmp_path / "tasks", False)
    assert [(row["file"], row["field"]) for row in summary.problems] == [("tasks/MD-1_a/meta/claim.yaml", "subdomain")]
    assert len(read_rows(results, "runs")) == 2


def test_the_command_says_what_it_read_and_shows_the_leaderboard(results: Path, tmp_path: Path) -> None:
    options = [str(results), "--tasks", str(tmp_path / "tasks")]
    assert "runs: 2 (2 new, 0 unchanged)\n" in CliRunner().invoke(command, options).stdout
    (results / "runs/MD-1_a/live/1/evaluations/judge-a.json").write_text("{}")
    outcome = CliRunner().invoke(command, options)
    assert outcome.exit_code == 0
    assert "runs: 2 (0 new, 1 changed, 1 unchanged) · 1 problem\n" in outcome.stdout
    assert "| live" in outcome.stdout
    where = "runs/MD-1_a/live/1/evaluations/judge-a.json"
    assert f"left out: {where}: claim: missing; remove judge-a.json and evaluate again\n" in outcome.stderr
    assert str(results / "tables/leaderboard.md") in outcome.stdout


def test_a_table_that_is_missing_or_of_another_version_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such table; run `matproof gather"):
        read_table(tmp_path, "runs")
    write_table(tmp_path, "runs", [], {"matproof.schema_version": "0"})
    with pytest.raises(InputError, match="schema_version: is 0"):
        read_table(tmp_path, "runs")
    (tmp_path / "tables/runs.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_table(tmp_path, "runs")


def test_every_column_is_in_the_manual() -> None:
    manual = (Path(__file__).parents[2] / "docs/tables.md").read_text()
    for name, columns in TABLES.items():
        section = manual.split(f"\n## `{name}`\n")[1].split("\n## ")[0]
        rows = [f"| `{column.name}` | {column.kind} | {column.text} |" for column in columns]
        assert [line for line in section.splitlines() if line.startswith("| `")] == rows
