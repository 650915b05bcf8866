"""Messages of the Claude Agent SDK as trace events. Unknown kinds are kept as messages, never dropped."""

from typing import TYPE_CHECKING, Any

from matproof.traces.blocks import result_text
from matproof.traces.claude_stream import session_tokens
from matproof.traces.events import Kind, TokenCounts, TraceWriter

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message, ResultMessage


def record_message(trace: TraceWriter, phase: str, message: "Message") -> None:
    """Append what `message` says to `trace`."""
    from claude_agent_sdk import AssistantMessage, ResultMessage, SystemMessage, UserMessage

    if isinstance(message, AssistantMessage | UserMessage):
        content = message.content
        role, model = ("assistant", message.model) if isinstance(message, AssistantMessage) else ("user", None)
        if isinstance(content, str):
            trace.write(phase, "message", content, model=model, data={"role": role})
            return
        for block in content:
            _record_block(trace, phase, role, model, block)
    elif isinstance(message, ResultMessage):
        summary = {
            "subtype": message.subtype,
            "is_error": message.is_error,
            "turns": message.num_turns,
            "usage": message.usage,
        }
        # A good result repeats the last message; a bad one says why.
        said = message.result or "" if message.is_error else ""
        kind: Kind = "error" if message.is_error else "usage"
        trace.write(phase, kind, said, tokens=_tokens(message), data={**summary, "scope": "session"})
    elif not isinstance(message, SystemMessage):
        trace.write(phase, "message", str(message), data={"role": "client", "type": type(message).__name__})


def _record_block(trace: TraceWriter, phase: str, role: str, model: object, block: Any) -> None:
    from claude_agent_sdk import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock

    if isinstance(block, TextBlock):
        trace.write(phase, "message", block.text, model=model, data={"role": role})
    elif isinstance(block, ThinkingBlock):
        trace.write(phase, "thinking", block.thinking, model=model)
    elif isinstance(block, ToolUseBlock):
        trace.write(phase, "tool_call", block.input, tool=block.name, call_id=block.id, model=model)
    elif isinstance(block, ToolResultBlock):
        failed = {"is_error": True} if block.is_error else None
        trace.write(phase, "tool_result", result_text(block.content), call_id=block.tool_use_id, data=failed)
    else:
        trace.write(phase, "message", str(block), data={"role": role, "type": type(block).__name__})


def _tokens(message: "ResultMessage") -> TokenCounts | None:
    """What the client counted. None where that is nothing at all: a scripted answer that tells no usage says zero."""
    counts = session_tokens({"modelUsage": message.model_usage, "usage": message.usage})
    return None if counts is None or not (counts.input or counts.output) else counts
