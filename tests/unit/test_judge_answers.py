"""What counts as a judge's answer, what is sent back, and what the prompts say."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from matproof.config.models import ModelTable
from matproof.config.settings import Judge
from matproof.core.errors import InputError
from matproof.core.files import validate
from matproof.evaluation.examined import examine
from matproof.evaluation.judge import refuse_mismatch
from matproof.evaluation.panels import total_usage, verdict
from matproof.evaluation.rubric import MEANINGS, Judgement, load_rubric, order_for
from matproof.evaluation.shown import Shown
from matproof.models.hearing import NO_ANSWER, Hearing
from matproof.models.session import inlined_schema
from matproof.records.base import Usage
from matproof.records.evaluation import DIMENSIONS, FailureLabel, Judging

GOOD = {"file": "artifacts/t.json", "quote": "total 55"}
BAD = {"file": "artifacts/t.json", "quote": "total 56"}


def answer(score: int = 4, citation: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A judgement with `citation` at each dimension."""
    part = {"name": "p", "score": score, "justification": "j"}
    dimensions = [
        {
            "name": name,
            "score": score,
            "justification": "j",
            "subdimensions": [part, part],
            "citations": [citation] if citation else [],
        }
        for name in DIMENSIONS
    ]
    return {"dimensions": dimensions, "overall": score} | changes


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    (tmp_path / "run/artifacts").mkdir(parents=True)
    (tmp_path / "run/artifacts/t.json").write_text("total 55\n")
    return Shown(run=tmp_path / "run", reference=tmp_path)


NONSENSE = (
    st.none()
    | st.booleans()
    | st.text(max_size=5)
    | st.floats()
    | st.integers().filter(lambda number: not 1 <= number <= 5)
    | st.lists(st.integers(1, 5), max_size=2)
)


@given(NONSENSE)
def test_no_nonsense_becomes_a_score(score: Any) -> None:
    for broken in (answer(overall=score), _with_dimension(score=score), _with_part(score)):
        with pytest.raises(ValidationError):
            Judgement.model_validate(broken)


def _with_dimension(**changes: Any) -> dict[str, Any]:
    broken = answer()
    broken["dimensions"][2] = broken["dimensions"][2] | changes
    return broken


def _with_part(score: Any) -> dict[str, Any]:
    return _with_dimension(subdimensions=[{"name": "p", "score": score, "justification": "j"}] * 2)


@pytest.mark.parametrize(
    "broken",
    [
        answer(dimensions=answer()["dimensions"][:4]),
        _with_dimension(name="completeness"),
        _with_dimension(name="elegance"),
        _with_dimension(subdimensions=[]),
        _with_dimension(subdimensions=[{"name": "p", "score": 3, "justification": "j"}]),
        _with_dimension(subdimensions=[{"name": "p", "score": 3, "justification": "j"}] * 6),
        _with_dimension(justification=""),
        answer(failure_labels=[{"label": "laziness", "evidence": "e"}]),
        answer(failure_labels=[{"label": "simplification", "evidence": "e"}] * 2),
        answer(grade="fully_reproduced"),
        {},
        [],
        "5",
        None,
    ],
)
def test_an_incomplete_answer_is_none(broken: Any) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate(broken)


@given(st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=6))
def test_a_verdict_is_made_of_given_scores_alone(overalls: list[int | None]) -> None:
    judgings = [_judging(number, overall) for number, overall in enumerate(overalls, 1)]
    found = verdict(judgings)
    given_scores = [overall for overall in overalls if overall is not None]
    if not given_scores:
        assert found["status"] == "unscored"
        assert "lost" in str(found["reason"])
        assert "overall" not in found
    else:
        assert found["overall"] in given_scores
        assert found["status"] == "scored"


def _judging(number: int, overall: int | None) -> Judging:
    if overall is None:
        return Judging(number=number, status="unscored", reason="walltime: lost")
    examined = examine(Judgement.model_validate(answer(overall)), Shown(run=Path("/none"), reference=Path("/none")))
    return examined.judging(number, folder="001", threshold=0.0, asked_again=False, order="x")


def test_what_is_unknown_of_one_judging_is_unknown_of_all() -> None:
    known = Usage(requests=2, input_tokens=10, cached_tokens=0, output_tokens=3, cost_usd=0.5)
    assert total_usage([known, known]).cost_usd == 1.0
    both = total_usage([known, Usage(requests=1, cost_reason="no price")])
    assert (both.requests, both.input_tokens, both.cost_usd, both.cost_reason) == (3, None, None, "no price")


