import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from m2m_scores_fixture import score_row, write_rows_of_scores

from matproof.commands.m2m.leaderboard import command
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.suites.matter_to_mechanism.boards import groups
from matproof.suites.matter_to_mechanism.generation import GenerationRecord, GenerationUsage, Unusable
from matproof.suites.matter_to_mechanism.leaderboard import leaderboard
from matproof.suites.matter_to_mechanism.ranking import kendall, ranks, spearman
from matproof.suites.matter_to_mechanism.scored import load_scores
from matproof.tables.m2m import read_m2m, read_notes
from matproof.tables.m2m_published import known_names, published_numbers

_VALUES = [0.30, 0.41, 0.35, 0.44, 0.38, 0.29, 0.33, 0.47, 0.36, 0.40]


def _scores(path: Path, **systems: list[float]) -> Path:
    rows = [score_row(name, f"p{i}", value) for name, values in systems.items() for i, value in enumerate(values)]
    return write_rows_of_scores(path / "scores.parquet", rows)


def _board(path: Path, **options: Any) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in leaderboard(load_scores([path]), **options)}


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_the_interval_holds_the_mean_and_the_error_is_that_of_the_mean(tmp_path: Path) -> None:
    row = _board(_scores(tmp_path, a=_VALUES))["a"]
    assert row["cbs"] == pytest.approx(sum(_VALUES) / 10)
    assert row["cbs_low"] < row["cbs"] < row["cbs_high"]
    spread = (sum((value - row["cbs"]) ** 2 for value in _VALUES) / 10) ** 0.5
    assert row["cbs_se"] == pytest.approx(spread / 10**0.5, rel=0.05)


def test_papers_are_resampled_and_not_rows(tmp_path: Path) -> None:
    once = write_rows_of_scores(tmp_path / "a.parquet", [score_row("a", f"p{i}", v) for i, v in enumerate(_VALUES)])
    rows = [score_row("a", f"p{i}", v) for i, v in enumerate(_VALUES) for _ in range(4)]
    fourfold = write_rows_of_scores(tmp_path / "b.parquet", rows)
    assert _board(fourfold)["a"]["cbs_se"] == pytest.approx(_board(once)["a"]["cbs_se"])
    assert _board(fourfold)["a"]["papers"] == 10


def test_equal_systems_share_a_rank_and_are_not_told_apart(tmp_path: Path) -> None:
    board = _board(_scores(tmp_path, a=_VALUES, b=_VALUES, c=[value - 0.2 for value in _VALUES]))
    assert [board[name]["rank"] for name in "abc"] == [1, 1, 3]
    assert json.loads(board["a"]["not_told_apart"]) == ["b"]
    assert (board["a"]["rank_best"], board["a"]["rank_worst"]) == (1, 2)
    assert (board["c"]["rank_best"], board["c"]["rank_worst"]) == (3, 3)
    assert json.loads(board["c"]["not_told_apart"]) == []


def test_a_difference_that_every_paper_repeats_tells_two_systems_apart(tmp_path: Path) -> None:
    nearly = [value + 0.01 + 0.001 * (index % 3) for index, value in enumerate(_VALUES)]
    board = _board(_scores(tmp_path, a=_VALUES, b=nearly))
    assert board["b"]["rank_worst"] == 1
    assert json.loads(board["a"]["not_told_apart"]) == []


def test_systems_without_a_common_paper_are_not_told_apart(tmp_path: Path) -> None:
    rows = [score_row("a", f"p{i}", 0.9) for i in range(5)] + [score_row("b", f"q{i}", 0.1) for i in range(5)]
    board = _board(write_rows_of_scores(tmp_path / "s.parquet", rows))
    assert json.loads(board["a"]["not_told_apart"]) == ["b"]


def test_one_paper_has_a_mean_and_no_error(tmp_path: Path) -> None:
    row = _board(_scores(tmp_path, a=[0.4]))["a"]
    assert row["cbs"] == pytest.approx(0.4)
    assert row.get("cbs_se") is None
    assert "one paper" in row["note"]


