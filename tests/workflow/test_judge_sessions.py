"""A judging session over either back end: evidence that does not hold is asked for again, tools show the run alone."""

import json
from typing import Any

import pytest
import yaml
from single_run import Bench, answer

from matproof.core.files import write_text
from matproof.records.evaluation import DIMENSIONS, EvaluationRecord
from matproof.traces.events import TraceEvent, read_trace

BACKENDS = {"claude": "scripted-judge", "responses": "by-responses"}
GOOD = {"file": "artifacts/t.json", "number": 55}
INVENTED = {"file": "artifacts/log.txt", "quote": "converged after 12 iterations"}


def judgement(score: int, citation: dict[str, Any]) -> dict[str, Any]:
    part = {"name": "p", "score": score, "justification": "j"}
    return {
        "overall": score,
        "dimensions": [
            {"name": name, "score": score, "justification": "j", "subdimensions": [part, part], "citations": [citation]}
            for name in DIMENSIONS
        ],
    }


def judged(bench: Bench, judge: str, *turns: dict[str, Any]) -> EvaluationRecord:
    script = {"version": 1, "sessions": {"judge": [*turns, *[{"text": "done"}] * 4]}}
    write_text(bench.root / "demo/scripts/judge.yaml", yaml.safe_dump(script))
    return bench.judge(judge)


