"""A judge over a provider's Responses API: what it is sent, and that nothing it says or fails to say is a score."""

import json
from typing import Any

import pytest
import yaml
from gateway_fixture import Reply, Upstream
from single_run import Bench

from matproof.core.errors import InfrastructureError, InputError
from matproof.core.files import write_text
from matproof.records.evaluation import DIMENSIONS, EvaluationRecord

PART = {"name": "p", "score": 4, "justification": "j"}
CITED = [{"file": "t.json", "number": 55}]
ANSWER = {
    "overall": 4,
    "dimensions": [
        {"name": name, "score": 4, "justification": "j", "subdimensions": [PART, PART], "citations": CITED}
        for name in DIMENSIONS
    ],
}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
USAGE = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}


def call(name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function_call", "id": f"fc_{name}", "call_id": f"c_{name}", "name": name, "arguments": text}


def reply(*output: Any, **changes: Any) -> Reply:
    body = {"id": "resp_1", "object": "response", "created_at": 0, "status": "completed", "model": "m", "usage": USAGE}
    return Reply(chunks=(json.dumps(body | {"output": list(output)} | changes).encode(),))


def judged(bench: Bench, provider: Upstream, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> EvaluationRecord:
    monkeypatch.setenv("HERE_KEY", "sk-real-0123456789abcdef")
    table = {
        "providers": {"here": {"api": "openai", "base_url": provider.url, "key_env": "HERE_KEY"}},
        "models": {"m": {"provider": "here", "prices": {"input": 2.0, "output": 10.0, "cache_read": 0.2}}},
    }
    write_text(bench.root / "config/models.yaml", yaml.safe_dump(table))
    chosen = {"kind": "agent", "backend": "responses", "answers": {"model": "m", "effort": "high"}} | fields
    write_text(bench.root / "config/judges/live.yaml", yaml.safe_dump(chosen))
    return bench.judge("live")


def test_a_provider_gets_the_whole_conversation_and_its_own_thoughts_back(
    ran: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = reply(THOUGHT, call("read_file", {"path": "artifacts/t.json"}))
    with Upstream(first, reply(call("StructuredOutput", ANSWER))) as provider:
        record = judged(ran, provider, monkeypatch)
    assert (record.status, record.overall, record.scripted, record.weak_evidence) == ("scored", 4, False, False)
    assert (record.usage.requests, record.usage.input_tokens) == (2, 2000)
    assert record.usage.cost_usd == pytest.approx(0.006)
    one, two = (json.loads(request.body) for request in provider.seen)
    assert {request.path for request in provider.seen} == {"/v1/responses"}
    assert provider.seen[0].headers["authorization"] == "Bearer sk-real-0123456789abcdef"
    assert (one["store"], one["reasoning"]["effort"], one["include"]) == (
        False,
        "high",
        ["reasoning.encrypted_content"],
    )
    assert "StructuredOutput" in {tool["name"] for tool in one["tools"]}
    assert two["input"][0] == one["input"][0]
    assert two["input"][1]["encrypted_content"] == "sealed"
    assert two["input"][2]["arguments"] == '{"path": "artifacts/t.json"}'
    assert two["input"][3]["output"].endswith("1  55")
    for name in ("claude", "sonnet", "scripted"):
        assert name not in provider.seen[1].body.decode().lower()


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([reply(call("StructuredOutput", ANSWER), status="incomplete")], "incomplete"),
        ([reply(call("StructuredOutput", ANSWER | {"overall": 4.5}))], "overall"),
        ([reply(call("StructuredOutput", json.dumps(ANSWER).replace("4", "NaN")))], "structured"),
        ([reply(call("StructuredOutput", "{" * 20_000))], "structured"),
        (
            [reply({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "5/5"}]})],
            "struct",
        ),
        ([reply({"type": "message", "role": "assistant", "content": None})], "structured"),
        ([reply()], "structured"),
        ([reply(output=None)], "no output"),
        ([reply(output=["5"])], "no output"),
        ([reply(call("read_file", "[]"), call("rm", {}), {"type": "surprise"}), reply()], "structured"),
    ],
)
def test_nothing_but_a_whole_answer_is_a_score(
    ran: Bench, monkeypatch: pytest.MonkeyPatch, replies: list[Reply], why: str
) -> None:
    with Upstream(*replies) as provider:
        record = judged(ran, provider, monkeypatch)
    assert (record.status, record.overall, record.grade, record.success) == ("unscored", None, None, None)
    assert why in str(record.reason)


def test_a_provider_that_fails_is_no_judgement_and_leaves_no_record(
    ran: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Reply(status=401, chunks=(b'{"error": {"message": "no", "type": "invalid_api_key"}}',))
    with Upstream(failing) as provider, pytest.raises(InfrastructureError, match="provider failed"):
        judged(ran, provider, monkeypatch)
    assert not ran.results.run(ran.claim.name, "scripted", 1).evaluation("live").exists()


def test_a_limit_ends_the_judging_without_a_score(ran: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"model": "m", "limits": {"requests": 2}}
    with Upstream(reply(call("list_files", {}))) as provider:
        record = judged(ran, provider, monkeypatch, answers=answers)
    assert (record.status, len(provider.seen)) == ("unscored", 2)
    assert str(record.reason).startswith("budget")


def test_a_back_end_that_does_not_fit_is_refused_before_anything_is_asked(
    ran: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Upstream(reply()) as provider, pytest.raises(InputError, match="backend: responses"):
        judged(ran, provider, monkeypatch, backend="claude")
    assert provider.seen == []