def test_rows_without_a_score_are_counted_and_in_no_mean(tmp_path: Path) -> None:
    rows = [score_row("a", "p1", 0.4), score_row("a", "p2", 0.6), score_row("a", "p3", 0.1, cbs=None, msi=None)]
    rows += [score_row("small", f"p{i}", 0.5, sns=None, cbs_renormalised=True) for i in range(3)]
    board = _board(write_rows_of_scores(tmp_path / "s.parquet", rows))
    assert board["a"]["unscored"] == 1
    assert board["a"]["cbs"] == pytest.approx(0.5)
    assert board["small"]["sns"] is None
    assert board["small"]["sns_unscored"] == 3
    assert "five other metrics" in board["small"]["note"]


def test_a_system_without_any_composite_has_no_rank(tmp_path: Path) -> None:
    rows = [score_row("a", "p1", 0.4), score_row("b", "p1", 0.4, cbs=None, rcf=None)]
    board = _board(write_rows_of_scores(tmp_path / "s.parquet", rows))
    assert (board["b"]["rank"], board["b"]["cbs"]) == (None, None)
    assert board["a"]["rank"] == 1


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(12)))
def test_the_order_of_rows_changes_no_mean_and_no_rank(tmp_path_factory: pytest.TempPathFactory, order: Any) -> None:
    rows = [score_row("ab"[i % 2], f"p{i // 2}", 0.3 + 0.01 * ((7 * i) % 12)) for i in range(12)]
    directory = tmp_path_factory.mktemp("order")
    first = _board(write_rows_of_scores(directory / "a.parquet", rows))
    second = _board(write_rows_of_scores(directory / "b.parquet", [rows[i] for i in order]))
    for name in "ab":
        assert second[name]["rank"] == first[name]["rank"]
        assert second[name]["cbs"] == first[name]["cbs"]
        assert second[name]["cbs_low"] == pytest.approx(first[name]["cbs_low"], abs=1e-12)


def test_the_same_scores_give_the_same_bytes(tmp_path: Path) -> None:
    scores = _scores(tmp_path, a=_VALUES, b=_VALUES[::-1])
    for name in ("one", "two"):
        assert _run(scores, "-o", tmp_path / f"{name}.parquet").exit_code == 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_several_files_are_one_board_and_the_profile_is_recorded(tmp_path: Path) -> None:
    one = write_rows_of_scores(tmp_path / "one.parquet", [score_row("a", f"p{i}", 0.4) for i in range(3)])
    two = write_rows_of_scores(tmp_path / "two.csv", [score_row("b", f"p{i}", 0.5) for i in range(3)])
    out = tmp_path / "board.parquet"
    assert _run(one, two, "-o", out).exit_code == 0
    assert [row["system"] for row in read_m2m(out, "m2m_leaderboard")] == ["b", "a"]
    notes = read_notes(out, "m2m_leaderboard")
    assert (notes["profile"], notes["profile_sha256"]) == ("published", "ab" * 32)
    assert "bootstrap over papers" in notes["method"]


@pytest.mark.parametrize("ending", ["csv", "md"])
def test_a_board_can_be_csv_and_markdown(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"board.{ending}"
    assert _run(_scores(tmp_path, alpha=_VALUES), "-o", out).exit_code == 0
    assert "alpha" in out.read_text()


def test_scores_of_two_profiles_are_refused(tmp_path: Path) -> None:
    one = write_rows_of_scores(tmp_path / "one.parquet", [score_row("a", "p", 0.4)])
    two = write_rows_of_scores(tmp_path / "two.parquet", [score_row("b", "p", 0.4)], profile="word")
    with pytest.raises(InputError, match="one profile"):
        load_scores([one, two])


@pytest.mark.parametrize("value", [1.2, -0.1, float("inf")])
def test_a_score_that_is_none_is_named_with_its_row(tmp_path: Path, value: float) -> None:
    rows = [score_row("a", "p1", 0.4), score_row("a", "p2", 0.4, msi=value)]
    with pytest.raises(InputError, match="msi, row 2"):
        load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)])


