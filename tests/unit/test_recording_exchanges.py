"""From a gateway's record to a script: conversations, turns, and one clear line for what can't become one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gateway_fixture import Open, Reply, Upstream, opened, scripted

from matproof.cli import group
from matproof.core.errors import InputError
from matproof.core.files import append_json, read_json_lines
from matproof.models import anthropic_api, openai_chat
from matproof.models.base import Tokens
from matproof.models.conversation import Reply as Said
from matproof.models.conversation import ToolCall
from matproof.models.exchanges import MAX_TEXT_BYTES
from matproof.models.recording.recorder import Recording, record
from matproof.models.recording.saying import saying
from matproof.models.scripted import ScriptedBackend

TOOLS = [{"name": "Bash", "input_schema": {}}]
Talk = list[dict[str, Any]]


def begin(text: str) -> Talk:
    return [{"role": "user", "content": text}]


def ask(here: Open, talk: Talk, session: str = "plan", **more: Any) -> dict[str, Any]:
    """One Messages request with `talk`; the answer is added to it."""
    answer = here.post(f"/s/{session}/v1/messages", model="priced", tools=TOOLS, messages=talk, **more)
    body: dict[str, Any] = answer.json()
    if answer.status_code == 200:
        talk.append({"role": "assistant", "content": body["content"]})
    return body


def answer_calls(talk: Talk, *texts: str) -> Talk:
    """The results of the calls that were made last."""
    calls = [block["id"] for block in talk[-1]["content"] if block["type"] == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in zip(calls, texts, strict=True)
    ]
    return [*talk, {"role": "user", "content": results}]


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Recording]:
    """Records what `speak` says to a gateway with this script; of its sessions, all or those named."""

    def make(script: str, speak: Callable[[Open], None], *only: str) -> Recording:
        file = tmp_path / "exchanges.jsonl"
        with opened(scripted(tmp_path, script), file=file) as here:
            speak(here)
        return record(file, frozenset(only))

    return make


def turns(recording: Recording, session: str = "plan", number: int = 0) -> list[dict[str, Any]]:
    return list(recording.script["conversations"][session][number]["turns"])


TWO_TURNS = """
plan:
- thinking: hm
  text: I look.
  tools: [{name: Bash, input: {command: mktemp}}, {name: Bash, input: {command: date}}]
  usage: {input_tokens: 100, cached_tokens: 60, cache_write_tokens: 30, output_tokens: 7}
