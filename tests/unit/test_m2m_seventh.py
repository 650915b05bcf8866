"""CGE, the optional seventh score: joined by row, a tenth of the composite, and never mixed with scores without it."""

from pathlib import Path

import m2m_scores_fixture as fixture
import pytest
from click.testing import CliRunner

from matproof.commands.m2m.leaderboard import command as leaderboard
from matproof.commands.m2m.score import command as score
from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import SCORE_COLUMNS
from matproof.suites.matter_to_mechanism.rows import read_rows
from matproof.suites.matter_to_mechanism.scores_file import read_scores

IDS = [f"p{number}" for number in range(6)]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    texts = [
        {"paper_id": paper, "system": "a", "hypothesis": f"doping {paper} by reducing dendrite growth"} for paper in IDS
    ]
    return fixture.write_texts(tmp_path / "rows.parquet", texts)


def cge_file(path: Path, lines: list[str], header: str = "paper_id,system,cge") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def run(*arguments: object) -> str:
    return CliRunner().invoke(score, [str(one) for one in arguments], catch_exceptions=False).output


def composites(path: Path) -> list[float]:
    values: list[float] = read_scores(path)[0].column("cbs").to_pylist()
    return values


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_it_is_a_tenth_of_the_composite_and_the_six_share_the_rest(tmp_path: Path, rows: Path, ending: str) -> None:
    values = [0.0, 1.0, 0.5, 0.25, 0.75, 0.1]
    given = cge_file(
        tmp_path / "cge.csv", [f"{paper},a,{value}" for paper, value in reversed([*zip(IDS, values, strict=True)])]
    )
    run(rows, "-o", tmp_path / "six.parquet")
    run(rows, "-o", tmp_path / f"seven.{ending}", "--cge", given)
    six, seven = composites(tmp_path / "six.parquet"), composites(tmp_path / f"seven.{ending}")
    expected = [0.9 * one + 0.1 * value for one, value in zip(six, values, strict=True)]
    assert seven == pytest.approx(expected, abs=1e-12)
    table = read_rows(tmp_path / f"seven.{ending}")
    assert table.column_names == [*SCORE_COLUMNS, "cge"]
    assert "share of 0.1" in read_scores(tmp_path / f"seven.{ending}")[1]["composite"]


def test_without_the_option_it_is_in_no_file(tmp_path: Path, rows: Path) -> None:
    run(rows, "-o", tmp_path / "six.parquet")
    assert read_rows(tmp_path / "six.parquet").column_names == list(SCORE_COLUMNS)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([f"{paper},a,0.5" for paper in IDS[:4]], "no value for 'p4' of 'a' and 1 more"),
        ([f"{paper},a,0.5" for paper in (*IDS, "p0")], "row 7: a second value for 'p0' of 'a'"),
        ([f"{paper},a,1.01" for paper in IDS], "row 1: '1.01' is no number from 0 to 1"),
        ([f"{paper},a,nan" for paper in IDS], "row 1: is empty"),
        ([f"{paper},a,good" for paper in IDS], "'good' is no number"),
        ([f"{paper},b,0.5" for paper in IDS], "no value for 'p0' of 'a' and 5 more"),
    ],
)
def test_what_is_wrong_with_the_file_is_one_line(tmp_path: Path, rows: Path, lines: list[str], problem: str) -> None:
    given = cge_file(tmp_path / "cge.csv", lines)
    with pytest.raises(InputError) as caught:
        run(rows, "-o", tmp_path / "s.parquet", "--cge", given)
    assert problem in str(caught.value)
    assert not (tmp_path / "s.parquet").exists()


def test_scores_with_and_without_it_are_not_ranked_together(tmp_path: Path, rows: Path) -> None:
    given = cge_file(tmp_path / "cge.csv", [f"{paper},a,0.5" for paper in IDS])
    run(rows, "-o", tmp_path / "six.parquet")
    run(rows, "-o", tmp_path / "seven.parquet", "--cge", given)
    told = CliRunner().invoke(leaderboard, [str(tmp_path / "seven.parquet")]).output
    assert "with CGE as a share of 0.1" in told
    both = CliRunner().invoke(leaderboard, [str(tmp_path / "six.parquet"), str(tmp_path / "seven.parquet")])
    assert "the same CGE file" in str(both.exception)
