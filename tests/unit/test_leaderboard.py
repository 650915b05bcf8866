import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.records.base import Usage
from matproof.tables.board_text import WIDTH
from matproof.tables.columns import TABLES, Row
from matproof.tables.gather import board_counts, gather, leaderboard_text
from matproof.tables.leaderboard import mean_over_claims, total
from matproof.tables.store import read_rows


def _board(results: Path, include_scripted: bool = False) -> list[Row]:
    gather(results, results / "tasks", include_scripted)
    return read_rows(results, "leaderboard")


def _score(results: Path, claim: str, overall: int | None, repeat: int = 1, setting: str = "live", **run: Any) -> None:
    record = run_record(claim, setting, repeat, **run)
    write_run(results, record, judgement(record, overall))


def test_repeats_are_averaged_before_claims(tmp_path: Path) -> None:
    for repeat, overall in enumerate((5, 5, 5, 5), start=1):
        _score(tmp_path, "A", overall, repeat)
    _score(tmp_path, "B", 1)
    (row,) = _board(tmp_path)
    assert row["mean_score"] == 3.0
    assert row["se_score"] == pytest.approx(2.0)  # claim means 5 and 1: sd 2.83, over the root of 2
    assert (row["success_rate"], row["succeeded"], row["scored"], row["scored_claims"]) == (0.5, 4, 5, 2)
    assert (row["runs"], row["claims"]) == (5, 2)


def test_one_claim_has_no_standard_error(tmp_path: Path) -> None:
    _score(tmp_path, "A", 4, 1)
    _score(tmp_path, "A", 2, 2)
    (row,) = _board(tmp_path)
    assert (row["mean_score"], row["se_score"], row["se_success"]) == (3.0, None, None)
    assert "its standard error is unknown" in leaderboard_text(tmp_path)


def test_an_unscored_run_is_counted_and_touches_no_mean(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5)
    _score(tmp_path, "B", None)
    (row,) = _board(tmp_path)
    assert (row["mean_score"], row["success_rate"]) == (5.0, 1.0)
    assert (row["runs"], row["scored"], row["unscored"]) == (2, 1, 1)
    assert row["unscored_reasons"] == '{"the judge timed out": 1}'
    assert "1 × the judge timed out" in leaderboard_text(tmp_path)


def test_a_run_that_a_judge_of_others_did_not_judge_is_unscored(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5)
    write_run(tmp_path, run_record("B"))
    (row,) = _board(tmp_path)
    assert (row["unscored"], row["unscored_reasons"]) == (1, '{"no judgement": 1}')


def test_a_judge_that_never_answered_gives_no_rank_and_no_number(tmp_path: Path) -> None:
    _score(tmp_path, "A", None)
    (row,) = _board(tmp_path)
    assert (row["rank"], row["mean_score"], row["success_rate"], row["unscored"]) == (None, None, None, 1)


def test_runs_without_any_judge_are_shown_as_not_judged(tmp_path: Path) -> None:
    write_run(tmp_path, run_record("A"))
    (row,) = _board(tmp_path)
    assert (row["judge"], row["runs"], row["scored"], row["unscored"], row["rank"]) == (None, 1, 0, 0, None)


def test_infrastructure_failures_are_counted_apart_from_every_number(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5)
    lost: dict[str, Any] = {"outcome": "infrastructure", "reason": "node failed", "seconds": 9e9}
    write_run(tmp_path, run_record("B", **lost), complete=False)
    record = run_record("C", **lost)
    write_run(tmp_path, record, judgement(record, 1))
    (row,) = _board(tmp_path)
    assert (row["runs"], row["infrastructure"], row["unscored"], row["claims"]) == (1, 2, 0, 1)
    assert (row["mean_score"], row["median_seconds"], row["cost_usd"]) == (5.0, 100.0, 0.25)


def test_a_cost_with_an_unknown_part_is_unknown_and_its_known_part_is_kept(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5)
    _score(tmp_path, "B", 5, usage=Usage(requests=3, cost_reason="no price"))
    (row,) = _board(tmp_path)
    assert (row["cost_usd"], row["cost_known_usd"], row["cost_unknown_runs"]) == (None, 0.25, 1)
    assert (row["requests"], row["input_tokens"], row["output_tokens"]) == (9, None, None)
    assert row["judge_cost_usd"] == 0.1
    assert "≥ $0.25" in leaderboard_text(tmp_path)


def test_a_wholly_unknown_cost_is_never_shown_as_nothing(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5, usage=Usage(requests=3))
    (row,) = _board(tmp_path)
    assert (row["cost_usd"], row["cost_known_usd"]) == (None, None)
    assert "$0" not in leaderboard_text(tmp_path)


