"""Promise 1: no invented score. The record itself refuses one."""

import pytest
from pydantic import ValidationError

from matproof.evaluation.judge import Judgement
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
