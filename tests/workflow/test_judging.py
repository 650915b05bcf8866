"""The judge reads what is there: break the evidence and the score falls; lose the judge and there is no score."""

import json

import pytest
from single_run import Bench

from matproof.core.files import write_text
from matproof.traces.events import read_trace

TALK = "    - text: done\n" * 4
BACKENDS = {"claude": "scripted-judge", "responses": "by-responses"}
"""Back end → judge that uses it."""


def judge_script(bench: Bench, text: str) -> None:
    write_text(bench.root / "demo/scripts/judge.yaml", text)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sound_run_scores_well(ran: Bench, backend: str) -> None:
    record = ran.judge(BACKENDS[backend])
    assert (record.status, record.overall, record.grade, record.success) == ("scored", 5, "fully_reproduced", True)
    assert record.scripted
    assert record.versions["backend"] == backend
    (judging,) = record.judgings
    assert (judging.weak_evidence, judging.asked_again) == (False, False)
    assert judging.cited is not None
    assert (judging.cited.verified, judging.cited.uncited) == (judging.cited.given, 0)


@pytest.mark.parametrize(
    ("damage", "at_most"),
    [
        ({"results": [{"quantity": "total", "value": 54, "source_file": "t.json"}]}, 3),
        ({"results": []}, 2),
        ({"reproduced": False}, 2),
    ],
)
def test_the_score_falls_with_the_evidence(ran: Bench, damage: dict[str, object], at_most: int) -> None:
    file = ran.attempt().analysis_result
    write_text(file, json.dumps(json.loads(file.read_text()) | damage))
    record = ran.judge("scripted-judge")
    assert record.overall is not None
    assert record.overall <= at_most
    assert record.success is False


def test_the_judge_sees_neither_agent_nor_model(ran: Bench) -> None:
    ran.judge("scripted-judge")
    blinded = ran.results.run("A-1_sum", "scripted", 1).evaluations / "scripted-judge/001/seen"
    for name in ("trace.jsonl", "orchestration.json"):
        text = (blinded / name).read_text().lower()
        assert len(text) > 100
        assert "claude" not in text
        assert "sonnet" not in text


def test_the_judge_can_not_learn_the_setting_from_its_mounts(ran: Bench) -> None:
    look = "grep /work/r /proc/self/mountinfo; env; find /work/run /work/reference"
    turn = f"    - tools: [{{name: Bash, input: {{command: '{look}'}}}}]\n"
    judge_script(ran, f"version: 1\nsessions:\n  judge:\n{turn}{TALK}")
    ran.judge("scripted-judge")
    folder = ran.results.run("A-1_sum", "scripted", 1).evaluations / "scripted-judge/001"
    (seen,) = [event.text for event in read_trace(folder / "trace.jsonl") if event.kind == "tool_result"]
    assert "/work/run" in seen
    assert "runs/A-1_sum/scripted" not in seen
    assert not list((ran.root / "results/judging").iterdir())


def test_the_judge_can_not_change_the_run(ran: Bench) -> None:
    judge_script(
        ran,
        "version: 1\nsessions:\n  judge:\n"
        "    - tools: [{name: Bash, input: {command: 'echo x > /work/run/artifacts/t.json; echo $?'}}]\n" + TALK,
    )
    ran.judge("scripted-judge")
    assert (ran.attempt().artifacts / "t.json").read_text() == "55"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("    - text: five out of five\n" * 8, "structured"),
        ("    - tools: [{name: StructuredOutput, input: {overall: 9}}]\n" * 12, ""),
        ("    - error: {status: 400, type: invalid_request_error, message: refused}\n" * 8, ""),
    ],
)
def test_a_lost_judge_leaves_unscored_and_why(ran: Bench, backend: str, script: str, why: str) -> None:
    judge_script(ran, f"version: 1\nsessions:\n  judge:\n{script}")
    record = ran.judge(BACKENDS[backend])
    assert (record.status, record.overall, record.success) == ("unscored", None, None)
    assert record.reason
    assert why in record.reason


def test_a_second_judging_keeps_the_first(ran: Bench) -> None:
    ran.judge("scripted-judge")
    ran.judge("scripted-judge")
    folder = ran.results.run("A-1_sum", "scripted", 1).evaluations / "scripted-judge"
    assert sorted(path.name for path in folder.iterdir()) == ["001", "002"]
    assert list(read_trace(folder / "001/trace.jsonl"))


def test_checks_need_no_model_and_see_a_wrong_number(ran: Bench) -> None:
    assert ran.judge("checks").success is True
    file = ran.attempt().analysis_result
    write_text(file, file.read_text().replace("55", "54"))
    record = ran.judge("checks")
    assert (record.status, record.success, record.usage.requests) == ("scored", False, 0)
