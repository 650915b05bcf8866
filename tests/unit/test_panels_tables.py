"""Panels in the tables: medians over scored judgings only, agreement by kind, the widest disagreements first."""

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_fixture import checked, judgement, run_record, write_run

from matproof.records.evaluation import DIMENSIONS, EvaluationRecord, Judging
from matproof.records.panel import spreads
from matproof.tables.gather import gather, read_table
from matproof.tables.panels import agreement_rows, panel_rows, scores_of
from matproof.tables.rows import evaluation_rows, judgement_rows


def repeated(run: Any, overalls: list[int | None], judge: str = "judge-a", **changes: Any) -> EvaluationRecord:
    """A judge that was asked once for each of `overalls`."""
    judgings: list[Judging] = []
    for number, overall in enumerate(overalls, 1):
        (one,) = judgement(run, overall).judgings
        judgings.append(one.model_copy(update={"number": number}))
    scored = [overall for overall in overalls if overall is not None]
    base = judgement(run, sorted(scored)[(len(scored) - 1) // 2] if scored else None, judge)
    data = base.model_dump() | {"judgings": judgings, "scores": spreads(judgings)} | changes
    return EvaluationRecord.model_validate(data)


def rows_of(*records: EvaluationRecord) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    evaluations = [row for record in records for row in evaluation_rows(record)]
    return evaluations, [row for record in records for row in judgement_rows(record)]


def overall_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["dimension"] == "overall")


def test_the_median_is_over_what_was_scored_and_says_how_many() -> None:
    run = run_record("A_1")
    evaluations, judgements = rows_of(repeated(run, [5, None, 2, 4]))
    row = overall_of(evaluations)
    assert (row["score"], row["low"], row["high"]) == (4, 2, 5)
    assert (row["judgings"], row["judgings_scored"]) == (4, 3)
    assert [one["score"] for one in judgements if one["dimension"] == "overall"] == [5, None, 2, 4]
    assert next(one["reason"] for one in judgements if one["score"] is None) == "the judge timed out"


def test_an_even_number_of_scores_has_the_lower_median() -> None:
    evaluations, _ = rows_of(repeated(run_record("A_1"), [4, 3]))
    assert (overall_of(evaluations)["score"], overall_of(evaluations)["success"]) == (3, False)


def test_a_panel_of_which_nobody_scored_is_unscored() -> None:
    evaluations, judgements = rows_of(repeated(run_record("A_1"), [None, None]))
    assert [row["dimension"] for row in evaluations] == ["overall"]
    assert evaluations[0]["score"] is None
    assert panel_rows(evaluations, judgements) == []
    assert {row["alpha"] for row in agreement_rows(evaluations, judgements)} == {None}


def test_disagreements_on_success_come_first_then_the_widest() -> None:
    first, second, third = (run_record(claim) for claim in ("A_1", "B_2", "C_3"))
    records = [
        *(judgement(first, score, judge) for judge, score in (("a", 1), ("b", 3))),
        *(judgement(second, score, judge) for judge, score in (("a", 3), ("b", 4))),
        *(judgement(third, score, judge) for judge, score in (("a", 5), ("b", 5))),
    ]
    rows = panel_rows(*rows_of(*records))
    assert [(row["claim"], row["dimension"]) for row in rows[:2]] == [("B_2", "overall"), ("A_1", "overall")]
    assert [row["spread"] for row in rows[-6:]] == [0] * 6
    assert (rows[0]["median"], rows[0]["verdicts_differ"], rows[0]["judges"]) == (3, True, 2)
    assert scores_of(rows[0]) == {"a": [3], "b": [4]}


def test_an_unscored_judge_is_counted_and_in_no_median() -> None:
    run = run_record("A_1")
    records = [judgement(run, 4, "a"), judgement(run, None, "b"), judgement(run, 2, "c")]
    row = overall_of(panel_rows(*rows_of(*records)))
    assert (row["median"], row["judges"], row["judges_unscored"]) == (2, 2, 1)
    agreement = overall_of(agreement_rows(*rows_of(*records)))
    assert (agreement["between"], agreement["judge"], agreement["unscored"]) == ("judges", "a, b, c", 1)


def test_programs_take_no_part_and_scripts_stay_apart() -> None:
    run = run_record("A_1")
    records = [judgement(run, 4, "a"), checked(run), judgement(run, 1, "s", scripted=True)]
    assert panel_rows(*rows_of(*records)) == []


def test_repeats_of_one_judge_have_an_agreement_of_their_own() -> None:
    records = [repeated(run_record(claim), [score, score]) for claim, score in (("A_1", 5), ("B_2", 2))]
    rows = agreement_rows(*rows_of(*records))
    assert [row["dimension"] for row in rows] == ["overall", *DIMENSIONS]
    assert {(row["between"], row["judge"], row["alpha"]) for row in rows} == {("repeats", "judge-a", 1.0)}


def test_gather_writes_panels_and_the_disagreements(tmp_path: Path) -> None:
    run = run_record("A_1")
    write_run(tmp_path, run, judgement(run, 5, "a"), repeated(run, [2, None, 3], "b"), checked(run))
    gather(tmp_path, tmp_path / "tasks")
    assert overall_of(read_table(tmp_path, "panels").to_dict("records"))["spread"] == 3
    with (tmp_path / "tables/disagreements.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["dimension"] == "overall"
    assert rows[0]["verdicts_differ"] == "True"
    assert len(rows) == 6
    assert len(read_table(tmp_path, "judgements")) == 18


@given(st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=7))
def test_no_score_is_ever_invented(overalls: list[int | None]) -> None:
    run = run_record("A_1")
    record = repeated(run, overalls)
    scored = [overall for overall in overalls if overall is not None]
    assert (record.overall is None) == (not scored)
    assert record.overall is None or record.overall in scored
    evaluations, judgements = rows_of(record)
    for row in [*evaluations, *judgements, *panel_rows(evaluations, judgements)]:
        for name in ("score", "median", "low", "high"):
            assert row.get(name) is None or row[name] in scored
    assert all(score.scored == len(scored) for score in record.scores)


@pytest.mark.parametrize("change", [{"overall": 5, "grade": "fully_reproduced"}, {"scores": []}, {"success": True}])
def test_a_record_whose_medians_do_not_follow_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"follow|medians"):
        repeated(run_record("A_1"), [2, 3], **change)
