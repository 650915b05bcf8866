"""A client's own account beside the gateway's record: honest sessions agree, doctored accounts do not."""

import importlib.util
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from client_sessions import Session, session
from gateway_fixture import opened, scripted

from matproof.agents.claude_code.agent import ClaudeCode
from matproof.core.errors import InfrastructureError
from matproof.traces import called
from matproof.traces.agreement import MOST, disagreements
from matproof.traces.events import Event, TokenCounts
from matproof.traces.from_exchanges import ExchangeEvents
from matproof.traces.pairing import pairing
from matproof.traces.reading import read_events

Items = list[dict[str, Any]]
CLAUDE = """
plan:
- thinking: "first look"
  text: "I look."
  tools:
    - {name: Bash, input: {command: "printf 'one  two'; seq 3"}}
    - {name: Bash, input: {command: "cd {{ cwd }} && pwd\\n", timeout: "5000"}}
  usage: {input_tokens: 1200, output_tokens: 40}
- tools: [{name: Write, input: {file_path: "{{ cwd }}/out.txt", content: "x\\n"}}]
  usage: {input_tokens: 1300, output_tokens: 50}
- tools: [{name: Edit, input: {file_path: "{{ cwd }}/out.txt", old_string: "x\\n", new_string: "y  \\n"}}]
  usage: {input_tokens: 1400, output_tokens: 60}
- error: {status: 529, type: overloaded_error, message: "busy", times: 1}
  text: "Done:  all is well."
  usage: {input_tokens: 1500, output_tokens: 70}
- text: "Now I wrote up."
  usage: {input_tokens: 1700, output_tokens: 80}
"""
CODEX = """
plan:
- thinking: "first look"
  text: "I look."
  tools:
    - {name: exec_command, input: {cmd: "printf 'one  two'; seq 3"}}
    - {name: exec_command, input: {cmd: "echo \\"it's\\" && printf 'a\\\\nb' && false"}}
  usage: {input_tokens: 1200, output_tokens: 40}
- tools: [{name: apply_patch, input: "*** Begin Patch\\n*** Add File: out.txt\\n+hello\\n*** End Patch\\n"}]
  usage: {input_tokens: 1300, output_tokens: 50}
- tools: [{name: exec_command, input: {wrong: 1}}, {name: nothing_such, input: {a: 1}}]
  usage: {input_tokens: 1400, output_tokens: 60}
- text: "Done: all is well."
  usage: {input_tokens: 1500, output_tokens: 70}
- text: "Now I wrote up."
  usage: {input_tokens: 1700, output_tokens: 80}
"""


def resumed(client: Any, place: Path, script: str, model: str) -> list[Session]:
    """A session, and the same resumed to write up."""
    with opened(scripted(place, script), file=place / "exchanges.jsonl") as here:
        first = session(client, here, place / "home", model=model)
        return [first, session(client, here, place / "home", model=model, prompt="write up", resume=True)]


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    """Two runs of the real Claude client, one session."""
    if importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip("claude-agent-sdk is not installed")
    return resumed(ClaudeCode(), tmp_path_factory.mktemp("claude"), CLAUDE, "priced")


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    """Two runs of the real Codex client, one thread."""
    from matproof.agents.codex.agent import Codex

    try:
        Codex().program()
    except InfrastructureError as error:
        pytest.skip(str(error))
    return resumed(Codex(), tmp_path_factory.mktemp("codex"), CODEX, "gpt-5.5")


def items(sessions: list[Session]) -> Items:
    """What the client wrote, line by line."""
    return [json.loads(line) for each in sessions for line in each.stdout.read_text().splitlines()]


def compared(sessions: list[Session], told: Items, place: Path) -> list[str]:
    """What differs where the client had told `told`."""
    account = place / "account.jsonl"
    account.write_text("".join(json.dumps(item) + "\n" for item in told))
    return disagreements(read_events(account), seen(sessions))


def seen(sessions: list[Session]) -> list[Event]:
    """What the gateway saw."""
    return list(ExchangeEvents(sessions[0].exchanges, agent="client").new())


def test_an_honest_claude_session_agrees(claude: list[Session]) -> None:
    assert [each.returncode for each in claude] == [0, 0]
    told = list(chain.from_iterable(read_events(each.stdout) for each in claude))
    assert disagreements(told, seen(claude)) == []
    assert pairing(told).pairs == pairing(seen(claude)).pairs == 4
    totals = [event.tokens for event in told if event.kind == "usage"]
    assert totals[-1] == TokenCounts(input=7100, cached=0, cache_write=0, output=300)