def events(bench: Bench, judge: str, number: int = 1) -> list[TraceEvent]:
    folder = bench.results.run(bench.claim.name, "scripted", 1).evaluations / judge / f"{number:03d}"
    return list(read_trace(folder / "trace.jsonl"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_invented_evidence_is_asked_for_again_and_then_marked(ran: Bench, backend: str) -> None:
    judge = BACKENDS[backend]
    record = judged(ran, judge, answer(judgement(5, INVENTED)), answer(judgement(5, INVENTED)))
    (judging,) = record.judgings
    assert (record.status, record.overall, record.weak_evidence) == ("scored", 5, True)
    assert (judging.asked_again, judging.weak_evidence) == (True, True)
    assert judging.cited is not None
    assert (judging.cited.given, judging.cited.verified) == (5, 0)
    assert judging.dimensions[0].citations[0].problem == "there is no such file"
    exchanges = (ran.results.run(ran.claim.name, "scripted", 1).evaluations / judge / "001/exchanges.jsonl").read_text()
    assert "too much of its evidence could not be found" in exchanges


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_judge_that_mends_its_evidence_may_change_its_score(ran: Bench, backend: str) -> None:
    record = judged(ran, BACKENDS[backend], answer(judgement(5, INVENTED)), answer(judgement(3, GOOD)))
    (judging,) = record.judgings
    assert (record.overall, record.weak_evidence, judging.asked_again) == (3, False, True)


def test_nonsense_after_the_list_of_failures_leaves_the_first_answer_marked(ran: Bench) -> None:
    record = judged(ran, "by-responses", answer(judgement(4, INVENTED)), answer({"overall": 11}))
    assert (record.overall, record.weak_evidence) == (4, True)


@pytest.mark.parametrize(
    "turns",
    [
        [answer(judgement(9, GOOD)), answer(judgement(0, GOOD))],
        [answer({**judgement(4, GOOD), "dimensions": judgement(4, GOOD)["dimensions"][:4]})] * 2,
        [{"text": "I give it four"}] * 2,
        [answer(judgement(4, INVENTED)), {"error": {"status": 400, "type": "invalid_request_error", "message": "no"}}],
        [{"tools": [{"name": "StructuredOutput", "input": "not json"}]}] * 2,
    ],
)
def test_a_session_without_a_whole_answer_gives_no_score(ran: Bench, turns: list[dict[str, Any]]) -> None:
    record = judged(ran, "by-responses", *turns)
    assert (record.status, record.overall, record.scores, record.weak_evidence) == ("unscored", None, [], None)
    assert record.reason


def test_a_session_that_takes_too_long_is_unscored(ran: Bench) -> None:
    ran_judge = yaml.safe_load((ran.root / "config/judges/by-responses.yaml").read_text())
    ran_judge["answers"]["limits"]["walltime_h"] = 2 / 3600
    write_text(ran.root / "config/judges/by-responses.yaml", yaml.safe_dump(ran_judge))
    record = judged(ran, "by-responses", {"text": "wait", "delay_s": 20})
    assert (record.status, record.overall) == ("unscored", None)
    assert "walltime" in str(record.reason)


def test_repeats_are_sessions_of_their_own_in_another_order(ran: Bench) -> None:
    chosen = yaml.safe_load((ran.root / "config/judges/by-responses.yaml").read_text())
    write_text(ran.root / "config/judges/thrice.yaml", yaml.safe_dump(chosen | {"repeats": 3}))
    score = {"$": "5 if prompt.index('/work/run/steps/') < prompt.index('/work/run/trace.jsonl') else 2"}
    whole = judgement(3, GOOD) | {"overall": score}
    record = judged(ran, "thrice", answer(whole))
    assert [judging.folder for judging in record.judgings] == ["001", "002", "003"]
    assert len({judging.order for judging in record.judgings}) == 3
    given = [judging.overall for judging in record.judgings]
    assert record.overall == sorted(int(one or 0) for one in given)[1]
    assert (record.scores[0].low, record.scores[0].high, record.scores[0].scored) == (2, 5, 3)
    assert record.usage.requests == 3
    folder = ran.results.run(ran.claim.name, "scripted", 1).evaluations / "thrice"
    listings = [(folder / f"00{n}/seen/files.txt").read_text() for n in (1, 2, 3)]
    assert len(set(listings)) > 1
    assert len({"".join(sorted(text.splitlines())) for text in listings}) == 1


def use(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "input": arguments}


def test_the_tools_show_the_run_and_nothing_else(ran: Bench) -> None:
    artifacts = ran.attempt().artifacts
    image = b"\x89PNG\r\n\x1a\n" + b"\0" * 30
    (artifacts / "plot.png").write_bytes(image)
    (artifacts / "away").symlink_to("/etc")
    tools = [
        use("list_files", path="artifacts"),
        use("read_file", path="artifacts/add.py", first=1, last=1),
        use("search", pattern="^outcome: s", path="reference"),
        use("view_image", path="artifacts/plot.png"),
        use("Bash", command="python -c 'print(6 * 7)'"),
        use("read_file", path="../../run.json"),
        use("read_file", path="/etc/passwd"),
        use("read_file", path="artifacts/away/passwd"),
        use("search", pattern="x" * 2000),
        use("Bash", command="python -c \"import socket; socket.create_connection(('1.1.1.1', 80), 2)\""),
        use("Bash", command="echo x > /work/run/artifacts/t.json"),
        use("nothing"),
    ]
    record = judged(ran, "by-responses", {"tools": tools}, answer(judgement(4, GOOD)))
    assert (record.status, record.overall) == ("scored", 4)
    results = [event for event in events(ran, "by-responses") if event.kind == "tool_result"]
    said = [event.text for event in results]
    assert "artifacts/t.json" in said[0]
    assert "away" not in said[0]
    assert "range(11)" in said[1]
    assert "reference/expected.yaml" in said[2]
    assert "follows as an image" in said[3]
    assert said[4] == "42"
    assert all((event.data or {}).get("is_error") for event in results[5:12])
    assert not any("root:" in text for text in said)
    assert (artifacts / "t.json").read_text() == "55"
    place = ran.results.run(ran.claim.name, "scripted", 1).evaluations / "by-responses/001/exchanges.jsonl"
    sent = json.loads(place.read_text().splitlines()[-1])["request"]["body"]["input"]
    assert [item["role"] for item in sent if "data:image/png;base64," in json.dumps(item)] == ["user"]


def test_neither_setting_nor_model_reaches_the_judge(ran: Bench) -> None:
    judged(ran, "by-responses", {"tools": [use("Bash", command="cat /work/run/*.json* /work/run/files.txt; env")]})
    (seen,) = [event.text for event in events(ran, "by-responses") if event.kind == "tool_result"]
    assert "artifacts/t.json" in seen
    for name in ("scripted", "claude", "sonnet"):
        assert name not in seen.lower()


def test_the_record_is_read_as_it_was_written(ran: Bench) -> None:
    record = ran.judge("by-responses")
    path = ran.results.run(ran.claim.name, "scripted", 1).evaluation("by-responses")
    assert EvaluationRecord.read(path) == record
    assert record.sandbox is not None
    assert "network" in record.sandbox.enforced
