"""Messages of the Claude Agent SDK in a trace."""

from pathlib import Path
from typing import Any

import pytest

sdk = pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")

from matproof.traces.claude_sdk import record_message
from matproof.traces.events import TokenCounts, TraceEvent, TraceWriter, read_trace


def recorded(place: Path, *messages: Any) -> list[TraceEvent]:
    """The trace of `messages`."""
    trace = TraceWriter(place / "trace.jsonl")
    for message in messages:
        record_message(trace, "plan", message)
    trace.close()
    return list(read_trace(place / "trace.jsonl"))


def result(**changes: Any) -> Any:
    """A session's end."""
    common = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 2}
    return sdk.ResultMessage(**common, session_id="s", **changes)


def test_answers_tell_their_model_and_ends_their_tokens(tmp_path: Path) -> None:
    blocks = [
        sdk.ThinkingBlock(thinking="hm", signature="s"),
        sdk.TextBlock(text="I look."),
        sdk.ToolUseBlock(id="t1", name="Bash", input={"command": "ls"}),
    ]
    usage = {"m": {"inputTokens": 5, "cacheReadInputTokens": 100, "cacheCreationInputTokens": 10, "outputTokens": 7}}
    events = recorded(
        tmp_path,
        sdk.AssistantMessage(content=blocks, model="m"),
        sdk.UserMessage(content=[sdk.ToolResultBlock(tool_use_id="t1", content="a.txt", is_error=True)]),
        result(usage={"input_tokens": 1}, model_usage=usage),
    )
    assert [(event.kind, event.model) for event in events] == [
        ("thinking", "m"),
        ("message", "m"),
        ("tool_call", "m"),
        ("tool_result", None),
        ("usage", None),
    ]
    assert events[3].data == {"is_error": True}
    assert events[4].tokens == TokenCounts(input=115, cached=100, cache_write=10, output=7)


def test_a_script_that_tells_no_usage_leaves_it_unknown(tmp_path: Path) -> None:
    (event,) = recorded(tmp_path, result(usage={"input_tokens": 0, "output_tokens": 0}, model_usage={}))
    assert (event.kind, event.tokens, event.cost_usd) == ("usage", None, None)