- text: "It is {{ tool_results[0] }}."
"""


def test_a_conversation_becomes_turns_with_what_each_expects(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        talk = begin("Working directory: /work/a")
        ask(here, talk)
        ask(here, answer_calls(talk, "/tmp/tmp.liJg8q6pDB", "Sat Nov 21 22:33:50 UTC 2026 in /work/a"))

    recording = made(TWO_TURNS, speak)
    (one,) = recording.script["conversations"]["plan"]
    assert (one["api"], one["tools"], one["begins"]) == ("messages", True, "Working directory: ⟨cwd⟩")
    first, second = one["turns"]
    assert first == {
        "thinking": "hm",
        "text": "I look.",
        "tools": [{"name": "Bash", "input": {"command": word}} for word in ("mktemp", "date")],
        "usage": {"input_tokens": 100, "cached_tokens": 60, "cache_write_tokens": 30, "output_tokens": 7},
    }
    assert second == {
        "expect": ["⟨path⟩", "⟨date⟩ in ⟨cwd⟩"],
        "text": "It is {{ tool_results[0] | volatile('path', 0) }}.",
    }
    assert (recording.templates, recording.notes) == ({"path": 1}, [])


def test_conversations_of_a_session_are_told_apart_by_how_they_begin(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        main, other = begin("Do it."), begin("Count.")
        ask(here, main)
        ask(here, other)
        ask(here, answer_calls(main, "a", "b"))
        ask(here, answer_calls(other, "c", "d"))

    recording = made(TWO_TURNS, speak)
    assert [one["begins"] for one in recording.script["conversations"]["plan"]] == ["Do it.", "Count."]
    assert [turns(recording, number=number)[1]["expect"] for number in (0, 1)] == [["a", "b"], ["c", "d"]]


def test_sessions_of_one_name_that_begin_alike_are_conversations_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    script = "diagnose:\n- tools: [{name: Bash, input: {command: ls}}]\n- text: '{{ tool_results[0] }}'\n"
    with opened(scripted(tmp_path, script), file=file) as here:
        for text in ("one", "two"):
            with here.gateway.session("diagnose") as label:
                talk = begin("Why?")
                ask(here, talk, label)
                ask(here, answer_calls(talk, text), label)
    recording = record(file)
    assert [turns(recording, "diagnose", number)[1]["text"] for number in (0, 1)] == ["one", "two"]


def test_a_retry_takes_the_place_of_what_it_repeats(made: Callable[..., Recording]) -> None:
    faults = "plan:\n- error: {status: 529, type: overloaded_error, times: 1}\n  cut: 1\n  text: at last\n"

    def speak(here: Open) -> None:
        ask(here, begin("go"))
        with pytest.raises(Exception, match="closed"):
            ask(here, begin("go"), stream=True)
        ask(here, begin("go"))

    recording = made(faults, speak)
    assert turns(recording) == [{"text": "at last"}]
    assert recording.notes == []


def test_what_stayed_an_error_is_that_error_again(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        for _ in range(2):
            assert ask(here, begin("go"))["error"]["message"] == "too long: {%"

    message = "too long: {{ '{%' }}"
    recording = made(f'plan:\n- error: {{status: 400, type: invalid_request_error, message: "{message}"}}\n', speak)
    error = {"status": 400, "type": "invalid_request_error", "message": "too long: {{ '{' }}%"}
    assert turns(recording) == [{"error": error}]


def test_an_answer_that_broke_off_for_good_is_noted(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        talk = begin("go")
        ask(here, talk)
        with pytest.raises(Exception, match="closed"):
            ask(here, answer_calls(talk, "x"), stream=True)

    recording = made("plan:\n- tools: [{name: Bash, input: {}}]\n- {text: so, cut: 9}\n", speak)
    assert len(turns(recording)) == 1
    assert recording.notes == ["exchange 2: its answer broke off, and the script ends before it"]


def test_a_request_without_tools_is_a_helper_of_its_own(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        ask(here, begin("go"))
        here.post("/s/plan/v1/messages", model="priced", messages=begin("go"))

    recording = made("plan:\n- text: hi\n", speak)
    assert [one["tools"] for one in recording.script["conversations"]["plan"]] == [True, False]


def test_only_the_sessions_that_were_asked_for_are_recorded(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        for session in ("plan", "setup"):
            ask(here, begin("go"), session)

    recording = made("plan:\n- text: a\nsetup:\n- text: b\n", speak, "setup")
    assert recording.script["conversations"].keys() == {"setup"}


def test_counts_of_tokens_and_refused_requests_are_no_turns(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, "plan:\n- text: a\n- text: b\n"), file=file, requests=2) as here:
        here.post("/s/plan/v1/messages/count_tokens", model="priced", messages=begin("go"))
        talk = begin("go")
        ask(here, talk)
        assert "limit" in ask(here, [*talk, *begin("on")])["error"]["message"]
    assert turns(record(file)) == [{"text": "a"}]


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ cwd }} {% raw %} {# x #} ${{ secrets }} {{ file('/etc/passwd') }}",
        "{% endraw %}{{ ''.__class__ }}",
        "{$: 1 + 1}",
        "\r\n\x85\u2028",
    ],
)
def test_what_a_model_wrote_is_never_a_template(hostile: str, tmp_path: Path) -> None:
    tool = ToolCall(name="Bash", input={"command": hostile, "$": {"$": hostile}})
    said = Said(id="x1", model="priced", thinking=hostile, text=hostile, tools=(tool,), tokens=Tokens())
    reply = anthropic_api.plain(said)
    file = tmp_path / "exchanges.jsonl"
    provider = Upstream(Reply(chunks=(json.dumps(reply).encode(),)))
    with provider as upstream, opened(upstream.backend(), file=file) as here:
        ask(here, begin(hostile))
    result = CliRunner().invoke(group, ["record", str(file), "-o", str(tmp_path / "script.yaml")])
    assert result.exit_code == 0, result.output
    with opened(ScriptedBackend(tmp_path / "script.yaml", files=())) as here:
        content = ask(here, begin(hostile))["content"]
    told = [block.get("thinking") or block.get("text") or block.get("input") for block in content]
    assert told == [hostile, hostile, tool.input]


def test_parts_that_scripts_do_not_have_are_noted_and_the_rest_is_kept() -> None:
    said = saying(
        "messages",
        {
            "content": [
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}},
            ],
            "stop_reason": "max_tokens",
        },
    )
    assert (said.text, said.calls, said.stop) == (["a", "b"], ["t1"], "max_tokens")
    assert said.left_out == ["redacted_thinking"]


@pytest.mark.parametrize(
    ("api", "reply", "stop"),
    [
        ("messages", {"content": [], "stop_reason": "end_turn"}, None),
        ("messages", {"content": [], "stop_reason": "refusal"}, "refusal"),
        ("responses", {"output": [], "status": "completed"}, None),
        ("responses", {"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
         "max_output_tokens"),
        ("chat", {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}, "length"),
    ],
)  # fmt: skip
def test_why_an_answer_stopped_short_is_kept(api: Any, reply: Any, stop: str | None) -> None:
    assert saying(api, reply).stop == stop


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_an_answer_that_stopped_short_stops_short_again(stop: str, tmp_path: Path) -> None:
    with opened(scripted(tmp_path, f"plan:\n- {{text: half, stop: {stop}}}\n")) as here:
        assert ask(here, begin("go"))["stop_reason"] == stop
        body = here.post("/s/plan/v1/responses", model="m", input="go", stream=True).text
        assert '"type":"response.incomplete"' in body.replace(": ", ":")
        chat = here.post("/s/plan/v1/chat/completions", model="m", messages=begin("go")).json()
        assert chat["choices"][0]["finish_reason"] == stop


def test_a_chat_with_tools_is_recorded_too(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    tools = [{"type": "function", "function": {"name": "Bash", "parameters": {}}}]
    with opened(scripted(tmp_path, TWO_TURNS), file=file) as here:
        talk: Talk = begin("go")
        message = here.post("/s/plan/v1/chat/completions", model="m", messages=talk, tools=tools).json()
        message = message["choices"][0]["message"]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "/tmp/a"} for call in message["tool_calls"]]
        here.post("/s/plan/v1/chat/completions", model="m", messages=[*talk, message, *results], tools=tools)
    first, second = turns(record(file))
    assert first["tools"][0] == {"name": "Bash", "input": {"command": "mktemp"}}
    assert first["usage"] == {"input_tokens": 100, "cached_tokens": 60, "cache_write_tokens": 30, "output_tokens": 7}
    assert second["expect"] == ["⟨path⟩", "⟨path⟩"]


def test_conversations_that_the_provider_keeps_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, TWO_TURNS), file=file) as here:
        first = here.post("/s/plan/v1/responses", model="m", input="go").json()
        calls = [item["call_id"] for item in first["output"] if item["type"] == "function_call"]
        outputs = [{"type": "function_call_output", "call_id": call, "output": "/tmp/a"} for call in calls]
        here.post("/s/plan/v1/responses", model="m", input=outputs, previous_response_id=first["id"])
    assert turns(record(file))[1]["expect"] == ["⟨path⟩", "⟨path⟩"]


def refused(file: Path, field: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        record(file)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value)


def test_a_body_that_was_left_out_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, "plan:\n- text: hi\n"), file=file) as here:
        ask(here, begin("x" * (MAX_TEXT_BYTES + 1)))
    refused(file, "exchange 1", f"its request is not in the record: longer than {MAX_TEXT_BYTES} bytes")


def test_a_huge_tool_result_is_recorded_by_its_beginning(made: Callable[..., Recording]) -> None:
    def speak(here: Open) -> None:
        talk = begin("go")
        ask(here, talk)
        ask(here, answer_calls(talk, "energy -15.8 eV\n" * 250_000, "b"))

    recording = made(TWO_TURNS.replace("{{ tool_results[0] }}", "long"), speak)
    long, short = turns(recording)[1]["expect"]
    assert (len(long) < 1200, short) == (True, "b")


def test_two_conversations_that_nobody_can_tell_apart_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, TWO_TURNS), file=file) as here:
        twins = [begin("same"), begin("same")]
        for talk in twins:
            ask(here, talk, temperature=0.5)
        talk = twins[0]
        for block in talk[1]["content"]:
            block |= {"id": f"other-{block['id']}"} if block["type"] == "tool_use" else {}
        ask(here, answer_calls(talk, "a", "b"))
    refused(file, "exchange 3", "it continues no conversation of the record, or one of several that begin alike")


def test_a_history_that_begins_in_the_middle_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, "plan:\n- text: a\n- text: b\n"), file=file) as here:
        ask(here, [*begin("go"), {"role": "assistant", "content": "earlier"}, *begin("on")])
    refused(file, "exchange 1", "it continues no conversation of the record")


@pytest.mark.parametrize(
    ("content", "field", "problem"),
    [
        ("", "", "holds no answered exchange"),
        ("no json\n", "", "not lines of JSON"),
        ('{"kind": "message"}\n', "line 1", "number: missing"),
    ],
)
def test_what_is_no_record_of_a_gateway_is_refused(tmp_path: Path, content: str, field: str, problem: str) -> None:
    file = tmp_path / "exchanges.jsonl"
    file.write_text(content)
    refused(file, field, problem)


def test_a_tool_input_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    tool = ToolCall(name="Bash", input={"deep": deep})
    reply = openai_chat.plain(Said(id="x", model="m", thinking=None, text=None, tools=(tool,), tokens=Tokens()))
    file = tmp_path / "exchanges.jsonl"
    backend = Upstream(Reply(chunks=(json.dumps(reply).encode(),)))
    with backend as upstream, opened(upstream.backend(api="openai"), file=file) as here:
        here.post("/s/plan/v1/chat/completions", model="m", messages=begin("go"))
    refused(file, "exchange 1", "nested too deeply")


@pytest.mark.parametrize("api", ["messages", "responses", "chat"])
@pytest.mark.parametrize("reply", [None, "text", [], {}, {"content": 3}, {"output": [1]}, {"choices": []}])
def test_a_reply_of_another_form_is_told_as_such(api: Any, reply: Any) -> None:
    with pytest.raises(ValueError, match="its reply is not one of"):
        saying(api, reply)


def test_the_command_says_what_it_wrote_and_where_a_record_is_missing(tmp_path: Path) -> None:
    attempt = tmp_path / "attempts/001"
    with opened(scripted(tmp_path, TWO_TURNS), file=attempt / "exchanges.jsonl") as here:
        talk = begin("go")
        ask(here, talk)
        ask(here, answer_calls(talk, "/tmp/a", "b"))
    for given in (attempt, attempt / "exchanges.jsonl", attempt / "run.json"):
        for name in ("script.yaml", "script.json"):
            result = CliRunner().invoke(group, ["record", str(given), "-o", str(tmp_path / name)])
            assert result.output.splitlines() == [
                "plan: 1 conversation, 2 turns",
                f"written: {tmp_path / name} with 1 template (path 1)",
            ]
    result = CliRunner().invoke(group, ["record", str(tmp_path / "nothing"), "-o", str(tmp_path / "x.yaml")])
    assert isinstance(result.exception, InputError)
    assert "holds no exchanges.jsonl" in str(result.exception)


def test_records_without_numbers_of_sessions_can_still_be_read(tmp_path: Path) -> None:
    file, older = tmp_path / "exchanges.jsonl", tmp_path / "older.jsonl"
    with opened(scripted(tmp_path, "plan:\n- text: hi\n"), file=file) as here:
        ask(here, begin("go"))
    for line in read_json_lines(file):
        append_json(older, {key: value for key, value in line.items() if key not in ("session_number", "drift")})
    assert record(older).script == record(file).script
