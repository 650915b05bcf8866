"""Promise 1: no invented score. The record itself refuses one."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.evaluation.rubric import Judgement
from matproof.records.evaluation import DIMENSIONS, EvaluationRecord

HEAD = {
    "claim": "c",
    "claim_id": "C",
    "setting": "s",
    "repeat": 1,
    "attempt": 1,
    "judge": "j",
    "kind": "agent",
    "started": "2026-01-01T00:00:00Z",
    "seconds": 1.0,
}


def dimensions(score: int = 4) -> list[dict[str, object]]:
    parts = [{"name": "a", "score": score, "justification": "x"}, {"name": "b", "score": score, "justification": "x"}]
    return [{"name": name, "score": score, "justification": "x", "subdimensions": parts} for name in DIMENSIONS]


def test_an_unscored_record_needs_a_reason_and_carries_no_score() -> None:
    assert EvaluationRecord.model_validate({**HEAD, "status": "unscored", "reason": "timeout"}).overall is None
    with pytest.raises(ValidationError, match="reason and no score"):
        EvaluationRecord.model_validate({**HEAD, "status": "unscored"})
    with pytest.raises(ValidationError, match="reason and no score"):
        EvaluationRecord.model_validate(
            {**HEAD, "status": "unscored", "reason": "x", "overall": 1, "grade": "failed", "success": False}
        )


def test_the_grade_follows_from_the_score() -> None:
    with pytest.raises(ValidationError, match="grade does not follow"):
        EvaluationRecord.model_validate(
            {**HEAD, "status": "scored", "overall": 4, "grade": "fully_reproduced", "success": True}
        )


@pytest.mark.parametrize("score", [0, 6, 3.5, None, "NaN"])
def test_a_score_off_the_scale_is_no_score(score: object) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate({"overall": score, "dimensions": dimensions()})


def test_a_judgement_names_each_dimension_once() -> None:
    assert Judgement.model_validate({"overall": 4, "dimensions": dimensions()}).overall == 4
    doubled = dimensions()
    doubled[0] = doubled[1]
    with pytest.raises(ValidationError, match="missing: methodological_fidelity"):
        Judgement.model_validate({"overall": 4, "dimensions": doubled})


OLD_EVIDENCE = [
    {"file": "artifacts/t.json", "quote": "55", "shows": "the total"},
    {"file": "x", "quote": "", "shows": ""},
]


def old(**changes: object) -> dict[str, object]:
    """A record as version 1 wrote it."""
    scored = {
        "status": "scored",
        "overall": 4,
        "grade": "mostly_reproduced",
        "success": True,
        "dimensions": [dimension | {"evidence": OLD_EVIDENCE} for dimension in dimensions()],
        "strengths": ["s"],
        "key_errors": ["k"],
        "failure_labels": [{"label": "simplification", "evidence": "e"}],
        "self_comparison": "c",
    }
    return {"schema_version": 1, **HEAD, **scored, **changes}


def test_a_record_of_version_1_is_read_as_one_judging(tmp_path: Path) -> None:
    write_json(tmp_path / "j.json", old())
    record = EvaluationRecord.read(tmp_path / "j.json")
    (judging,) = record.judgings
    assert (record.overall, record.schema_version, judging.number, judging.cited) == (4, 2, 1, None)
    assert (record.strengths, record.key_errors, record.self_comparison) == (["s"], ["k"], "c")
    assert [failure.label for failure in record.failure_labels] == ["simplification"]
    assert [dimension.name for dimension in record.dimensions] == list(DIMENSIONS)
    first, second = record.dimensions[0].evidence
    assert (first.file, first.quote, first.verified) == ("artifacts/t.json", "55", None)
    assert (second.quote, second.problem) == (None, "written before citations were checked")
    assert record.weak_evidence is None


def test_what_was_read_from_version_1_can_be_written_and_read_again(tmp_path: Path) -> None:
    record = EvaluationRecord.model_validate(old())
    write_json(tmp_path / "j.json", record)
    assert EvaluationRecord.read(tmp_path / "j.json") == record


def test_an_unscored_record_of_version_1_stays_unscored() -> None:
    record = EvaluationRecord.model_validate({"schema_version": 1, **HEAD, "status": "unscored", "reason": "timeout"})
    assert [(judging.status, judging.reason) for judging in record.judgings] == [("unscored", "timeout")]
    assert (record.scores, record.typical, record.dimensions) == ([], None, [])


def test_a_record_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    write_json(tmp_path / "j.json", EvaluationRecord.model_validate(old()).model_dump() | {"schema_version": 3})
    with pytest.raises(InputError, match="schema_version: is 3, this version reads 2"):
        EvaluationRecord.read(tmp_path / "j.json")


@pytest.mark.parametrize("given", [dimensions()[:4], [*dimensions()[:4], dimensions()[0]], []])
def test_a_scored_record_without_all_five_dimensions_is_refused(given: list[dict[str, object]]) -> None:
    with pytest.raises(ValidationError, match="each of the five dimensions once"):
        EvaluationRecord.model_validate(old(dimensions=given))
