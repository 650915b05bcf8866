from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from m2m_scores_fixture import score_row, write_rows_of_scores, write_texts

from matproof.commands.m2m.ablate import command
from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.ablation import (
    NEEDED,
    breakdown,
    contamination,
    rare_counts,
    redundancy,
    year_of,
)
from matproof.suites.matter_to_mechanism.aligned import with_texts
from matproof.suites.matter_to_mechanism.lexicon import load_profile
from matproof.suites.matter_to_mechanism.scored import Scored, load_scores
from matproof.suites.matter_to_mechanism.weights import SCHEMES, by_profiles, by_weights, composite
from matproof.tables.m2m import read_m2m
from matproof.tables.m2m_published import published_numbers

_PUBLISHED, _WORD = load_profile("published"), load_profile("word")


def _files(path: Path, scores: list[dict[str, Any]], **columns: list[str]) -> tuple[Path, Path]:
    texts = [
        {"paper_id": row["paper_id"], "system": row["system"]} | {name: cells[i] for name, cells in columns.items()}
        for i, row in enumerate(scores)
    ]
    return write_texts(path / "rows.csv", texts), write_rows_of_scores(path / "scores.parquet", scores)


def _scored(files: tuple[Path, Path]) -> Scored:
    return with_texts(load_scores([files[1]]), files[0], NEEDED, reader="the test", optional=["year"])


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_every_scheme_shares_out_the_whole_weight() -> None:
    for weights in SCHEMES.values():
        assert sum(weights) == pytest.approx(1.0)
        assert len(weights) == 6


def test_the_default_scheme_is_the_composite_itself(tmp_path: Path) -> None:
    rows = [score_row("a", f"p{i}", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6) for i in range(2)]
    scored = load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)])
    assert list(composite(scored.frame, SCHEMES["default"])) == pytest.approx(list(scored.frame["cbs"]))


def test_without_novelty_the_weights_of_the_others_are_renormalised(tmp_path: Path) -> None:
    rows = [score_row("a", "p", 0.1, 0.2, 0.3, 0.9, 0.5, 0.6, sns=None), score_row("a", "q", 0.4, rcf=None, cbs=None)]
    frame = load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)]).frame
    first, second = composite(frame, SCHEMES["uniform"])
    assert first == pytest.approx((0.1 + 0.2 + 0.3 + 0.5 + 0.6) / 5)
    assert second != second


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_a_composite_lies_between_its_metrics(values: list[float]) -> None:
    import pandas as pd

    frame = pd.DataFrame([dict(zip(("rcf", "hpa", "msi", "sns", "ip", "pdq"), values, strict=True))])
    for weights in SCHEMES.values():
        assert min(values) - 1e-12 <= composite(frame, weights)[0] <= max(values) + 1e-12


def test_other_weights_move_ranks_and_tau_says_how_much(tmp_path: Path) -> None:
    rows = [
        score_row("fluent", "p", 0.9, 0.5, 0.1, 0.5, 0.5, 0.5),
        score_row("specific", "p", 0.5, 0.5, 0.5, 0.4, 0.4, 0.4),
    ]
    table = by_weights(load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)]))
    ranks = {(row["name"], row["system"]): row["rank"] for row in table if row["part"] == "weights"}
    assert (ranks["default", "fluent"], ranks["msi_heavy", "fluent"]) == (1, 2)
    taus = {row["name"]: row["value"] for row in table if row["part"] == "weights_ranks"}
    assert taus["rcf_heavy"] == pytest.approx(1.0)
    assert taus["msi_heavy"] == pytest.approx(-1.0)
    assert "default" not in taus


def test_published_composites_of_a_scheme_stand_beside(tmp_path: Path) -> None:
    scored = load_scores([write_rows_of_scores(tmp_path / "s.parquet", [score_row("Gemini-Weak", "p", 0.4)])])
    table = by_weights(scored, published=published_numbers())
    beside = {row["name"]: row["published"] for row in table if row["part"] == "weights"}
    assert beside["rcf_heavy"] == 0.434
    assert beside["novelty_heavy"] is None


def test_profiles_are_compared_by_the_ranks_they_give(tmp_path: Path) -> None:
    first = load_scores(
        [
            write_rows_of_scores(
                tmp_path / "a.parquet", [score_row(s, "p", v) for s, v in zip("abc", (0.5, 0.4, 0.3), strict=True)]
            )
        ]
    )
    second = load_scores(
        [
            write_rows_of_scores(
                tmp_path / "b.parquet",
                [score_row(s, "p", v) for s, v in zip("abc", (0.5, 0.3, 0.4), strict=True)],
                profile="word",
                profile_sha256="cd" * 32,
            )
        ]
    )
    table = by_profiles([first, second])
    assert {row["name"] for row in table} == {"published", "word"}
    tau = next(row for row in table if row["part"] == "profiles_ranks")
    assert (tau["name"], tau["other"]) == ("word", "published")
    assert tau["value"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="same profile"):
        by_profiles([first, first])
    with pytest.raises(InputError, match="other rows"):
        by_profiles([first, second.only(second.frame.index[:2])])