def test_citations_are_counted_and_what_cites_nothing_counts_against(shown: Shown) -> None:
    given_answer = answer(citation=GOOD, failure_labels=[{"label": "simplification", "evidence": "e"}])
    given_answer["dimensions"][0]["citations"] = [BAD]
    given_answer["dimensions"][1]["subdimensions"] = [{"name": "p", "score": 4, "justification": "j"}] * 2
    examined = examine(Judgement.model_validate(given_answer), shown)
    assert (examined.count.given, examined.count.verified, examined.count.uncited) == (5, 4, 1)
    assert examined.count.share == pytest.approx(4 / 6)
    assert examined.failures[0] == "simplification cites nothing"
    assert "methodological_fidelity: 'artifacts/t.json': the quote is not there" in examined.failures
    complaint = examined.complaint(load_rubric().again, 0.8)
    assert complaint is not None
    assert "4 of 6" in " ".join(complaint.split())
    assert "80%" in complaint
    assert examined.complaint(load_rubric().again, 0.6) is None


def test_a_judgement_without_any_citation_has_weak_evidence(shown: Shown) -> None:
    examined = examine(Judgement.model_validate(answer(5)), shown)
    judging = examined.judging(1, folder="001", threshold=0.8, asked_again=True, order="x")
    assert (judging.overall, judging.grade, judging.weak_evidence) == (5, "fully_reproduced", True)


def test_an_answer_of_the_wrong_shape_is_sent_back_once() -> None:
    hearing = Hearing(Judgement)
    assert "overall" in str(hearing.hear(answer(overall=9)))
    assert hearing.hear(None) is None
    assert (hearing.answer, len(hearing.refused), hearing.refused[1]) == (None, 2, NO_ANSWER)


def test_an_objection_is_made_once_and_the_last_answer_stands() -> None:
    hearing = Hearing(Judgement, lambda _: "look again")
    assert hearing.hear(answer(5)) == "look again"
    assert hearing.hear(answer(2)) is None
    assert isinstance(hearing.answer, Judgement)
    assert hearing.answer.overall == 2


def test_nonsense_after_an_objection_leaves_the_answer_that_was_given() -> None:
    hearing = Hearing(Judgement, lambda _: "look again")
    hearing.hear(answer(5))
    assert hearing.hear({"overall": 7}) is None
    assert isinstance(hearing.answer, Judgement)
    assert hearing.answer.overall == 5


def test_the_rubric_names_every_dimension_label_score_and_rule() -> None:
    rubric = load_rubric()
    text = rubric.question(claim="THE CLAIM", outcome="completed", order=order_for("c", 1, 1))
    labels = FailureLabel.__args__  # type: ignore[attr-defined]
    for word in (*DIMENSIONS, *labels, "5. ", "1. ", "THE CLAIM", "completed", "contradict", "citations", "absent"):
        assert word in text
    assert sorted(rubric.versions) == ["prompt.again", "prompt.judge", "prompt.system"]
    assert set(MEANINGS) == set(DIMENSIONS)


def test_the_order_is_drawn_anew_for_each_repeat_and_is_the_same_for_every_setting() -> None:
    rubric = load_rubric()
    texts = [rubric.question(claim="c", outcome="completed", order=order_for("claim", 1, n)) for n in (1, 2, 3, 1)]
    assert texts[0] == texts[3]
    assert len(set(texts)) == 3
    assert {"\n".join(sorted(text.splitlines())) for text in texts} == {"\n".join(sorted(texts[0].splitlines()))}


def test_the_shape_of_the_answer_has_no_reference_and_no_grade() -> None:
    schema = str(inlined_schema(Judgement))
    assert "$ref" not in schema
    assert "grade" not in schema


@pytest.mark.parametrize(
    ("backend", "api", "fits"),
    [("claude", "anthropic", True), ("responses", "openai", True), ("claude", "openai", False)],
)
def test_a_back_end_that_does_not_speak_to_the_model_is_refused_by_name(backend: str, api: str, fits: bool) -> None:
    table = ModelTable.model_validate(
        {"providers": {"p": {"api": api, "base_url": "http://127.0.0.1:1"}}, "models": {"m": {"provider": "p"}}}
    )
    judge = Judge.model_validate({"kind": "agent", "backend": backend, "answers": {"model": "m"}})
    if fits:
        refuse_mismatch(judge, table, Path("j.yaml"))
        return
    with pytest.raises(InputError, match="backend: responses"):
        refuse_mismatch(judge, table, Path("j.yaml"))


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "checks", "repeats": 2},
        {"kind": "agent", "answers": {"model": "m"}, "repeats": 0},
        {"kind": "agent", "answers": {"model": "m"}, "citation_threshold": 1.5},
        {"kind": "agent", "answers": {"model": "m"}, "backend": "chat"},
    ],
)
def test_a_judge_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        validate(Judge, fields, file="j.yaml")
