"""The programmatic judge on files: what a run left, and what its claim expects. Both may be wrong in any way."""

import json
from pathlib import Path

import pytest

from matproof.core.files import write_text
from matproof.evaluation.checks import run_checks
from matproof.records.analysis import MISSING

EXPECTED = "outcome: supported\nquantities: [{name: fcc, value: -8.6102, abs_tol: 1.0e-4}]\n"


def task(directory: Path, expected: str = EXPECTED) -> Path:
    write_text(directory / "task/reference/expected.yaml", expected)
    return directory / "task"


def left(artifacts: Path, text: str | bytes) -> Path:
    artifacts.mkdir()
    (artifacts / "analysis_result.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return artifacts


def test_a_run_with_its_analysis_is_scored(tmp_path: Path) -> None:
    rows = [{"quantity": "fcc", "value": -8.6102, "unit": ""}]
    outcome = run_checks(left(tmp_path / "a", json.dumps({"reproduced": True, "results": rows})), task(tmp_path))
    assert (outcome.status, outcome.reason) == ("scored", None)
    assert outcome.checks is not None
    assert outcome.checks.verdict == "correct"


def test_a_run_without_an_analysis_is_scored_as_undetermined(tmp_path: Path) -> None:
    status, reason, checks = run_checks(tmp_path, task(tmp_path))
    assert (status, reason) == ("scored", None)
    assert checks is not None
    assert checks.explanation == f"{MISSING[0].upper()}{MISSING[1:]}."


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("not json", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "(whole file)"),
        ("{}", "reproduced: missing"),
        ('{"reproduced": "yes"}', "reproduced"),
        ('{"reproduced": 1}', "reproduced"),
        ('{"reproduced": true, "results": [{"quantity": "a", "value": true}]}', "results.0.value"),
        ('{"reproduced": true, "results": [{"quantity": "a", "value": "8.5"}]}', "results.0.value"),
        ('{"reproduced": true, "results": [{"quantity": "a", "value": NaN}]}', "results.0.value"),
        ('{"reproduced": true, "results": [{"quantity": "a", "value": Infinity}]}', "results.0.value"),
        ('{"reproduced": true, "results": [{"quantity": "a", "value": 1e999}]}', "results.0.value"),
        ('{"reproduced": true, "results": {"a": 1}}', "results"),
        ('{"reproduced": true, "results": [' + "{}," * 600 + "{}]}", "results"),
    ],
)
def test_a_malformed_analysis_is_undetermined_and_names_the_field(
    tmp_path: Path, text: str | bytes, named: str
) -> None:
    status, _, checks = run_checks(left(tmp_path / "a", text), task(tmp_path))
    assert status == "scored"
    assert checks is not None
    assert checks.verdict == "undetermined"
    assert named in checks.explanation
    assert len(checks.explanation) < 600


def test_a_link_in_place_of_the_analysis_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"reproduced": True}))
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    (artifacts / "analysis_result.json").symlink_to(secret)
    _, _, checks = run_checks(artifacts, task(tmp_path))
    assert checks is not None
    assert (checks.self_reproduced, "was not read" in checks.explanation) == (None, True)


def test_a_huge_analysis_is_not_read(tmp_path: Path) -> None:
    artifacts = left(tmp_path / "a", '{"reproduced": true, "summary": "' + "x" * 5_000_001 + '"}')
    _, _, checks = run_checks(artifacts, task(tmp_path))
    assert checks is not None
    assert "longer than 5 MB" in checks.explanation


def test_a_claim_without_expectations_leaves_the_run_unscored(tmp_path: Path) -> None:
    status, reason, checks = run_checks(tmp_path, tmp_path)
    assert (status, checks) == ("unscored", None)
    assert reason == "no expectations: reference/expected.yaml: (whole file): missing"


@pytest.mark.parametrize(
    "text", ["outcome: maybe\n", "", "outcome: [", "- supported\n", "outcome: supported\nsings: {}\n"]
)
def test_a_claim_with_malformed_expectations_leaves_the_run_unscored(tmp_path: Path, text: str) -> None:
    status, reason, checks = run_checks(left(tmp_path / "a", '{"reproduced": true}'), task(tmp_path, text))
    assert (status, checks) == ("unscored", None)
    assert reason is not None
    assert reason.startswith("no expectations: reference/expected.yaml: ")
    assert str(tmp_path) not in reason


@pytest.mark.parametrize("text", ['{"reproduced": true}', '{"reproduced": false}', "not json"])
def test_a_claim_without_numbers_leaves_the_run_unscored_whatever_the_agent_says(tmp_path: Path, text: str) -> None:
    statements = "outcome: supported\nstatements: [{id: s, text: It bends.}]\n"
    status, reason, checks = run_checks(left(tmp_path / "a", text), task(tmp_path, statements))
    assert (status, checks) == ("unscored", None)
    assert reason is not None
    assert reason.startswith("nothing to compare by program")


@pytest.mark.parametrize("expected", ["orderings: [[a, b]]", "signs: {a: positive}"])
def test_a_relation_alone_can_be_compared(tmp_path: Path, expected: str) -> None:
    outcome = run_checks(
        left(tmp_path / "a", '{"reproduced": true}'), task(tmp_path, f"outcome: supported\n{expected}\n")
    )
    assert outcome.status == "scored"
