"""What a reply of any of the three APIs said, as a turn of a script holds it: thinking, text, tools, why it stopped."""

from dataclasses import dataclass, field
from typing import Any

from matproof.models.base import Json, WireApi
from matproof.models.conversation import ToolCall
from matproof.models.strict_json import parse_object

_DONE = (None, "end_turn", "tool_use", "stop", "tool_calls", "stop_sequence")


@dataclass(slots=True)
class Saying:
    """One reply. Parts of one kind are joined: a script has one of each in a turn."""

    thinking: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    tools: list[ToolCall] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """Ids of the tool calls."""
    stop: str | None = None
    left_out: list[str] = field(default_factory=list)
    """Types of what a script can't say, once each."""

    def tool(self, name: Any, given: Any, call: Any, namespace: Any = None) -> None:
        """Take a tool call; `given` is an object, or the text of one, or of a custom tool."""
        prefix = f"{namespace}__" if isinstance(namespace, str) and namespace else ""
        self.tools.append(ToolCall(name=f"{prefix}{name}", input=given))
        self.calls.append(str(call))

    def leave_out(self, kind: Any) -> None:
        """Note that something of this type was said."""
        if str(kind) not in self.left_out:
            self.left_out.append(str(kind)[:100])


def saying(api: WireApi, reply: Any) -> Saying:
    """What `reply` said. Raises ValueError where it is no reply of this API."""
    readers = {"messages": _message, "responses": _response, "chat": _completion}
    try:
        return readers[api](reply)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"its reply is not one of the {api} API") from error


def _message(reply: Json) -> Saying:
    said = Saying()
    for block in reply["content"]:
        if block["type"] == "text":
            said.text.append(str(block["text"]))
        elif block["type"] == "thinking":
            said.thinking.append(str(block["thinking"]))
        elif block["type"] == "tool_use":
            said.tool(block["name"], dict(block["input"]), block["id"])
        else:
            said.leave_out(block["type"])
    said.stop = _stop(reply.get("stop_reason"))
    return said


def _response(reply: Json) -> Saying:
    said = Saying()
    for item in reply["output"]:
        kind = item["type"]
        if kind == "message":
            said.text += [str(part.get("text", part.get("refusal", ""))) for part in item["content"]]
        elif kind == "reasoning":
            parts = [*(item.get("summary") or []), *(item.get("content") or [])]
            said.thinking += [str(part["text"]) for part in parts]
        elif kind == "function_call":
            said.tool(item["name"], _arguments(item["arguments"]), item["call_id"], item.get("namespace"))
        elif kind == "custom_tool_call":
            said.tool(item["name"], str(item["input"]), item["call_id"])
        else:
            said.leave_out(kind)
    if reply.get("status") == "incomplete":
        said.stop = str((reply.get("incomplete_details") or {}).get("reason") or "incomplete")
    return said


def _completion(reply: Json) -> Saying:
    said = Saying()
    choice = reply["choices"][0]
    message = choice["message"]
    said.thinking += [message["reasoning_content"]] if message.get("reasoning_content") else []
    said.text += [str(message[key]) for key in ("content", "refusal") if message.get(key) is not None]
    for call in message.get("tool_calls") or []:
        if call.get("type", "function") == "function":
            said.tool(call["function"]["name"], _arguments(call["function"]["arguments"]), call["id"])
        else:
            said.leave_out(f"tool call of type {call['type']}")
    said.stop = _stop(choice.get("finish_reason"))
    return said


def _stop(word: Any) -> str | None:
    return None if word in _DONE else str(word)


def _arguments(text: str) -> Json:
    found = parse_object(text or "{}")
    if found is None:
        raise ValueError("the input of a tool that it calls is not a JSON object")
    return found