def test_a_program_that_judges_costs_nothing_and_an_agent_that_judges_may_cost_what_nobody_knows(
    tmp_path: Path,
) -> None:
    run = run_record("A")
    write_run(tmp_path, run, checked(run), judgement(run, 4, usage=Usage(requests=1)))
    costs = {row["judge"]: row["judge_cost_usd"] for row in _board(tmp_path)}
    assert costs == {"checks": 0.0, "judge-a": None}


def test_a_program_that_judges_has_a_success_rate_and_no_score(tmp_path: Path) -> None:
    for claim, verdict in (("A", "correct"), ("B", "incorrect")):
        write_run(tmp_path, run := run_record(claim), checked(run, verdict))
    (row,) = _board(tmp_path)
    assert (row["kind"], row["mean_score"], row["success_rate"], row["rank"]) == ("checks", None, 0.5, 1)


def test_settings_are_ranked_by_score_and_equals_share_a_rank(tmp_path: Path) -> None:
    for setting, overall in (("low", 2), ("high", 5), ("also-high", 5), ("none", None)):
        _score(tmp_path, "A", overall, setting=setting)
    ranks = [(row["rank"], row["setting"]) for row in _board(tmp_path)]
    assert ranks == [(1, "also-high"), (1, "high"), (3, "low"), (None, "none")]


def test_each_judge_ranks_for_itself(tmp_path: Path) -> None:
    for setting, one, other in (("s", 5, 2), ("t", 3, 4)):
        run = run_record("A", setting)
        write_run(tmp_path, run, judgement(run, one, "j1"), judgement(run, other, "j2"))
    ranks = [(row["judge"], row["rank"], row["setting"]) for row in _board(tmp_path)]
    assert ranks == [("j1", 1, "s"), ("j1", 2, "t"), ("j2", 1, "t"), ("j2", 2, "s")]


def test_scripted_settings_are_left_out_unless_asked(tmp_path: Path) -> None:
    _score(tmp_path, "A", 3)
    _score(tmp_path, "A", 5, setting="demo", scripted=True)
    assert [row["setting"] for row in _board(tmp_path)] == ["live"]
    assert "Left out as scripted: demo (--include-scripted" in leaderboard_text(tmp_path)
    rows = _board(tmp_path, include_scripted=True)
    assert [(row["setting"], row["scripted"], row["rank"]) for row in rows] == [("live", False, 1), ("demo", True, 1)]
    assert "Scripted: demonstrations" in leaderboard_text(tmp_path)


def test_a_scripted_judge_makes_its_row_scripted(tmp_path: Path) -> None:
    run = run_record("A")
    write_run(tmp_path, run, judgement(run, 5, scripted=True), checked(run))
    assert [row["judge"] for row in _board(tmp_path)] == ["checks"]
    rows = _board(tmp_path, include_scripted=True)
    assert [(row["judge"], row["run_scripted"], row["judge_scripted"]) for row in rows] == [
        ("checks", False, False),
        ("judge-a", False, True),
    ]


def test_live_and_scripted_runs_of_one_setting_share_no_row(tmp_path: Path) -> None:
    _score(tmp_path, "A", 1)
    _score(tmp_path, "B", 5, scripted=True)
    rows = _board(tmp_path, include_scripted=True)
    assert [(row["scripted"], row["runs"], row["mean_score"]) for row in rows] == [(False, 1, 1.0), (True, 1, 5.0)]


def test_an_empty_leaderboard_says_why(tmp_path: Path) -> None:
    assert _board(tmp_path) == []
    assert "there are no runs yet" in leaderboard_text(tmp_path)
    _score(tmp_path, "A", 5, setting="demo", scripted=True)
    assert _board(tmp_path) == []
    text = " ".join(leaderboard_text(tmp_path).split())
    assert "every setting is scripted (demo)" in text
    assert "Pass --include-scripted" in text
    assert board_counts(tmp_path)[1] == ["demo"]


def test_the_text_is_aligned_and_narrow_whatever_the_names(tmp_path: Path) -> None:
    for setting in ("s", "a-setting-with-a-very-long-name-that-would-break-every-terminal" * 2):
        run = run_record("A", setting, usage=Usage(requests=10**6, cost_usd=12345.678, input_tokens=1, output_tokens=1))
        write_run(tmp_path, run, judgement(run, 4, "judge|" + "x" * 60), judgement(run, None, "quiet", "r" * 500))
    _board(tmp_path)
    lines = leaderboard_text(tmp_path).splitlines()
    assert max(map(len, lines)) <= WIDTH
    table = [line for line in lines if line.startswith("|")]
    assert len({len(line) for line in table}) == 1
    assert {line.count("|") for line in table} == {11, 10}