def test_an_honest_codex_session_agrees(codex: list[Session]) -> None:
    assert [each.returncode for each in codex] == [0, 0]
    told = list(chain.from_iterable(read_events(each.stdout) for each in codex))
    assert disagreements(told, seen(codex)) == []
    assert (pairing(told).pairs, pairing(seen(codex)).pairs) == (3, 5)
    assert pairing(told).complete


def test_a_codex_session_in_which_the_model_writes_programs_agrees(codex: list[Session], tmp_path: Path) -> None:
    from matproof.agents.codex.agent import Codex

    script = """
plan:
- tools:
    - name: exec
      input: |
        for (const n of [1, 2]) { const r = await tools.exec_command({cmd: "seq " + n}); text(r.output); }
  usage: {input_tokens: 1200, output_tokens: 40}
- text: "Done."
  usage: {input_tokens: 1300, output_tokens: 50}
"""
    with opened(scripted(tmp_path, script), file=tmp_path / "exchanges.jsonl") as here:
        done = session(Codex(), here, tmp_path / "home", model="gpt-6-sol")
    told = list(read_events(done.stdout))
    assert [event.text for event in told if event.kind == "tool_result"] == ["1\n", "1\n2\n"]
    assert disagreements(told, seen([done])) == []


def test_a_client_that_was_stopped_half_way_agrees(claude: list[Session], codex: list[Session], tmp_path: Path) -> None:
    for sessions in (claude, codex):
        told = items(sessions[:1])
        record = tmp_path / "exchanges.jsonl"
        lines = sessions[0].exchanges.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(lines[:2]))
        account = tmp_path / "account.jsonl"
        account.write_text("".join(json.dumps(item) + "\n" for item in told[: len(told) // 3]))
        found = disagreements(read_events(account), ExchangeEvents(record, agent="client").new())
        assert [each for each in found if "no answer held" in each] == []


def call(items: Items) -> dict[str, Any]:
    """The first block that calls a tool, to be changed."""
    blocks = (block for item in items if item["type"] == "assistant" for block in item["message"]["content"])
    return next(block for block in blocks if block["type"] == "tool_use")


def invented(told: Items) -> None:
    block = {"type": "tool_use", "id": "toolu_forged", "name": "Bash", "input": {"command": "python relax.py"}}
    told.insert(4, {"type": "assistant", "message": {"role": "assistant", "content": [block]}})


def other_arguments(told: Items) -> None:
    call(told)["input"]["command"] = "python relax.py"


def other_tool(told: Items) -> None:
    call(told)["name"] = "Read"


def silent_call(told: Items) -> None:
    call(told).update(type="text", text="I look.")


def invented_words(told: Items) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "The relaxation converged."}]}
    told.insert(4, {"type": "assistant", "message": said})


def silent_words(told: Items) -> None:
    told[:] = [item for item in told if "I look." not in json.dumps(item)]


def fewer_tokens(told: Items) -> None:
    result = [item for item in told if item["type"] == "result"][-1]
    next(iter(result["modelUsage"].values()))["outputTokens"] = 12


