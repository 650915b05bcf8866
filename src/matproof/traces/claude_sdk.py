"""Messages of the Claude Agent SDK as trace events. Unknown kinds are kept as messages, never dropped."""

from typing import TYPE_CHECKING, Any

from matproof.traces.events import TraceWriter, as_text

if TYPE_CHECKING:
    from claude_agent_sdk.types import Message


def record_message(trace: TraceWriter, phase: str, message: "Message") -> None:
    """Append what `message` says to `trace`."""
    from claude_agent_sdk import AssistantMessage, ResultMessage, SystemMessage, UserMessage

    if isinstance(message, AssistantMessage | UserMessage):
        content = message.content
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if isinstance(content, str):
            trace.write(phase, "message", content, data={"role": role})
            return
        for block in content:
            _record_block(trace, phase, role, block)
    elif isinstance(message, ResultMessage):
        summary = {
            "subtype": message.subtype,
            "is_error": message.is_error,
            "turns": message.num_turns,
            "usage": message.usage,
        }
        # A good result repeats the last message; a bad one says why.
        said = message.result or "" if message.is_error else ""
        trace.write(phase, "error" if message.is_error else "usage", said, data=summary)
    elif not isinstance(message, SystemMessage):
        trace.write(phase, "message", str(message), data={"role": "client", "type": type(message).__name__})


def _record_block(trace: TraceWriter, phase: str, role: str, block: Any) -> None:
    from claude_agent_sdk import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock

    if isinstance(block, TextBlock):
        trace.write(phase, "message", block.text, data={"role": role})
    elif isinstance(block, ThinkingBlock):
        trace.write(phase, "thinking", block.thinking)
    elif isinstance(block, ToolUseBlock):
        trace.write(phase, "tool_call", block.input, tool=block.name, call_id=block.id)
    elif isinstance(block, ToolResultBlock):
        failed = {"is_error": True} if block.is_error else None
        trace.write(phase, "tool_result", _result_text(block.content), call_id=block.tool_use_id, data=failed)
    else:
        trace.write(phase, "message", str(block), data={"role": role, "type": type(block).__name__})


def _result_text(content: Any) -> str:
    if content is None:
        return ""
    if not isinstance(content, list):
        return as_text(content)
    return "\n".join(as_text(part.get("text", part) if isinstance(part, dict) else part) for part in content)
