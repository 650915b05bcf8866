"""Anthropic Messages: reading requests, writing replies and their streams, and putting streams together again."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from matproof.models.base import Json, Rejection, Tokens
from matproof.models.conversation import (
    Conversation,
    Reply,
    find_cwd,
    in_order_of_calls,
    number,
    pieces,
    text_of,
    total,
    without_reminders,
)
from matproof.models.sse import Event, json_event
from matproof.models.strict_json import parse


def conversation(body: Json) -> Conversation:
    """What the request says of the conversation. Raises Rejection for a body that is not a Messages request."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Rejection(400, "invalid_request_error", "messages: a list of messages is required")
    spoken = [message for message in messages if message.get("role") in ("user", "assistant")]
    turn = sum(
        message["role"] == "assistant" and (index == 0 or spoken[index - 1]["role"] != "assistant")
        for index, message in enumerate(spoken)
    )
    blocks = _blocks(spoken)
    begun = next((at for at, message in enumerate(spoken) if message["role"] == "assistant"), len(spoken))
    last = max((at for at, message in enumerate(spoken) if message["role"] == "assistant"), default=-1)
    results = in_order_of_calls(
        (
            (str(block.get("tool_use_id")), without_reminders(text_of(block.get("content"))))
            for block in blocks
            if block.get("type") == "tool_result"
        ),
        (str(block.get("id")) for block in blocks if block.get("type") == "tool_use"),
    )
    first = next((text_of(message.get("content")) for message in spoken if message["role"] == "user"), "")
    aside = [text_of(message.get("content")) for message in messages if message.get("role") == "system"]
    cwd = find_cwd([text_of(body.get("system")), *aside, first])
    return Conversation(
        turn=turn,
        tool_results=results,
        fresh=sum(block.get("type") == "tool_result" for block in _blocks(spoken[last + 1 :])),
        prompt=without_reminders(first),
        opening=without_reminders("\n".join(text_of(message.get("content")) for message in spoken[:begun])),
        cwd=cwd,
    )


def _blocks(messages: list[Json]) -> list[Json]:
    return [
        block
        for message in messages
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, dict)
    ]


def plain(reply: Reply) -> Json:
    """The reply as the API gives it without streaming. Raises Rejection for a tool input that is not an object."""
    content: list[Json] = []
    if reply.thinking is not None:
        signature = base64.b64encode(hashlib.sha256(reply.id.encode()).digest()).decode()
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": signature})
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    for index, tool in enumerate(reply.tools):
        if isinstance(tool.input, str):
            raise Rejection(
                400, "invalid_request_error", f"tool {tool.name}: the Messages API takes an object as input"
            )
        name = {"id": f"toolu_{reply.id}_{index}", "name": tool.name}
        content.append({"type": "tool_use", **name, "input": tool.input})
    read, written = reply.tokens.cached or 0, reply.tokens.cache_write or 0
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": reply.stop or ("tool_use" if reply.tools else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": (reply.tokens.input or 0) - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": reply.tokens.output or 0,
        },
    }


def events(message: Json) -> Iterator[Event]:
    """The stream of a plain reply."""
    opening = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 0}}
    yield _event("message_start", message=opening)
    yield _event("ping")
    for index, block in enumerate(message["content"]):
        empty, deltas = _block(block)
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield _event("message_delta", delta=ending, usage=message["usage"])
    yield _event("message_stop")


def _block(block: Json) -> tuple[Json, Iterator[Json]]:
    if block["type"] == "text":
        return {**block, "text": ""}, ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        seal = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, iter([*thoughts, seal])
    text = json.dumps(block["input"], ensure_ascii=False, allow_nan=False)
    return {**block, "input": {}}, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(text))


def _event(kind: str, **data: Any) -> Event:
    return json_event(kind, {"type": kind, **data})


def tokens(message: Json) -> Tokens | None:
    """Usage of a plain reply; None where it has none."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    fresh, read = number(usage.get("input_tokens")), number(usage.get("cache_read_input_tokens") or 0)
    written = number(usage.get("cache_creation_input_tokens") or 0)
    detail = usage.get("cache_creation")
    hour = number(detail.get("ephemeral_1h_input_tokens") or 0) if isinstance(detail, dict) else 0
    tier = usage.get("service_tier")
    return Tokens(
        input=total(fresh, read, written),
        cached=read,
        cache_write=None if written is None or hour is None else max(0, written - hour),
        cache_write_1h=hour,
        output=number(usage.get("output_tokens")),
        tier=tier if isinstance(tier, str) else None,
    )


class Assembler:
    """Events of a stream put together to the plain reply; `feed` raises as `wire.Assembler` says."""

    def __init__(self) -> None:
        self.message: Json | None = None
        self.complete = False
        self.error: str | None = None
        self._text: dict[int, dict[str, list[str]]] = {}

    def feed(self, event: Event) -> None:
        """Take one event."""
        data = parse(event.data)
        kind = data["type"]
        if kind == "message_start":
            self.message = {**data["message"], "content": []}
        elif kind == "error":
            self.error = str(data["error"].get("message") or data["error"].get("type"))[:2000]
        elif kind == "message_stop":
            self.complete = self.message is not None
        elif kind.startswith("content_block") or kind == "message_delta":
            if self.message is None:
                raise ValueError("the stream does not begin with message_start")
            self._grow(self.message, kind, data)

    def _grow(self, message: Json, kind: str, data: Json) -> None:
        if kind == "content_block_start":
            message["content"].append(dict(data["content_block"]))
            self._text[data["index"]] = {}
        elif kind == "content_block_delta":
            self._delta(message["content"][data["index"]], data["index"], data["delta"])
        elif kind == "content_block_stop":
            self._close(message["content"][data["index"]], data["index"])
        elif kind == "message_delta":
            message.update(data["delta"])
            message["usage"] = {**message.get("usage", {}), **(data.get("usage") or {})}

    def _delta(self, block: Json, index: int, delta: Json) -> None:
        keys = {
            "text_delta": "text",
            "thinking_delta": "thinking",
            "signature_delta": "signature",
            "input_json_delta": "partial_json",
        }
        key = keys.get(delta["type"])
        if key is not None:
            self._text[index].setdefault(key, []).append(str(delta[key]))
        elif delta["type"] == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]

    def _close(self, block: Json, index: int) -> None:
        for key, parts in self._text.pop(index, {}).items():
            if key == "partial_json":
                text = "".join(parts)
                block["input"] = parse(text) if text else {}
            else:
                block[key] = str(block.get(key) or "") + "".join(parts)

    @property
    def result(self) -> Json | None:
        """The reply so far; of a stream that broke, with what its unfinished blocks held."""
        if self.message is None:
            return None
        for index in list(self._text):
            block, unfinished = self.message["content"][index], self._text[index].pop("partial_json", None)
            self._close(block, index)
            if unfinished is not None:
                block["input"] = {"unfinished": "".join(unfinished)}
        return self.message

    @property
    def tokens(self) -> Tokens | None:
        """Usage as far as the stream told it; the output counts only once the stream is complete."""
        found = tokens(self.message) if self.message is not None else None
        if found is None or self.complete:
            return found
        return Tokens(input=found.input, cached=found.cached, cache_write=found.cache_write, tier=found.tier)
