import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.cli import group
from matproof.core.errors import InputError
from matproof.records.base import Usage
from matproof.tables.columns import TABLES, Row
from matproof.tables.gather import gather
from matproof.tables.published import PublishedTable, published_table
from matproof.tables.statistics import statistics, write_statistics
from matproof.tables.statistics_text import statistics_markdown
from matproof.tables.store import read_rows


def _rows(results: Path, include_scripted: bool = False) -> list[Row]:
    gather(results, results / "tasks", include_scripted)
    return statistics(results, include_scripted=include_scripted)


def _score(results: Path, claim: str, overall: int | None, repeat: int = 1, setting: str = "live", **run: Any) -> None:
    record = run_record(claim, setting, repeat, **run)
    write_run(results, record, judgement(record, overall))


def _one(rows: list[Row], analysis: str, name: str, **where: Any) -> Row:
    wanted = {"group": None, "judge": "judge-a"} | where
    found = [
        row
        for row in rows
        if (row["analysis"], row["name"]) == (analysis, name)
        and all(row[field] == value for field, value in wanted.items())
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two settings on eight claims, `good` better throughout and one of its runs unscored."""
    for number in range(8):
        claim = f"C{number}"
        kind = "from_paper" if number < 4 else "from_artifact"
        write_claim(tmp_path / "tasks", claim, reproduction_type=kind)
        for setting, overall in (("good", 5 if number else None), ("poor", 2 if number % 2 else 1)):
            _score(tmp_path, claim, overall, setting=setting)
    return tmp_path


def test_every_number_says_its_n_its_unscored_and_its_method(results: Path) -> None:
    rows = _rows(results)
    assert rows
    assert {type(row["n"]) for row in rows} == {type(row["unscored"]) for row in rows} == {int}
    assert all(row["method"] and row["unit"] for row in rows)
    assert all(row["note"] for row in rows if row["value"] is None)
    assert {row["analysis"] for row in rows} == {
        "score", "ranks", "comparison", "failures", "cost", "pass_at_k", "self_judgement"
    }  # fmt: skip


def test_an_unscored_run_is_counted_and_in_no_number(results: Path) -> None:
    row = _one(_rows(results), "score", "mean_score", setting="good")
    assert (row["value"], row["n"], row["unscored"]) == (5.0, 7, 1)


def test_scores_are_broken_down_by_kind_of_claim(results: Path) -> None:
    rows = _rows(results)
    paper = _one(rows, "score", "success_rate", setting="good", group_by="reproduction_type", group="from_paper")
    assert (paper["value"], paper["n"], paper["unscored"]) == (1.0, 3, 1)
    cell = _one(rows, "score", "mean_score", setting="poor", group="from_artifact × scalar")
    assert (cell["value"], cell["n"]) == (1.5, 4)
    spread = [_one(rows, "score", f"score_{level}", setting="poor")["note"] for level in range(1, 6)]
    assert spread == ["4 runs", "4 runs", "0 runs", "0 runs", "0 runs"]


def test_two_settings_are_compared_on_the_claims_that_both_have_scores_on(results: Path) -> None:
    rows = _rows(results)
    where: dict[str, Any] = {"setting": "good", "other": "poor", "group": "overall"}
    assert [_one(rows, "comparison", name, **where)["note"] for name in ("win", "tie", "loss")] == ["7", "0", "0"]
    test = _one(rows, "comparison", "signed_rank", **where)
    assert (test["n"], test["value"], test["p_value"]) == (7, 1.0, pytest.approx(2**-7))
    assert test["p_adjusted"] is None  # the family is the five dimensions
    dimension = _one(rows, "comparison", "signed_rank", **(where | {"group": "completeness"}))
    assert dimension["p_adjusted"] == pytest.approx(5 * dimension["p_value"])
    back = _one(rows, "comparison", "signed_rank", **(where | {"setting": "poor", "other": "good"}))
    assert (back["value"], back["p_value"]) == (-1.0, 1.0)


def test_a_clear_difference_is_told_apart_and_a_small_n_never_is(results: Path, tmp_path_factory: Any) -> None:
    groups = {row["setting"]: row["note"] for row in _rows(results) if row["name"] == "group"}
    assert set(groups.values()) == {"told apart from all others"}
    few = tmp_path_factory.mktemp("few")
    for claim in ("A", "B", "C", "D", "E"):
        _score(few, claim, 5, setting="good")
        _score(few, claim, 1, setting="poor")
    groups = {row["setting"]: row["note"] for row in _rows(few) if row["name"] == "group"}
    assert groups == {"good": "not distinguishable from poor", "poor": "not distinguishable from good"}


def test_settings_of_one_truth_are_seldom_told_apart(tmp_path: Path) -> None:
    chance = random.Random(5)  # noqa: S311 - generated runs
    for number in range(12):
        for setting in ("a", "b", "c"):
            _score(tmp_path, f"C{number}", chance.randint(1, 5), setting=setting)
    rows = [row for row in _rows(tmp_path) if row["analysis"] == "ranks"]
    assert {row["note"] for row in rows if row["name"] == "difference"} == {"not told apart"}
    ranks = [row for row in rows if row["name"] == "rank"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in ranks)


def test_repeats_give_pass_at_k_and_claims_with_fewer_are_named(tmp_path: Path) -> None:
    for repeat, overall in enumerate((5, 1, 1), start=1):
        _score(tmp_path, "A", overall, repeat)
    _score(tmp_path, "B", 5)
    rows = _rows(tmp_path)
    assert _one(rows, "pass_at_k", "pass@1")["value"] == pytest.approx((1 / 3 + 1) / 2)
    two = _one(rows, "pass_at_k", "pass@2")
    assert (two["value"], two["n"]) == (pytest.approx(2 / 3), 1)
    assert two["note"] == "1 claims with fewer than 2 scored repeats left out"


def test_the_cost_of_a_success_is_unknown_where_one_cost_is(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5)
    _score(tmp_path, "B", 1)
    known = _one(_rows(tmp_path), "cost", "usd_per_success")
    assert (known["value"], known["note"]) == (0.5, "1 successes")
    _score(tmp_path, "C", 5, usage=Usage(requests=1, cost_reason="no price"))
    unknown = _one(_rows(tmp_path), "cost", "usd_per_success")
    assert (unknown["value"], unknown["note"]) == (None, "the cost of 1 of 3 runs is unknown")


def test_failure_labels_are_counts_and_shares_of_scored_runs(results: Path) -> None:
    rows = _rows(results)
    cell = _one(rows, "failures", "overconfident_assessment", setting="poor")
    assert (cell["value"], cell["note"], cell["n"]) == (1.0, "8 runs", 8)
    none = _one(rows, "failures", "circular_reasoning", setting="poor")
    assert (none["value"], none["note"]) == (0.0, "0 runs")


def test_a_judge_stands_beside_the_checks(tmp_path: Path) -> None:
    for claim, overall, verdict in (("A", 5, "correct"), ("B", 5, "incorrect"), ("C", 1, "incorrect")):
        record = run_record(claim)
        write_run(tmp_path, record, judgement(record, overall), checked(record, verdict))
    rows = _rows(tmp_path)
    where = {"setting": "live", "other": "checks"}
    counts = [_one(rows, "checks", name, **where)["value"] for name in ("both_succeed", "judge_alone", "both_fail")]
    assert counts == [1.0, 1.0, 1.0]
    assert _one(rows, "checks", "same", **where)["value"] == pytest.approx(2 / 3)
    assert _one(rows, "checks", "kappa", **where)["value"] == pytest.approx(0.4)


def test_what_agents_say_is_told_apart_for_supported_and_contradicted_claims(tmp_path: Path) -> None:
    for claim, says, overall, outcome in (("A", True, 1, "supported"), ("B", False, 5, "contradicted")):
        write_claim(tmp_path / "tasks", claim, outcome)
        _score(tmp_path, claim, overall, self_reproduced=says)
    rows = _rows(tmp_path)
    assert _one(rows, "self_judgement", "overconfidence_rate")["value"] == 0.5
    assert _one(rows, "self_judgement", "overconfidence_rate", group="contradicted")["value"] == 0.0


def test_scripted_runs_are_left_out_unless_asked(tmp_path: Path) -> None:
    _score(tmp_path, "A", 5, scripted=True)
    assert _rows(tmp_path) == []
    assert "Pass --include-scripted" in statistics_markdown([])
    assert _rows(tmp_path, include_scripted=True)


def test_the_papers_numbers_stand_beside_a_setting_of_their_name_and_no_other(tmp_path: Path) -> None:
    for setting in ("cc-opus", "mine"):
        write_claim(tmp_path / "tasks", "A", reproduction_type="from_artifact")
        _score(tmp_path, "A", 5, setting=setting)
    rows = _rows(tmp_path)
    row = _one(rows, "score", "mean_score", setting="cc-opus")
    assert (row["published"], row["published_source"]) == (3.52, "section 5.1, figure 4")
    kind = _one(rows, "score", "success_rate", setting="cc-opus", group="from_artifact")
    assert (kind["published_low"], kind["published_high"]) == (0.39, 0.77)
    assert "published" not in _one(rows, "score", "mean_score", setting="mine")


def test_a_published_number_has_a_source_and_is_a_value_or_a_range() -> None:
    table = published_table()
    assert all(number.source for number in table.numbers)
    broken = table.model_dump() | {"numbers": [{"analysis": "data", "name": "n", "source": "s"}]}
    with pytest.raises(ValueError, match="give `value`, or `low` and `high`"):
        PublishedTable.model_validate(broken)


def test_the_same_runs_give_the_same_bytes_and_csv_has_every_column(results: Path) -> None:
    written = [[path.read_bytes() for path in write_statistics(results, _rows(results))] for _ in range(2)]
    assert written[0] == written[1]
    lines = list(csv.reader(io.StringIO(written[0][1].decode())))
    assert lines[0] == [column.name for column in TABLES["statistics"]]
    assert len(lines) - 1 == len(read_rows(results, "statistics"))


def test_the_command_prints_a_comparison_and_names_a_setting_that_is_not_there(results: Path) -> None:
    gather(results, results / "tasks", False)
    done = CliRunner().invoke(group, ["statistics", str(results), "--compare", "good", "poor"])
    assert done.exit_code == 0, done.output
    assert "# Is good higher than poor?" in done.output
    assert "| overall " in done.output
    wrong = CliRunner().invoke(group, ["statistics", str(results), "--compare", "good", "bad"])
    assert isinstance(wrong.exception, InputError)
    assert "'bad' has no judged run; use two of good, poor" in str(wrong.exception)
