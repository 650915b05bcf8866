"""OpenAI Chat Completions: reading requests, writing replies and their streams, and putting streams together again."""

import json
from collections.abc import Iterator
from typing import Any

from matproof.models.base import Json, Rejection, Tokens
from matproof.models.conversation import Conversation, Reply, find_cwd, in_order_of_calls, number, pieces, text_of
from matproof.models.sse import Event, json_event
from matproof.models.strict_json import parse

_GROWING = ("content", "reasoning_content", "refusal")


def conversation(body: Json) -> Conversation:
    """What the request says of the conversation. Raises Rejection for a body that is not a Chat request."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Rejection(400, "invalid_request_error", "messages: a list of messages is required")
    mine = [message.get("role") == "assistant" for message in messages]
    turn = sum(own and (index == 0 or not mine[index - 1]) for index, own in enumerate(mine))
    results = in_order_of_calls(
        (
            (str(message.get("tool_call_id")), text_of(message.get("content")))
            for message in messages
            if message.get("role") == "tool"
        ),
        (
            str(call.get("id"))
            for message in messages
            if isinstance(message.get("tool_calls"), list)
            for call in message["tool_calls"]
            if isinstance(call, dict)
        ),
    )
    said = [text_of(message.get("content")) for message in messages if message.get("role") != "tool"]
    first = next((text_of(message.get("content")) for message in messages if message.get("role") == "user"), "")
    last = max((index for index, own in enumerate(mine) if own), default=-1)
    asked = messages[: mine.index(True)] if turn else messages
    return Conversation(
        turn=turn,
        tool_results=results,
        fresh=sum(message.get("role") == "tool" for message in messages[last + 1 :]),
        prompt=first,
        opening="\n".join(text_of(message.get("content")) for message in asked if message.get("role") == "user"),
        cwd=find_cwd(said),
    )


def plain(reply: Reply) -> Json:
    """The reply as the API gives it without streaming. Raises Rejection for a tool input that is not an object."""
    message: Json = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.thinking is not None:
        message["reasoning_content"] = reply.thinking
    if any(isinstance(tool.input, str) for tool in reply.tools):
        raise Rejection(400, "invalid_request_error", "the Chat API takes an object as a tool's input")
    if reply.tools:
        message["tool_calls"] = [
            {
                "id": f"call_{reply.id}_{index}",
                "type": "function",
                "function": {
                    "name": tool.name,
                    "arguments": json.dumps(tool.input, ensure_ascii=False, allow_nan=False),
                },
            }
            for index, tool in enumerate(reply.tools)
        ]
    read, written = reply.tokens.input or 0, reply.tokens.output or 0
    finish = reply.stop or ("tool_calls" if reply.tools else "stop")
    used: Json = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if reply.tokens.cached:
        used["prompt_tokens_details"] = {"cached_tokens": reply.tokens.cached}
    return {
        "id": f"chatcmpl-{reply.id}",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": used,
    }


def events(completion: Json, *, usage: bool = True) -> Iterator[Event]:
    """The stream of a plain reply; with `usage` as `stream_options.include_usage` asks for it."""
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(choices: list[Json], **more: Any) -> Event:
        return json_event("", {**head, "choices": choices, **more})

    for choice in completion["choices"]:
        deltas = _deltas(choice["message"])
        for delta in deltas:
            yield chunk([{"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": None}])
        ending = {"index": choice["index"], "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
        yield chunk([ending])
    if usage:
        yield chunk([], usage=completion["usage"])
    yield Event("", "[DONE]")


def _deltas(message: Json) -> Iterator[Json]:
    yield {"role": message["role"], **{key: None for key in _GROWING if key in message and message[key] is None}}
    for key in ("reasoning_content", "content"):
        text = message.get(key)
        if text == "":
            yield {key: ""}
        for piece in pieces(text or ""):
            yield {key: piece}
    for index, call in enumerate(message.get("tool_calls", [])):
        yield {"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}
        for piece in pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def tokens(completion: Json) -> Tokens | None:
    """Usage of a plain reply; None where it has none."""
    usage = completion.get("usage")
    if not isinstance(usage, dict):
        return None
    detail, tier = usage.get("prompt_tokens_details"), completion.get("service_tier")
    return Tokens(
        input=number(usage.get("prompt_tokens")),
        cached=number(detail.get("cached_tokens")) if isinstance(detail, dict) else None,
        cache_write=0,
        cache_write_1h=0,
        output=number(usage.get("completion_tokens")),
        tier=tier if isinstance(tier, str) else None,
    )


class Assembler:
    """Events of a stream put together to the plain reply; `feed` raises as `wire.Assembler` says."""

    def __init__(self) -> None:
        self.complete = False
        self.error: str | None = None
        self._head: Json | None = None
        self._choices: dict[int, Json] = {}
        self._text: dict[tuple[int, str], list[str]] = {}

    def feed(self, event: Event) -> None:
        """Take one event."""
        if event.data == "[DONE]":
            self.complete = self._head is not None
            return
        data = parse(event.data)
        if data.get("error"):
            self.error = str(data["error"].get("message") if isinstance(data["error"], dict) else data["error"])[:2000]
            return
        more = {key: value for key, value in data.items() if key not in ("choices", "object", "usage")}
        self._head = {**(self._head or {}), **more}
        if isinstance(data.get("usage"), dict):
            self._head["usage"] = data["usage"]
        for choice in data["choices"]:
            self._grow(choice)

    def _grow(self, given: Json) -> None:
        index = int(given["index"])
        choice = self._choices.setdefault(index, {"index": index, "message": {}})
        choice.update({key: value for key, value in given.items() if key not in ("index", "delta")})
        for key, value in (given.get("delta") or {}).items():
            if key in _GROWING and isinstance(value, str):
                self._text.setdefault((index, key), []).append(value)
                choice["message"].setdefault(key, "")
            elif key == "tool_calls":
                for call in value or []:
                    self._call(choice["message"].setdefault("tool_calls", []), call)
            else:
                choice["message"][key] = value

    def _call(self, calls: list[Json], given: Json) -> None:
        index = int(given["index"])
        if index > len(calls):
            raise ValueError("a tool call of the stream was never begun")
        if index == len(calls):
            calls.append({"function": {"arguments": []}})
        call = calls[index]
        call.update({key: value for key, value in given.items() if key not in ("index", "function")})
        for key, value in (given.get("function") or {}).items():
            if key == "arguments":
                call["function"]["arguments"].append(str(value))
            else:
                call["function"][key] = value

    @property
    def result(self) -> Json | None:
        """The reply so far."""
        if self._head is None:
            return None
        choices = []
        for index, choice in sorted(self._choices.items()):
            message = dict(choice["message"])
            message.update({key: "".join(parts) for (at, key), parts in self._text.items() if at == index})
            if "tool_calls" in message:
                message["tool_calls"] = [_joined(call) for call in message["tool_calls"]]
            choices.append({**choice, "message": message})
        return {**self._head, "object": "chat.completion", "choices": choices}

    @property
    def tokens(self) -> Tokens | None:
        """Usage, where the stream told it."""
        return tokens(self._head) if self._head is not None else None


def _joined(call: Json) -> Json:
    return {**call, "function": {**call["function"], "arguments": "".join(call["function"]["arguments"])}}