def test_scripted_systems_are_left_out_unless_asked_and_then_marked(tmp_path: Path) -> None:
    scores = _scores(tmp_path, real=_VALUES, **{"scripted-direct": _VALUES, "mine": _VALUES})
    left = _run(scores, "--scripted", "mine")
    assert "left out as scripted: scripted-direct, mine" in left.stderr
    assert "mine" not in left.stdout
    shown = _run(scores, "--scripted", "mine", "--include-scripted").stdout
    assert "scripted-direct (scripted)" in shown
    assert "mine (scripted)" in shown
    assert "real (scripted)" not in shown


def test_only_scripted_systems_and_an_unknown_one_are_clear_errors(tmp_path: Path) -> None:
    scores = _scores(tmp_path, **{"scripted-direct": _VALUES})
    assert "--include-scripted" in str(_run(scores).exception)
    assert "no such system" in str(_run(scores, "--scripted", "nobody").exception)


def test_another_ending_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    error = _run(tmp_path / "missing.parquet", "-o", tmp_path / "board.xlsx").exception
    assert isinstance(error, InputError)
    assert ".xlsx" in str(error)


def test_published_means_stand_beside_systems_of_the_same_name(tmp_path: Path) -> None:
    scores = _scores(tmp_path, **{"chemdfm 8b": _VALUES, "Gemini-Directly": _VALUES})
    board = _board(scores, published=published_numbers())
    assert board["chemdfm 8b"]["published_cbs"] == 0.4266
    assert board["chemdfm 8b"]["published_msi"] == 0.171
    assert board["chemdfm 8b"]["published_sns"] is None
    assert board["Gemini-Directly"].get("published_cbs") is None
    assert "0.4266" in _run(scores, "--published").stdout
    assert "0.4266" not in _run(scores).stdout


@pytest.mark.parametrize(
    ("system", "value"),
    [
        ("Reference", 0.4646),
        ("ChemDFM-8B", 0.4266),
        ("Gemini-Direct", 0.3878),
        ("Gemini-Retrieval", 0.3877),
        ("AI-Researcher", 0.3860),
        ("Open Co-Scientist", 0.3790),
        ("Gemini-Weak", 0.3790),
    ],
)
def test_the_reference_table_has_the_published_composites(system: str, value: float) -> None:
    number = published_numbers().find("mean", "cbs", system=system)
    assert number is not None
    assert (number.value, bool(number.source)) == (value, True)


def test_every_published_number_has_a_source_and_stands_once() -> None:
    numbers = published_numbers().numbers
    keys = [(one.part, one.name, one.system, one.style) for one in numbers]
    assert len(set(keys)) == len(keys)
    assert all(one.source.startswith(("Table", "section", "Appendix")) for one in numbers)


def test_names_agree_but_for_case_spaces_and_punctuation() -> None:
    known = known_names(["open_co_scientist", "reference", "Gemini"], published_numbers())
    assert known == {"open_co_scientist": "Open Co-Scientist", "reference": "Reference"}


def test_only_neighbours_of_which_no_two_are_told_apart_are_a_group() -> None:
    rows = [
        {"system": "a", "not_told_apart": '["b"]'},
        {"system": "b", "not_told_apart": '["a", "c"]'},
        {"system": "c", "not_told_apart": '["b"]'},
        {"system": "d", "not_told_apart": "[]"},
    ]
    assert groups(rows) == [["a", "b"], ["b", "c"]]


def test_ranks_share_places_and_leave_unknown_ones_out() -> None:
    assert ranks({"a": 0.5, "b": 0.7, "c": 0.5, "d": None, "e": 0.1}) == {"a": 2, "b": 1, "c": 2, "d": None, "e": 4}


