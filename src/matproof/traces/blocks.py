"""What was said, block by block: the contents of all three model APIs in one form, and blocks as events.

The form is Anthropic's: `text`, `thinking`, `tool_use` and `tool_result` blocks. What the other APIs say that has no
counterpart stays as it is, and becomes an event of kind `other`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from matproof.models.base import Json, Rejection, WireApi
from matproof.models.conversation import text_of, without_reminders
from matproof.models.openai_responses import items
from matproof.traces.events import Event, as_text

Said = tuple[str, Json]
"""Role (`user`, `assistant`, `system`) and block."""
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


def said_in_request(api: WireApi, body: Json) -> Iterator[Said]:
    """Everything that a request says, in order. Nothing for a body that is no request of this API."""
    if api == "responses":
        yield from _as_blocks("system", body.get("instructions"))
        try:
            yield from said_in_items(items(body))
        except Rejection:
            return
    elif api == "chat":
        for message in dicts(body.get("messages")):
            yield from _said_in_chat(message)
    else:
        yield from _as_blocks("system", text_of(body.get("system")))
        for message in dicts(body.get("messages")):
            yield from _as_blocks(_role(message), message.get("content"))


def said_in_reply(api: WireApi, reply: Json) -> Iterator[Said]:
    """Everything that the assistant answers."""
    if api == "responses":
        yield from said_in_items(dicts(reply.get("output")))
    elif api == "chat":
        for choice in dicts(reply.get("choices")):
            if isinstance(choice.get("message"), dict):
                yield from _said_in_chat({"role": "assistant", **choice["message"]})
    else:
        yield from _as_blocks("assistant", reply.get("content"))


def said_in_items(given: list[Json]) -> Iterator[Said]:
    """Items of the Responses API."""
    for item in given:
        kind = item.get("type")
        if kind == "message" or (kind is None and "role" in item):
            yield from _as_blocks(_role(item), item.get("content"))
        elif kind in _CALLS:
            arguments = item.get("input" if kind == "custom_tool_call" else "arguments")
            space = item.get("namespace")
            name = f"{space}__{item.get('name')}" if isinstance(space, str) and space else item.get("name")
            yield "assistant", {"type": "tool_use", "id": item.get("call_id"), "name": name, "input": arguments}
        elif kind in _RESULTS:
            result = {"type": "tool_result", "tool_use_id": item.get("call_id"), "content": item.get("output")}
            yield "user", result
        elif kind == "reasoning":
            thought = "\n".join(filter(None, (text_of(item.get("summary")), text_of(item.get("content")))))
            yield "assistant", {"type": "thinking", "thinking": thought, "id": item.get("id")}
        else:
            yield "assistant" if str(kind).endswith("_call") else "user", item


def _said_in_chat(message: Json) -> Iterator[Said]:
    role = _role(message)
    if role == "tool":
        content = message.get("content")
        yield "user", {"type": "tool_result", "tool_use_id": message.get("tool_call_id"), "content": content}
        return
    if isinstance(thought := message.get("reasoning_content"), str) and thought:
        yield role, {"type": "thinking", "thinking": thought}
    yield from _as_blocks(role, message.get("content"))
    yield from _as_blocks(role, message.get("refusal"))
    for call in dicts(message.get("tool_calls")):
        given = call.get("function") if isinstance(call.get("function"), dict) else call.get("custom")
        inner = given if isinstance(given, dict) else {}
        arguments = inner.get("arguments", inner.get("input"))
        yield role, {"type": "tool_use", "id": call.get("id"), "name": inner.get("name"), "input": arguments}


def _as_blocks(role: str, content: Any) -> Iterator[Said]:
    if isinstance(content, str):
        if content:
            yield role, {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            yield role, block if isinstance(block, dict) else {"type": "text", "text": as_text(block)}
    elif content is not None:
        yield role, {"type": "unknown", "content": content}


def _role(message: Json) -> str:
    role = message.get("role")
    return "system" if role == "developer" else role if isinstance(role, str) else "user"


def dicts(value: Any) -> list[Json]:
    """The objects of a list; nothing where `value` is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def key_of(role: str, block: Json) -> tuple[Any, ...]:
    """What makes a block the same one when a later request repeats it.

    Calls and results are known by the call's id: clients shorten old results and put arguments in another order. Texts
    are compared without the reminders and the space around them that come and go.
    """
    kind = as_text(block.get("type"))
    if kind == "tool_use" and isinstance(block.get("id"), str):
        return "call", block["id"]
    if kind == "tool_result" and isinstance(block.get("tool_use_id"), str):
        return "result", block["tool_use_id"]
    if isinstance(text := block.get("text"), str):
        return role, hash(without_reminders(text).strip() or text.strip())
    if isinstance(thought := block.get("thinking"), str) and (thought or "id" not in block):
        return "thinking", hash(thought.strip())
    own = block.get("id")
    return (kind, own) if isinstance(own, str) else (kind, hash(as_text(block)))


def block_event(block: Json, role: str, unknown: Counter[str], data: Json | None = None, **common: Any) -> Event:
    """`block` as an event with the `common` fields; kinds that nobody here knows are kept and counted in `unknown`."""
    kind, more = block.get("type"), data or {}
    text = block.get("text")
    if kind in ("text", "input_text", "output_text", "summary_text") and isinstance(text, str):
        return Event(kind="message", text=text, data={"role": role, **more}, **common)
    if kind == "tool_use":
        call_id, name = _text_or_none(block.get("id")), _text_or_none(block.get("name"))
        arguments = as_text(block.get("input", {}))
        return Event(kind="tool_call", text=arguments, tool=name, call_id=call_id, data=data, **common)
    if kind == "tool_result":
        if block.get("is_error"):
            data = {"is_error": True, **more}
        call_id = _text_or_none(block.get("tool_use_id"))
        return Event(kind="tool_result", text=result_text(block.get("content")), call_id=call_id, data=data, **common)
    if kind == "thinking":
        thought = as_text(block.get("thinking") or "")
        return Event(kind="thinking", text=thought, data=data if thought else {"withheld": True, **more}, **common)
    if kind == "redacted_thinking":
        return Event(kind="thinking", data={"withheld": True, **more}, **common)
    if kind == "refusal":
        said = as_text(block.get("refusal") or "")
        return Event(kind="message", text=said, data={"role": role, "refusal": True, **more}, **common)
    if kind in ("image", "input_image", "image_url"):
        return Event(kind="message", text=_picture(block), data={"role": role, **more}, **common)
    if kind != "additional_tools":  # what Codex offers some models in place of `tools`
        unknown[f"block {as_text(kind)[:60]}"] += 1
    return Event(kind="other", text=as_text(block), data={"role": role, "type": as_text(kind)[:60], **more}, **common)


def result_text(content: Any) -> str:
    """Text of a tool's result: a string, or parts of which the texts are joined; pictures are named, not shown."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return as_text(content)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return as_text(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return _picture(part) if "image" in as_text(part.get("type")) else as_text(part)


def _picture(block: Json) -> str:
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else block.get("image_url")
    if isinstance(data, str) and len(data) <= 200:
        return f"[image {data}]"
    return f"[image, {len(as_text(block)):,} characters]"


def _text_or_none(value: Any) -> str | None:
    return None if value is None else as_text(value)
