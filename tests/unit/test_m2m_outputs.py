"""Where results can't go is one clear line before any work, and no command writes over what it reads."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import m2m_scores_fixture as fixture
import pytest
from click.testing import CliRunner

from matproof.commands.m2m import ablate, attack, gather, generate, judge, leaderboard, score, taxonomy, validate
from matproof.core.errors import InputError
from matproof.core.outputs import check_output


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    texts = [
        {"paper_id": f"p{number}", "system": system, "problem_statement": "dendrites", "hypothesis": f"doping {number}"}
        for system in ("Reference", "b")
        for number in range(5)
    ]
    return fixture.write_texts(tmp_path / "rows.csv", texts)


@pytest.fixture
def scores(tmp_path: Path, rows: Path) -> Path:
    values = [fixture.score_row(system, f"p{number}", 0.5) for system in ("Reference", "b") for number in range(5)]
    return fixture.write_rows_of_scores(tmp_path / "scores.csv", values)


def command_line(name: str, rows: Path, scores: Path, output: Path) -> tuple[Any, list[str]]:
    model = ["--system", "direct", "--name", "n", "--model", "m"]
    lines: dict[str, tuple[Any, list[Any]]] = {
        "score": (score, [rows]),
        "gather": (gather, [rows]),
        "leaderboard": (leaderboard, [scores]),
        "taxonomy": (taxonomy, [scores]),
        "validate": (validate, [rows, scores]),
        "ablate": (ablate, [rows, scores]),
        "attack": (attack, [rows, "--system", "Reference"]),
        "generate": (generate, [rows, *model]),
        "judge": (judge, [rows, "--judge", "j", "--scores", scores]),
    }
    module, words = lines[name]
    return module.command, [str(word) for word in (*words, "-o", output)]


NAMES = ("score", "gather", "leaderboard", "taxonomy", "validate", "ablate", "attack", "generate", "judge")


@pytest.mark.parametrize("name", NAMES)
def test_a_directory_is_no_output(tmp_path: Path, rows: Path, scores: Path, name: str) -> None:
    output = tmp_path / ("out.jsonl" if name == "judge" else "out.csv")
    output.mkdir()
    command, words = command_line(name, rows, scores, output)
    result = CliRunner().invoke(command, words)
    # Some commands leave it to click, which prints before it ends.
    assert "is a directory" in f"{result.output}{result.exception}".lower()
    assert getattr(result.exception, "exit_code", getattr(result.exception, "code", None)) == 2


@pytest.mark.parametrize("name", [name for name in NAMES if name != "judge"])
def test_no_command_writes_over_what_it_reads(tmp_path: Path, rows: Path, scores: Path, name: str) -> None:
    output = scores if name in ("leaderboard", "taxonomy", "validate", "ablate") else rows
    before = output.read_bytes()
    command, words = command_line(name, rows, scores, tmp_path / "other" / ".." / output.name)
    (tmp_path / "other").mkdir()
    error = CliRunner().invoke(command, words).exception
    assert "is an input too and would be lost" in str(error)
    assert output.read_bytes() == before


def test_a_link_to_an_input_is_that_input(tmp_path: Path, rows: Path) -> None:
    (tmp_path / "link.csv").symlink_to(rows)
    with pytest.raises(InputError, match="would be lost"):
        check_output(tmp_path / "link.csv", rows)


@pytest.mark.parametrize("place", ["rows.csv/out.csv", "/proc/none/out.csv", "/proc/out.csv"])
def test_a_place_that_takes_no_file_is_one_line_and_exit_code_2(tmp_path: Path, rows: Path, place: str) -> None:
    program = [str(Path(sys.executable).with_name("matproof")), "m2m", "score", str(rows), "-o", str(tmp_path / place)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "can't be written" in done.stderr


def test_directories_on_the_way_are_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    check_output(tmp_path / "a" / "b" / "out.csv")
    assert list((tmp_path / "a" / "b").iterdir()) == []