def test_equal_metrics_are_redundant_and_constant_ones_undefined(tmp_path: Path) -> None:
    rows = [score_row("a", f"p{i}", 0.1 * i, 0.1 * i, 1 - 0.1 * i, 0.5, 0.2, 0.3) for i in range(5)]
    table = redundancy(load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)]))
    found = {(row["name"], row["other"]): row for row in table if row["system"] == "all systems"}
    assert found["rcf", "hpa"]["value"] == pytest.approx(1.0)
    assert found["rcf", "msi"]["value"] == pytest.approx(-1.0)
    assert (found["rcf", "sns"]["value"], found["rcf", "sns"]["note"]) == (None, "all rows have one value")
    assert len(found) == 15


def test_rare_terms_count_once_each_and_as_the_profile_matches() -> None:
    texts = ["Operando XRD, operando again, and GITT", "a spittoon", "nothing", "Jahn-Teller distortion"]
    assert rare_counts(texts, _PUBLISHED) == [2, 1, 0, 1]
    assert rare_counts(texts, _WORD) == [2, 0, 0, 1]


@given(st.text(max_size=80))
def test_whole_words_are_never_more_than_substrings(text: str) -> None:
    assert rare_counts([text], _WORD)[0] <= rare_counts([text], _PUBLISHED)[0] <= len(_PUBLISHED.rare_terms)


@pytest.mark.parametrize(
    ("text", "year"),
    [("2024", 2024), (" 2023-05-01", 2023), ("2021.0", 2021), ("", None), ("20245", None), ("n.d.", None)],
)
def test_the_year_is_the_four_digits_that_a_cell_begins_with(text: str, year: int | None) -> None:
    assert year_of(text) == year


def test_a_row_takes_the_year_of_its_paper_from_another_row(tmp_path: Path) -> None:
    scores = [score_row(system, f"p{i}", 0.1 * (i + 1)) for system in ("Reference", "a") for i in range(5)]
    years = ["2025", "2024", "2019", "2020", "", "", "", "", "", ""]
    scored = _scored(_files(tmp_path, scores, year=years))
    table = contamination(scored, _PUBLISHED)
    mine = {row["other"]: row for row in table if row["name"] == "cbs_by_year" and row["system"] == "a"}
    assert (mine["2024 or later"]["n"], mine["before 2024"]["n"]) == (2, 2)
    assert mine["difference"]["value"] == pytest.approx(-0.2)
    assert mine["difference"]["note"] == "1 rows without a year"


def test_without_years_the_split_is_null_and_says_why(tmp_path: Path) -> None:
    scored = _scored(_files(tmp_path, [score_row("a", "p", 0.4)], hypothesis=["operando"]))
    rows = [row for row in contamination(scored, _PUBLISHED) if row["name"] == "cbs_by_year" and row["system"] == "a"]
    assert [row["value"] for row in rows] == [None, None, None]
    assert "1 rows without a year" in rows[-1]["note"]


def test_groups_of_a_breakdown_agree_but_for_case_and_spaces(tmp_path: Path) -> None:
    scores = [score_row("a", f"p{i}", 0.1 * (i + 1)) for i in range(4)]
    scored = _scored(_files(tmp_path, scores, battery_system=["Li  metal", "li metal", "Li metal", ""]))
    table = [row for row in breakdown(scored) if row["name"] == "battery_system" and row["system"] == "a"]
    found = {row["other"]: row for row in table}
    assert set(found) == {"Li metal", "(empty)"}
    assert (found["Li metal"]["n"], found["Li metal"]["value"]) == (3, pytest.approx(0.2))
    assert (found["(empty)"]["n"], found["(empty)"]["se"]) == (1, None)


def test_the_command_shows_all_parts_and_writes_them(tmp_path: Path) -> None:
    scores = [score_row(s, f"p{i}", v + 0.01 * i) for s, v in (("Reference", 0.4), ("b", 0.3)) for i in range(4)]
    files = _files(tmp_path, scores, hypothesis=["operando"] * 8, component=["anode", "cathode"] * 4)
    also = write_rows_of_scores(tmp_path / "word.parquet", scores, profile="word", profile_sha256="cd" * 32)
    out = tmp_path / "ablation.parquet"
    result = _run(*files, "--also", also, "-o", out, "--published")
    assert result.exit_code == 0, result.output
    for title in ("Weights", "Lexicon profiles", "Redundancy", "Contamination", "By component"):
        assert f"## {title}" in result.stdout
    parts = {row["part"] for row in read_m2m(out, "m2m_ablation")}
    assert parts == {
        "weights",
        "weights_ranks",
        "profiles",
        "profiles_ranks",
        "redundancy",
        "contamination",
        "breakdown",
    }


def test_without_a_second_profile_the_command_says_how_to_get_one(tmp_path: Path) -> None:
    assert "pass it with --also" in _run(*_files(tmp_path, [score_row("a", "p", 0.4)])).stdout


def test_scores_of_another_length_are_refused(tmp_path: Path) -> None:
    files = _files(tmp_path, [score_row("a", "p", 0.4), score_row("a", "q", 0.4)])
    also = write_rows_of_scores(tmp_path / "word.parquet", [score_row("a", "p", 0.4)], profile="word")
    error = _run(*files, "--also", also).exception
    assert isinstance(error, InputError)
    assert "has 1 rows, not 2" in str(error)