def test_agreement_that_is_not_defined_says_why() -> None:
    assert kendall({"a": 1.0}, {"a": 2.0}).note == "needs at least two systems"
    assert kendall({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).note == "all systems have one value"
    assert spearman([1.0, float("nan")], [1.0, 2.0]).n == 1
    two = kendall({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0})
    assert two.value == pytest.approx(1.0)
    assert two.note == "two systems only: 1 or -1, whatever the values"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8, unique=True))
def test_a_ranking_agrees_with_itself_and_not_with_its_reverse(values: list[float]) -> None:
    own = {str(index): value for index, value in enumerate(values)}
    assert kendall(own, own).value == pytest.approx(1.0)
    assert kendall(own, {name: -value for name, value in own.items()}).value == pytest.approx(-1.0)


def _record(path: Path, system: str, *, problems: int, lost: int, unfinished: int = 0, scripted: bool = False) -> Path:
    usage = GenerationUsage(calls=problems, input_tokens=None, output_tokens=None, cost_usd=None)
    record = GenerationRecord(
        system=system, kind="direct", model="m", scripted=scripted, prompts={}, temperature=None, max_output_tokens=900,
        problems=problems, rows=problems - lost, noted=(), unfinished=unfinished, usage=usage,
        unusable=tuple(Unusable(paper_id=f"lost{i}", reason="no tags") for i in range(lost)),
    )  # fmt: skip
    write_json(path / f"{system}.parquet.generation.json", record)
    return path / f"{system}.parquet.generation.json"


def test_replies_that_made_no_row_are_on_the_board(tmp_path: Path) -> None:
    scores = _scores(tmp_path, a=_VALUES, Reference=_VALUES)
    record = _record(tmp_path, "a", problems=70, lost=59, unfinished=1)
    result = _run(scores, "--generation", record, "-o", tmp_path / "board.parquet")
    assert "a: 59 of 70 replies had no hypothesis: no row; 1 of 70 problems were left undone" in result.output
    assert "which make no row: 59 of 70 (1 system)" in result.output
    rows = {row["system"]: row for row in read_m2m(tmp_path / "board.parquet", "m2m_leaderboard")}
    assert (rows["a"]["problems"], rows["a"]["unusable"], rows["a"]["unfinished"]) == (70, 59, 1)
    assert rows["Reference"]["unusable"] is None


def test_a_board_without_records_says_that_nothing_is_known_of_lost_replies(tmp_path: Path) -> None:
    assert "replies that made no row: not known here" in _run(_scores(tmp_path, a=_VALUES)).output


def test_a_system_of_which_no_reply_made_a_row_is_listed_without_a_rank(tmp_path: Path) -> None:
    scores = _scores(tmp_path, a=_VALUES, b=_VALUES[::-1])
    mute = _record(tmp_path, "mute", problems=10, lost=10)
    told = _run(scores, "--generation", mute, "-o", tmp_path / "board.parquet")
    assert told.exit_code == 0, told.exception
    *_, last = read_m2m(tmp_path / "board.parquet", "m2m_leaderboard")
    assert (last["system"], last["rank"], last["rows"], last["cbs"], last["unusable"]) == ("mute", None, 0, None, 10)


def test_records_of_systems_that_are_left_out_as_scripted_are_left_out(tmp_path: Path) -> None:
    scores = _scores(tmp_path, a=_VALUES, scripted_b=_VALUES)
    records = [_record(tmp_path, name, problems=10, lost=3, scripted=True) for name in ("scripted_b", "mute")]
    options = [word for record in records for word in ("--generation", str(record))]
    output = _run(scores, *options).output
    assert "mute" not in output
    assert "10 replies" not in output
    assert "mute" in _run(scores, *options, "--include-scripted").output


def test_a_record_that_is_none_and_two_of_one_system_are_one_line(tmp_path: Path) -> None:
    scores = _scores(tmp_path, a=_VALUES)
    (tmp_path / "x.json").write_text("{}")
    assert "x.json" in str(_run(scores, "--generation", tmp_path / "x.json").exception)
    record = _record(tmp_path, "a", problems=10, lost=3)
    assert "has a record already" in str(_run(scores, "--generation", record, "--generation", record).exception)
