"""The scripted backend behind the gateway, asked over its socket in three APIs; by the openai client in its own two."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from gateway_fixture import Open, opened, scripted
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from matproof.models.observing import Observer

SCRIPT = """
plan:
- thinking: "look first"
  text: "I look."
  tools: [{name: Bash, input: {command: "cat {{ cwd }}/a.json"}}, {name: Bash, input: {command: "true"}}]
- text: "a0 = {{ (tool_results[0] | from_json).a0 }} after {{ turn }} as {{ model }} in {{ session }}"
- tools: [{name: StructuredOutput, input: {ok: {$: "abs((tool_results[0] | from_json).a0 - 5.43) < 0.01"}}}]
"""
SYSTEM = "Working directory: /work/artifacts"


def answered(*results: str, turn: int) -> list[dict[str, Any]]:
    """A Messages history after `turn` rounds."""
    blocks = [{"type": "tool_result", "tool_use_id": f"t{at}", "content": text} for at, text in enumerate(results)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for at in range(turn):
        messages += [{"role": "assistant", "content": "…"}, {"role": "user", "content": blocks if at == 0 else "on"}]
    return messages


def client_of(here: Open, session: str = "plan") -> openai.OpenAI:
    transport = here.transport()
    return openai.OpenAI(
        base_url=f"http://gateway/s/{session}/v1",
        api_key="placeholder",
        http_client=httpx2.Client(transport=transport),
        max_retries=2,
    )


def test_numbers_flow_from_what_really_ran(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:

        def ask(turn: int, *results: str) -> Any:
            messages = answered(*results, turn=turn)
            return here.post("/s/plan/v1/messages?beta=true", model="m", system=SYSTEM, messages=messages).json()

        first = ask(0)
        assert [block["type"] for block in first["content"]] == ["thinking", "text", "tool_use", "tool_use"]
        assert first["content"][2]["input"] == {"command": "cat /work/artifacts/a.json"}
        assert first["stop_reason"] == "tool_use"
        assert ask(1, '{"a0": 5.4312}')["content"][0]["text"] == "a0 = 5.4312 after 1 as m in plan"
        assert ask(2, '{"a0": 5.4312}')["content"][0]["input"] == {"ok": True}
        assert ask(2, '{"a0": 5.6}')["content"][0]["input"] == {"ok": False}


def test_ids_are_the_same_in_every_run_and_differ_between_turns(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with opened(scripted(tmp_path, "plan:\n- text: a\n- text: b\nsetup:\n- text: a\n")) as here:
            asked = [("plan", 0), ("plan", 1), ("setup", 0)]
            posts = [
                here.post(f"/s/{name}/v1/messages", model="m", messages=answered(turn=turn)) for name, turn in asked
            ]
            ids.append([post.json()["id"] for post in posts])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


def test_the_stream_and_the_plain_answer_are_one(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        body = {"model": "m", "system": SYSTEM, "messages": answered(turn=0)}
        plain = here.post("/s/plan/v1/messages", **body).json()
        streamed = here.post("/s/plan/v1/messages", **body, stream=True)
        assert streamed.headers["content-type"] == "text/event-stream"
        observer = Observer("messages", status=200, events=True)
        observer.feed(streamed.content)
        assert observer.body == plain
        assert [exchange.reply.body for exchange in here.exchanges()] == [plain, plain]


def test_the_openai_client_talks_chat(tmp_path: Path) -> None:
    tools: list[ChatCompletionToolParam] = [{"type": "function", "function": {"name": "Bash", "parameters": {}}}]
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "go"},
    ]
    with opened(scripted(tmp_path, SCRIPT)) as here, client_of(here) as client:
        first = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0]
        assert first.finish_reason == "tool_calls"
        calls = first.message.tool_calls or []
        assert [json.loads(call.function.arguments) for call in calls if call.type == "function"] == [
            {"command": "cat /work/artifacts/a.json"},
            {"command": "true"},
        ]
        said: Any = {"role": "assistant", "tool_calls": [call.model_dump() for call in calls]}
        messages.append(said)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": '{"a0": 5.43}'} for call in calls]
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            assert stream.get_final_completion().choices[0].message.content == "a0 = 5.43 after 1 as m in plan"


def test_the_openai_client_talks_responses_with_items_and_with_a_previous_response(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here, client_of(here) as client:
        first = client.responses.create(model="m", instructions=SYSTEM, input="go")
        assert [item.type for item in first.output] == ["reasoning", "message", "function_call", "function_call"]
        outputs: Any = [
            {"type": "function_call_output", "call_id": item.call_id, "output": '{"a0": 5.43}'}
            for item in first.output
            if item.type == "function_call"
        ]
        second = client.responses.create(model="m", input=outputs, previous_response_id=first.id)
        assert second.output_text == "a0 = 5.43 after 1 as m in plan"
        third = client.responses.create(model="m", input="on", previous_response_id=second.id)
        assert [item.arguments for item in third.output if item.type == "function_call"] == ['{"ok": true}']
        items: Any = [{"role": "user", "content": "go"}, *(item.model_dump() for item in first.output), *outputs]
        with client.responses.stream(model="m", input=items) as stream:
            assert stream.get_final_response().output_text == second.output_text


def test_two_conversations_of_one_session_keep_their_own_responses(tmp_path: Path) -> None:
    script = "x:\n- text: hi\n- text: 'you said {{ prompt }}'\n"
    with opened(scripted(tmp_path, script)) as here, client_of(here, "x") as client:
        first, other = (client.responses.create(model="m", input=text) for text in ("one", "two"))
        answers = [client.responses.create(model="m", input="?", previous_response_id=it.id) for it in (first, other)]
        assert [answer.output_text for answer in answers] == ["you said one", "you said two"]


def test_a_custom_tool_reaches_the_responses_api_as_text(tmp_path: Path) -> None:
    script = "x:\n- tools: [{name: apply_patch, input: '*** Begin Patch'}]\n"
    with opened(scripted(tmp_path, script)) as here, client_of(here, "x") as client:
        item = client.responses.create(model="m", input="go").output[0]
        assert item.type == "custom_tool_call"
        assert item.input == "*** Begin Patch"
        assert here.post("/s/x/v1/messages", model="m", messages=answered(turn=0)).status_code == 400


def test_a_turn_that_the_script_lacks_is_named(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.post("/s/plan/v1/messages", model="m", messages=answered("{}", turn=3))
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "the script has no turn 3 for session plan"
        other = here.post("/s/judge/v1/messages", model="m", messages=answered(turn=0))
        assert other.json()["error"]["message"] == "the script has no turn 0 for session judge"
        assert here.failure() is None


def test_a_session_with_a_part_falls_back_to_its_own_name(tmp_path: Path) -> None:
    script = "diagnose:\n- text: any\ndiagnose:relax:\n- text: relax\n"
    with opened(scripted(tmp_path, script)) as here:
        asked = ("diagnose", "diagnose:relax", "diagnose:other")
        texts = [here.post(f"/s/{name}/v1/messages", model="m", messages=answered(turn=0)).json() for name in asked]
        assert [text["content"][0]["text"] for text in texts] == ["any", "relax", "any"]


def test_a_template_that_fails_on_a_result_is_told_with_its_turn(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.post("/s/plan/v1/messages", model="m", messages=answered("not json", turn=1))
        assert answer.status_code == 400
        assert "turn 1 of the script for session plan can't be rendered" in answer.json()["error"]["message"]


def test_results_of_parallel_calls_stand_in_the_order_of_the_calls(tmp_path: Path) -> None:
    script = "x:\n- text: a\n- text: \"{{ tool_results | join(' ') }}\"\n"
    asked: list[dict[str, Any]] = [
        {"type": "tool_use", "id": name, "name": "Bash", "input": {}} for name in ("one", "two")
    ]
    told = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("two", "one")]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": asked},
        {"role": "user", "content": told},
    ]
    with opened(scripted(tmp_path, script)) as here:
        answer = here.post("/s/x/v1/messages", model="m", messages=messages)
        assert answer.json()["content"][0]["text"] == "one two"


def test_a_result_is_data_and_never_a_template(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, "x:\n- text: a\n- text: '{{ tool_results[0] }}'\n")) as here:
        answer = here.post("/s/x/v1/messages", model="m", messages=answered("{{ file('x') }}{% raw %}", turn=1))
        assert answer.json()["content"][0]["text"] == "{{ file('x') }}{% raw %}"


def test_an_error_comes_as_often_as_the_script_says_for_each_conversation(tmp_path: Path) -> None:
    script = """
    x:
    - error: {status: 529, type: overloaded_error, message: "busy {{ turn }}", retry_after: 0.5, times: 2}
      text: at last
    """
    with opened(scripted(tmp_path, textwrap.dedent(script))) as here:
        for prompt in ("one", "two"):
            body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
            answers = [here.post("/s/x/v1/messages", **body) for _ in range(4)]
            assert [answer.status_code for answer in answers] == [529, 529, 200, 200]
            assert answers[0].json()["error"] == {
                "type": "overloaded_error",
                "message": "busy 0",
                "code": None,
                "param": None,
            }
            assert answers[0].headers["retry-after"] == "0.5"
        assert here.failure("x") is None


def test_the_openai_client_gets_over_an_error(tmp_path: Path) -> None:
    script = "x:\n- error: {status: 429, type: rate_limit_error, retry_after: 0.01, times: 1}\n  text: at last\n"
    with opened(scripted(tmp_path, script)) as here, client_of(here, "x") as client:
        assert client.responses.create(model="m", input="go").output_text == "at last"
        assert [exchange.status for exchange in here.exchanges()] == [429, 200]


@pytest.mark.parametrize("stream", [True, False])
def test_a_cut_answer_breaks_and_then_comes_whole(tmp_path: Path, stream: bool) -> None:
    with opened(scripted(tmp_path, "x:\n- text: whole\n  cut: 2\n")) as here:
        body = {"model": "m", "messages": answered(turn=0), "stream": stream}
        for _ in range(2):
            with pytest.raises(httpx2.RemoteProtocolError):
                here.post("/s/x/v1/messages", **body)
        assert here.post("/s/x/v1/messages", **body).status_code == 200
        assert [exchange.complete for exchange in here.exchanges()] == [False, False, True]
        assert here.exchanges()[0].error == "the script cuts this answer"
        assert here.failure("x") is None


def test_usage_is_what_the_script_says_or_unknown(tmp_path: Path) -> None:
    script = "x:\n- text: a\n  usage: {input_tokens: 100, output_tokens: 7}\ny:\n- text: b\n"
    with opened(scripted(tmp_path, script)) as here:
        for session in ("x", "y"):
            answer = here.post(f"/s/{session}/v1/messages", model="priced", messages=answered(turn=0)).json()
            assert set(map(type, (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]))) == {int}
        x, y = here.gateway.usage("x"), here.gateway.usage("y")
        assert (x.requests, x.input_tokens, x.output_tokens, x.cost_usd, x.cost_reason) == (1, 100, 7, None, "scripted")
        assert (y.requests, y.input_tokens, y.output_tokens, y.cost_usd, y.cost_reason) == (
            1,
            None,
            None,
            None,
            "scripted",
        )
        assert here.gateway.usage().input_tokens is None


def test_tokens_are_counted_roughly(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.post("/s/plan/v1/messages/count_tokens", model="m", messages=answered(turn=0))
        assert answer.json()["input_tokens"] > 0


@pytest.mark.parametrize("messages", [None, "go", ["go"], [{"role": "user"}, 3]])
def test_a_request_of_another_shape_is_refused(tmp_path: Path, messages: Any) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        for path in ("messages", "chat/completions"):
            assert here.post(f"/s/plan/v1/{path}", model="m", messages=messages).status_code == 400
        assert here.post("/s/plan/v1/responses", model="m", input=[3]).status_code == 400


@pytest.mark.parametrize("content", [None, 7, [], [None], [{"type": "text"}], [{"type": "tool_result", "content": {}}]])
def test_odd_content_upsets_nothing(tmp_path: Path, content: Any) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        messages = [{"role": "user", "content": content}, {"role": 5}]
        body = {"model": ["m"], "system": SYSTEM, "messages": messages}
        assert here.post("/s/plan/v1/messages", **body).status_code == 200
        tools = {"role": "user", "tool_calls": content, "content": SYSTEM}
        assert here.post("/s/plan/v1/chat/completions", **body | {"messages": [tools]}).status_code == 200
        items = [{"role": "user", "content": content, "output": content}, {"content": SYSTEM, "role": "user"}]
        assert here.post("/s/plan/v1/responses", model=5, input=items).status_code == 200


def test_opening_a_gateway_loads_no_heavy_library_of_another_room() -> None:
    code = (
        "import sys, matproof.models.opening; print([m for m in ('pandas', 'httpx2', 'uvicorn') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