def test_a_script_buys_nothing_and_columns_of_zeros_make_room_for_names(tmp_path: Path) -> None:
    name = "scripted-orchestrated-with-a-long-name"
    _score(tmp_path, "A", 5, setting=name, scripted=True, usage=Usage(requests=6, cost_reason="scripted"))
    _board(tmp_path, include_scripted=True)
    text = leaderboard_text(tmp_path)
    (line,) = [line for line in text.splitlines() if name in line]
    assert line.endswith(" – |")
    assert "| unscored |" not in text
    assert "every run was scored, and none was lost" in text


def test_the_csv_has_every_column_and_leaves_unknown_empty(tmp_path: Path) -> None:
    _score(tmp_path, "A", None, usage=Usage(requests=3))
    _board(tmp_path)
    (row,) = csv.DictReader(io.StringIO((tmp_path / "tables/leaderboard.csv").read_text()))
    assert list(row) == [column.name for column in TABLES["leaderboard"]]
    assert (row["mean_score"], row["cost_usd"], row["requests"]) == ("", "", "3")


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 5)), max_size=20))
def test_the_mean_lies_among_the_scores_and_an_error_needs_two_claims(pairs: list[tuple[str, int]]) -> None:
    mean, error, claims = mean_over_claims([{"run": {"claim": c}, "score": s} for c, s in pairs], "score")
    assert claims == len({claim for claim, _ in pairs})
    assert (error is None) == (claims < 2)
    assert (mean is None) == (not pairs)
    if mean is not None:
        assert min(score for _, score in pairs) <= mean <= max(score for _, score in pairs)
        assert error is None or error >= 0


@given(st.lists(st.one_of(st.none(), st.integers(0, 100))))
def test_a_sum_is_unknown_where_any_part_is(parts: list[int | None]) -> None:
    known = [part for part in parts if part is not None]
    assert total(parts) == (sum(known) if parts and len(known) == len(parts) else None)


def _told(results: Path, claim: str, says: bool | None, overall: int, outcome: str | None) -> None:
    record = run_record(claim, self_reproduced=says)
    write_run(results, record, judgement(record, overall))
    if outcome:
        write_claim(results / "tasks", claim, outcome)


def test_supported_and_contradicted_claims_stand_apart_and_together(tmp_path: Path) -> None:
    for claim, says, overall, outcome in (
        ("A", True, 5, "supported"),
        ("B", True, 1, "supported"),
        ("C", False, 4, "contradicted"),
        ("D", True, 4, None),
    ):
        _told(tmp_path, claim, says, overall, outcome)
    (row,) = _board(tmp_path)
    assert (row["success_rate"], row["supported_success"], row["contradicted_success"]) == (0.75, 0.5, 1.0)
    assert (row["supported_claims"], row["contradicted_claims"], row["scored_claims"]) == (2, 1, 4)
    assert "50 % of 2" in leaderboard_text(tmp_path)


def test_what_agents_say_of_themselves_stands_beside_what_is_true(tmp_path: Path) -> None:
    for claim, says, overall, outcome in (
        ("A", True, 5, "supported"),
        ("B", True, 1, "supported"),
        ("C", True, 5, "contradicted"),  # whatever a judge says, a contradicted claim was not reproduced
        ("D", False, 4, "contradicted"),
        ("E", False, 4, "supported"),
        ("F", None, 2, "supported"),
    ):
        _told(tmp_path, claim, says, overall, outcome)
    (row,) = _board(tmp_path)
    cells = [row[name] for name in ("said_yes_right", "said_yes_wrong", "said_no_right", "said_no_wrong")]
    assert (cells, row["said_nothing"]) == ([1, 2, 1, 1], 1)
    assert row["overconfidence_rate"] == pytest.approx(2 / 3)
    assert "67 % of 3" in leaderboard_text(tmp_path)


def test_an_agent_that_denies_what_its_own_numbers_establish_is_wrong_of_itself(tmp_path: Path) -> None:
    record = run_record("A", self_reproduced=False)
    evaluation = checked(record, "incorrect")
    numbers = evaluation.checks.model_copy(update={"found": "supported"}) if evaluation.checks else None
    write_run(tmp_path, record, evaluation.model_copy(update={"checks": numbers}))
    write_claim(tmp_path / "tasks", "A")
    (row,) = _board(tmp_path)
    assert (row["success_rate"], row["said_no_wrong"], row["overconfidence_rate"]) == (0.0, 1, None)


def test_an_unscored_run_is_in_no_cell_of_the_self_judgements(tmp_path: Path) -> None:
    _score(tmp_path, "A", None)
    (row,) = _board(tmp_path)
    assert [row[name] for name in ("said_yes_right", "said_yes_wrong", "said_nothing")] == [0, 0, 0]
