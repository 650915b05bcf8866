"""The gateway's record as events: each thing once, whoever spoke, over whichever API."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateway_fixture import Open, Reply, Upstream, opened, scripted

from matproof.core.files import append_json
from matproof.traces.events import Event
from matproof.traces.from_exchanges import ExchangeEvents
from matproof.traces.pairing import pairing

TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
SCRIPT = """
plan:
- thinking: "first look"
  text: "I look."
  tools: [{name: Bash, input: {command: ls}}, {name: Bash, input: {command: pwd}}]
  usage: {input_tokens: 100, output_tokens: 10}
- text: "Done."
  usage: {input_tokens: 200, output_tokens: 20}
"""


def messages(here: Open, said: list[dict[str, Any]], session: str = "plan", **more: Any) -> dict[str, Any]:
    """Ask over the Messages API, and take the answer into what was said."""
    answer = here.post(
        f"/s/{session}/v1/messages", **{"model": "priced", "max_tokens": 9, "tools": TOOLS, "messages": said, **more}
    ).json()
    if "content" in answer:
        said.append({"role": "assistant", "content": answer["content"]})
    return dict(answer)


def results(answer: dict[str, Any], *texts: str) -> dict[str, Any]:
    """The message that gives the results of an answer's calls."""
    calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
    blocks = [
        {"type": "tool_result", "tool_use_id": each, "content": text} for each, text in zip(calls, texts, strict=True)
    ]
    return {"role": "user", "content": blocks}


def brief(events: list[Event]) -> list[tuple[str, str]]:
    """Kind and text of each."""
    return [(event.kind, event.tool or event.text) for event in events]


