"""How far a number is off, in multiples of its tolerance; and evidence that required steps ran."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from left_behind import Left
from pydantic import ValidationError

from matproof.claims.consistency import expectation_problems
from matproof.claims.models import Expected, Quantity, RequiredStep
from matproof.evaluation.checks import band, check_analysis, deviation, within
from matproof.evaluation.required_steps import required_steps
from matproof.evaluation.wildcards import first_line, fits, is_named
from matproof.records.analysis import AnalysisResult, ExtractedResult
from matproof.records.flags import RequiredStepCheck


def quantity(**fields: object) -> Quantity:
    return Quantity.model_validate({"name": "x"} | fields)


@pytest.mark.parametrize(
    ("expected", "value", "multiple", "verdict"),
    [
        ({"value": 10.0, "abs_tol": 0.5}, 10.0, 0.0, "within"),
        ({"value": 10.0, "abs_tol": 0.5}, 9.5, 1.0, "within"),
        ({"value": 10.0, "abs_tol": 0.5}, 10.8, 1.6, "within_2x"),
        ({"value": 10.0, "abs_tol": 0.5}, 11.0, 2.0, "within_2x"),
        ({"value": 10.0, "abs_tol": 0.5}, 11.1, 2.2, "outside"),
        ({"value": -10.0, "rel_tol": 0.1}, -11.5, 1.5, "within_2x"),
        ({"interval": [2.9, 3.1]}, 3.15, 1.5, "within_2x"),
        ({"interval": [2.9, 3.1]}, 4.0, 10.0, "outside"),
        ({"interval": [0.01, 1e9]}, -3.0, None, "outside"),
        ({"interval": [0.0, 1.0]}, 0.5, None, "within"),
        ({"value": 55, "abs_tol": 0}, 55, 0.0, "within"),
        ({"value": 55, "abs_tol": 0}, 56, None, "outside"),
        ({"value": 1.0, "abs_tol": 1e-300}, 1e300, None, "outside"),
        ({"interval": [-1e308, 1e308]}, 0.0, None, "within"),
    ],
)
def test_a_deviation_is_in_multiples_of_the_tolerance(
    expected: dict[str, object], value: float, multiple: float | None, verdict: str
) -> None:
    wanted = quantity(**expected)
    assert deviation(value, wanted) == (None if multiple is None else pytest.approx(multiple))
    assert band(value, wanted) == verdict


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e3))
def test_the_band_and_the_tolerance_never_contradict_each_other(value: float, centre: float, tolerance: float) -> None:
    wanted = quantity(value=centre, abs_tol=tolerance)
    assert (band(value, wanted) == "within") == within(value, wanted)


def test_statements_are_left_to_judges_and_said_to_be() -> None:
    expected = Expected.model_validate(
        {
            "outcome": "supported",
            "quantities": [{"name": "x", "value": 1.0, "abs_tol": 0.1}],
            "statements": [{"id": "cause", "text": "Why."}],
        }
    )
    found = AnalysisResult(reproduced=True, results=[ExtractedResult(quantity="x", value=1.15)])
    checks = check_analysis(expected, found)
    assert checks.left_to_judges == ["cause"]
    assert (checks.quantities[0].status, checks.quantities[0].band) == ("outside", "within_2x")
    assert checks.verdict == "incorrect"


@pytest.mark.parametrize(
    ("line", "pattern", "there"),
    [
        ("mpirun -np 4 pw.x -in scf.in", "pw.x*scf.in", True),
        ("pw.x -in nscf.in", "pw.x*scf.in", True),
        ("scf.in pw.x", "pw.x*scf.in", False),
        ("aab", "a*a*b", True),
        ("ab", "a*a*b", False),
        ("a.b", "a?b", False),
        ("JOB DONE.", "JOB DONE", True),
    ],
)
def test_a_pattern_stands_for_itself_but_for_its_stars(line: str, pattern: str, there: bool) -> None:
    assert fits(line, pattern) is there


@pytest.mark.parametrize(
    ("path", "pattern", "there"),
    [
        ("a/scf.out", "*/scf.out", True),
        ("a/b/scf.out", "*/scf.out", False),
        ("a/b/scf.out", "**/scf.out", True),
        ("scf.out", "**/scf.out", True),
        ("a/b/c.out", "a/**", True),
        ("a/b/c.out", "a/**/c.*", True),
        ("scf.out.old", "*.out", False),
        ("aba", "ab*ba", False),
        ("results.json", "r*s*.json", True),
    ],
)
def test_a_file_is_named_by_the_whole_of_its_path(path: str, pattern: str, there: bool) -> None:
    assert is_named(path, pattern) is there


def test_the_line_that_fits_is_told() -> None:
    assert first_line("a\nb c\nb d", ["x", "b*d"]) == (3, "b d")
    assert first_line("b\nd", ["b*d"]) is None


def test_stars_without_end_take_no_longer_than_reading() -> None:
    assert not fits("a" * 1_000_000, "a*" * 99 + "b")
    assert not is_named("/".join("a" * 2_000), "**/" * 60 + "b")


def steps(left: Left, **step: object) -> RequiredStepCheck:
    wanted = Expected.model_validate(
        {"outcome": "supported", "required_steps": [{"id": "s", "text": "A step."} | step]}
    )
    (found,) = required_steps(wanted, left.scene)
    return found


def test_evidence_is_told_with_its_place(tmp_path: Path) -> None:
    left = Left(tmp_path).step("mpirun pw.x -in scf.in", "x\nJOB DONE.\n").file("w/scf.out", "y" * 200)
    found = steps(left, commands=["vasp", "pw.x"], files=["*/scf.out"], min_bytes=100, logs=["JOB DONE"])
    assert found.status == "found"
    places = [item.found for item in found.evidence]
    assert [(place.file, place.line) for place in places if place] == [
        ("run.json", None),
        ("artifacts/w/scf.out", None),
        ("steps/s1/1.out", 2),
    ]


def test_a_command_of_a_session_counts_and_a_file_that_was_given_does_not(tmp_path: Path) -> None:
    left = Left(tmp_path).call(command="lmp -in in.melt").given("in.melt", "run 1").file("in.melt", "run 1")
    assert steps(left, commands=["lmp*in.melt"]).evidence[0].found is not None
    assert steps(left, files=["in.melt"]).status == "not_found"


def test_an_input_file_is_no_log_of_the_program_that_reads_it(tmp_path: Path) -> None:
    left = Left(tmp_path).file("in.vacancy", "delete_atoms group one\n")
    assert steps(left, logs=["delete_atoms"]).status == "not_found"
    assert steps(left.file("log.vacancy", "delete_atoms group one\n"), logs=["delete_atoms"]).status == "found"


@pytest.mark.parametrize("pattern", ["/work/artifacts/a.out", "../a.out", "artifacts/a.out"])
def test_a_file_outside_the_artifacts_is_a_problem_of_the_claim(tmp_path: Path, pattern: str) -> None:
    step = {"id": "s", "text": "t", "files": ["*.out", pattern]}
    expected = Expected.model_validate({"outcome": "supported", "required_steps": [step]})
    found = [problem.field for problem in expectation_problems(tmp_path, expected, None)]
    assert "required_steps.0.files" in found


def test_a_file_too_small_and_a_log_without_the_words_are_not_found(tmp_path: Path) -> None:
    left = Left(tmp_path).file("scf.out", "y").step("true", "done\n")
    found = steps(left, commands=["true"], files=["scf.out"], min_bytes=100, logs=["JOB DONE"])
    assert (found.status, [item.found is None for item in found.evidence]) == ("partly", [False, True, True])


@pytest.mark.parametrize("step", [{}, {"commands": ["***"]}, {"commands": [""]}, {"logs": ["a\nb"]}])
def test_a_required_step_asks_for_something(step: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RequiredStep.model_validate({"id": "s", "text": "t"} | step)


def test_two_required_steps_have_two_ids() -> None:
    step = {"id": "s", "text": "t", "logs": ["x"]}
    with pytest.raises(ValidationError, match="one id"):
        Expected.model_validate({"outcome": "supported", "required_steps": [step, step]})