@pytest.mark.parametrize(
    ("doctor", "sentence"),
    [
        (invented, 'the client reports a call of Bash that no answer held: “{"command": "python relax.py"}”'),
        (other_arguments, 'the client reports other arguments of a call of Bash: “{"command": "python relax.py"}”; '),
        (other_tool, "the client reports as Read a call that the model made of Bash: "),
        (
            silent_call,
            'the client does not report a call of Bash that the model made: “{"command": "printf \'one two\'',
        ),
        (invented_words, "the client reports words of the assistant that no answer held: “The relaxation converged.”"),
        (silent_words, "the client does not report what the assistant said: “I look.”"),
        (fewer_tokens, "the client reports 7,100 tokens read and 12 written, the gateway counted 7,100 and 300"),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_a_doctored_claude_account_is_told(
    claude: list[Session], tmp_path: Path, doctor: Callable[[Items], None], sentence: str
) -> None:
    told = items(claude)
    doctor(told)
    (found,) = compared(claude, told, tmp_path)
    assert found.startswith(sentence)


def codex_invented(told: Items) -> None:
    item = {"id": "item_77", "type": "command_execution", "command": "/bin/bash -c 'python relax.py'"}
    told.insert(3, {"type": "item.completed", "item": {**item, "aggregated_output": "", "exit_code": 0}})


def codex_silent(told: Items) -> None:
    told[:] = [item for item in told if "seq 3" not in json.dumps(item)]


def codex_file(told: Items) -> None:
    item = {"id": "item_77", "type": "file_change", "changes": [{"path": "/work/results.json", "kind": "add"}]}
    told.insert(3, {"type": "item.completed", "item": {**item, "status": "completed"}})


def codex_words(told: Items) -> None:
    told.insert(3, {"type": "item.completed", "item": {"id": "x", "type": "agent_message", "text": "It converged."}})


def codex_tokens(told: Items) -> None:
    [item for item in told if item["type"] == "turn.completed"][-1]["usage"]["input_tokens"] = 9


@pytest.mark.parametrize(
    ("doctor", "sentence"),
    [
        (codex_invented, "the client reports a call of command_execution that no answer held: "),
        (codex_silent, "the client does not report a call of exec_command that the model made: "),
        (codex_file, "the client reports a call of file_change that no answer held: "),
        (codex_words, "the client reports words of the assistant that no answer held: “It converged.”"),
        (codex_tokens, "the client reports 9 tokens read and 300 written, the gateway counted 7,100 and 300"),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_a_doctored_codex_account_is_told(
    codex: list[Session], tmp_path: Path, doctor: Callable[[Items], None], sentence: str
) -> None:
    told = items(codex)
    doctor(told)
    (found,) = compared(codex, told, tmp_path)
    assert found.startswith(sentence)


def test_words_that_only_a_request_holds_are_the_clients_own() -> None:
    gateway = [
        Event(kind="message", text="done", data={"role": "assistant", "exchange": 2, "from": "request"}),
        Event(kind="message", text="API Error: 529", data={"role": "assistant", "exchange": 2, "from": "request"}),
    ]
    assert disagreements([], gateway) == [
        "the client's requests hold words of the assistant that no answer held: “done”",
    ]


def test_harmless_differences_are_none() -> None:
    told = {"role": "assistant"}
    client = [
        Event(kind="message", text="a  b\n<system-reminder>x</system-reminder>", data=told),
        Event(kind="message", text="API Error: 529 busy", data=told, model="<synthetic>"),
        Event(kind="message", text="said only to a subagent", data={"role": "user"}),
        Event(kind="tool_call", tool="Bash", call_id="other", text='{"b": 1, "a": "x y", "c": false}'),
    ]
    common = {"role": "assistant", "exchange": 1}
    gateway = [
        Event(kind="message", text="a b", data=common, agent="c"),
        Event(
            kind="tool_call",
            tool="Bash",
            call_id="1",
            text='{"a": "x  y", "b": "1", "d": null}',
            data=common,
            agent="c",
        ),
        Event(kind="tool_call", tool="Bash", call_id="2", text="{}", data={"exchange": 2}, agent="c/2"),
        Event(kind="message", text="last words", data={**common, "exchange": 3}, agent="c"),
    ]
    assert disagreements(client, gateway) == []


def test_a_flood_of_differences_is_counted() -> None:
    client = [Event(kind="message", text=f"lie {number}", data={"role": "assistant"}) for number in range(100)]
    found = disagreements(client, [])
    assert len(found) == MOST
    assert found[-1] == "and 81 more of the kind"


@pytest.mark.timeout(30)  # a moment, or hours where it is split into words
def test_a_command_longer_than_any_system_runs_is_compared_at_once() -> None:
    command = json.dumps({"command": f"/bin/bash -lc '{'x' * 10_000_000}'"})
    client = [Event(kind="tool_call", tool="command_execution", call_id="i", text=command, agent="codex")]
    (told,) = disagreements(client, [])
    assert told.startswith("the client reports a call of command_execution that no answer held")


def test_an_account_that_takes_hours_to_compare_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(called, "LONGEST_S", 0.1)
    patch = json.dumps({"changes": [{"path": "/last"}] * 10_000})
    client = [Event(kind="tool_call", tool="file_change", call_id="i", text=patch, agent="codex")]
    made = json.dumps({"cmd": "x" * 200_000 + " last"})
    gateway = [Event(kind="tool_call", tool="exec_command", call_id="m", text=made, agent="codex")]
    with pytest.raises(TimeoutError, match="longer than"):
        disagreements(client, gateway)