def test_a_conversation_is_told_once_though_every_request_repeats_it(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        answer = messages(here, said, system="You are brief.")
        said.append(results(answer, "a.txt", "/work"))
        messages(here, said, system="You are brief.")
        events = list(ExchangeEvents(here.file, agent="tester").new())
    assert brief(events) == [
        ("message", "You are brief."),
        ("message", "go"),
        ("thinking", "first look"),
        ("message", "I look."),
        ("tool_call", "Bash"),
        ("tool_call", "Bash"),
        ("usage", ""),
        ("tool_result", "a.txt"),
        ("tool_result", "/work"),
        ("message", "Done."),
        ("usage", ""),
    ]
    assert pairing(events).complete
    assert {event.agent for event in events} == {"tester"}
    assert {event.phase for event in events} == {"plan"}
    assert [event.tokens.input for event in events if event.tokens] == [100, 200]
    assert all(event.data and event.data["exchange"] in (1, 2) for event in events)


def test_reminders_that_come_and_go_and_rewritten_results_are_not_said_again(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        answer = messages(here, said)
        said.append(results(answer, "a.txt", "/work"))
        said[0] = {"role": "user", "content": [{"type": "text", "text": "go\n<system-reminder>now</system-reminder>"}]}
        said[2]["content"][0]["content"] = "[Old tool result content cleared]\n<system-reminder>x</system-reminder>"
        messages(here, said)
        messages(here, said[:3])
        events = list(ExchangeEvents(here.file, agent="tester").new())
    assert [event.text for event in events if event.kind == "message"].count("go") == 1
    assert len([event for event in events if event.kind == "tool_result"]) == 2


def test_a_subagent_is_a_lane_of_its_own(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        messages(here, [{"role": "user", "content": "go"}])
        messages(here, [{"role": "user", "content": "look into it"}])
        messages(here, [{"role": "user", "content": "summarise this page"}], tools=[])
        messages(here, [{"role": "user", "content": "go"}], session="setup")
        agents = [event.agent for event in ExchangeEvents(here.file, agent="tester").new() if event.text == "I look."]
    assert agents == ["tester", "tester/2", "tester/3"]


def test_lines_are_read_as_they_are_completed(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        source = ExchangeEvents(here.file, agent="tester", phase="session")
        assert list(source.new()) == []
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        answer = messages(here, said)
        first = list(source.new())
        said.append(results(answer, "a", "b"))
        messages(here, said)
        second = list(source.new())
        whole = here.file.read_bytes()
    assert {event.phase for event in first} == {"session"}
    assert [event.kind for event in second] == ["tool_result", "tool_result", "message", "usage"]
    half = tmp_path / "half.jsonl"
    half.write_bytes(whole[:-10])
    growing = ExchangeEvents(half, agent="tester", phase="session")
    assert len(list(growing.new())) == len(first)
    half.write_bytes(whole)
    assert [event.kind for event in growing.new()] == [event.kind for event in second]


def test_an_answer_that_broke_off_is_an_error_and_what_the_client_took_over_is_told(tmp_path: Path) -> None:
    script = "plan:\n- text: 'half an answer that breaks off'\n  cut: true\n"
    with opened(scripted(tmp_path, script)) as here:
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        with pytest.raises(httpx2.TransportError):
            here.post("/s/plan/v1/messages", model="priced", max_tokens=9, messages=said, tools=TOOLS, stream=True)
        (exchange,) = here.exchanges()
        kept = exchange.reply.body["content"]
        said += [{"role": "assistant", "content": kept}, {"role": "user", "content": "go on"}]
        messages(here, said)
        events = list(ExchangeEvents(here.file, agent="tester").new())
    error = next(event for event in events if event.kind == "error")
    assert error.text.startswith("the answer broke off: the script cuts this answer")
    assert kept[0]["text"] in error.text
    taken = next(event for event in events if event.kind == "message" and event.text == kept[0]["text"])
    assert taken.data is not None
    assert taken.data["from"] == "an answer that broke off"


def test_words_that_a_client_puts_into_the_assistants_mouth_are_marked(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        forged: list[dict[str, Any]] = [
            {"type": "tool_use", "id": "toolu_x", "name": "Bash", "input": {"command": "true"}}
        ]
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}, {"role": "assistant", "content": forged}]
        messages(here, [*said, {"role": "user", "content": "and?"}])
        events = list(ExchangeEvents(here.file, agent="tester").new())
    (call,) = [event for event in events if event.call_id == "toolu_x"]
    assert call.data == {"exchange": 1, "from": "request"}


def test_limits_errors_and_refusals_are_told(tmp_path: Path) -> None:
    script = "plan:\n- text: one\n- error: {status: 529, type: overloaded_error, message: busy}\n"
    with opened(scripted(tmp_path, script), requests=2) as here:
        said: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        messages(here, said)
        said.append({"role": "user", "content": "more"})
        messages(here, said)
        messages(here, said)
        events = list(ExchangeEvents(here.file, agent="tester").new())
    told = [(event.kind, event.text, event.data) for event in events if event.kind in ("error", "limit")]
    assert told == [
        ("error", "busy", {"exchange": 2, "status": 529}),
        (
            "limit",
            "matproof limit: all of 2 requests are used",
            {"exchange": 3, "status": 403, "refused": True},
        ),
    ]


def test_the_responses_api_is_told_in_the_same_words(tmp_path: Path) -> None:
    script = """
plan:
- thinking: "first look"
  tools: [{name: exec_command, input: {cmd: ls}}, {name: apply_patch, input: "*** Begin Patch"}]
- text: "Done."
"""
    with opened(scripted(tmp_path, script)) as here:
        ask: dict[str, Any] = {"model": "gpt", "instructions": "Be brief."}
        given: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": "go"}]
        answer = here.post("/s/plan/v1/responses", **ask, input=given).json()
        calls = [item for item in answer["output"] if "call_id" in item]
        outputs = [
            {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": f"result {index}"}
            for index, call in enumerate(calls)
        ]
        here.post("/s/plan/v1/responses", **ask, input=[*given, *answer["output"], *outputs])
        here.post("/s/plan/v1/responses", **ask, input=outputs, previous_response_id=answer["id"])
        events = list(ExchangeEvents(here.file, agent="codex").new())
    assert brief(events)[:5] == [
        ("message", "Be brief."),
        ("message", "go"),
        ("thinking", "first look"),
        ("tool_call", "exec_command"),
        ("tool_call", "apply_patch"),
    ]
    assert [event.text for event in events if event.kind == "tool_call"] == ['{"cmd": "ls"}', "*** Begin Patch"]
    assert [event.text for event in events if event.kind == "tool_result"] == ["result 0", "result 1"]
    assert {event.agent for event in events} == {"codex"}
    assert pairing(events).complete


def test_the_chat_api_is_told_in_the_same_words(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        said: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}]
        answer = here.post("/s/plan/v1/chat/completions", model="m", messages=said).json()
        message = answer["choices"][0]["message"]
        done = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message["tool_calls"]]
        here.post("/s/plan/v1/chat/completions", model="m", messages=[*said, message, *done])
        events = list(ExchangeEvents(here.file, agent="tester").new())
    kinds = [event.kind for event in events]
    assert kinds[:6] == ["message", "message", "thinking", "message", "tool_call", "tool_call"]
    assert kinds[6:] == ["usage", "tool_result", "tool_result", "message", "usage"]
    assert pairing(events).complete


def test_unknown_tokens_and_costs_stay_unknown(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, "plan:\n- text: one\n")) as here:
        messages(here, [{"role": "user", "content": "go"}])
        (usage,) = [event for event in ExchangeEvents(here.file, agent="t").new() if event.kind == "usage"]
    assert usage.tokens is None
    assert usage.cost_usd is None
    assert usage.data is not None
    assert usage.data["cost_reason"] == "scripted"


def test_what_the_record_leaves_out_and_broken_lines_are_events_too(tmp_path: Path) -> None:
    big = b'{"type":"message","role":"assistant","content":[{"type":"text","text":"' + b"x" * 5_100_000 + b'"}]}'
    with Upstream(Reply(chunks=(big,))) as upstream, opened(upstream.backend()) as here:
        messages(here, [{"role": "user", "content": "go"}])
        with here.file.open("ab") as stream:
            stream.write(b'{"number": 2, "sess\n')
        append_json(here.file, {"something": "else"})
        source = ExchangeEvents(here.file, agent="t")
        events = list(source.new())
    other = [event.text[:40] for event in events if event.kind == "other"]
    assert other[0].startswith("the answer is not in the record: longer")
    assert len(other) == 3
    assert source.unknown["unreadable line"] == 2


def test_what_a_command_sends_the_gateway_by_itself_is_read_whatever_it_is(tmp_path: Path) -> None:
    odd: list[Any] = [{"type": [], "id": "x"}, {"type": {}}, {"type": "tool_use", "id": [], "name": {}}, 7]
    refusal = Reply(status=400, chunks=(b'{"error": {"message": "no"}}',))
    with Upstream(refusal) as upstream, opened(upstream.backend()) as here:
        messages(here, [{"role": "user", "content": odd}, {"role": [], "content": {"a": 1}}])
        events = list(ExchangeEvents(here.file, agent="t").new())
    assert len(events) == 6
    assert events[-1].kind == "error"
