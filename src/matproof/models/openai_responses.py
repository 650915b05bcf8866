"""OpenAI Responses: reading requests, writing replies and their streams, and putting streams together again."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from matproof.models.base import Json, Rejection, Tokens
from matproof.models.conversation import (
    Conversation,
    Reply,
    ToolCall,
    find_cwd,
    in_order_of_calls,
    number,
    pieces,
    text_of,
)
from matproof.models.sse import Event, json_event
from matproof.models.strict_json import parse

_ASSISTANT = ("function_call", "custom_tool_call", "reasoning", "local_shell_call", "apply_patch_call")
_OF_CLIENT = "<environment_context>"
"""How a user message begins in which the Codex client tells of the machine."""
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output")


def items(body: Json) -> list[Json]:
    """The request's input as items. Raises Rejection for a body that is not a Responses request."""
    given = body.get("input", [])
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise Rejection(400, "invalid_request_error", "input: a string or a list of items is required")
    return given


def conversation(body: Json) -> Conversation:
    """What the request itself says of the conversation; what a `previous_response_id` stands for is not in it."""
    given = items(body)
    spoken = [_by_assistant(item) for item in given]
    turn = sum(mine and (index == 0 or not spoken[index - 1]) for index, mine in enumerate(spoken))
    results = in_order_of_calls(
        ((str(item.get("call_id")), text_of(item.get("output"))) for item in given if item.get("type") in _RESULTS),
        (str(item.get("call_id")) for item in given if item.get("type") in _ASSISTANT),
    )
    said = [text_of(item.get("content")) for item in given if item.get("role") in ("user", "developer", "system")]
    first = next((text_of(item.get("content")) for item in given if item.get("role") == "user"), "")
    cwd = find_cwd([text_of(body.get("instructions")), *said])
    last = max((index for index, mine in enumerate(spoken) if mine), default=-1)
    asked = given[: spoken.index(True)] if turn else given
    return Conversation(
        turn=turn,
        tool_results=results,
        fresh=sum(item.get("type") in _RESULTS for item in given[last + 1 :]),
        prompt=first,
        opening="\n".join(
            text
            for item in asked
            if item.get("role") == "user" and not (text := text_of(item.get("content"))).startswith(_OF_CLIENT)
        ),
        cwd=cwd,
    )


def _by_assistant(item: Json) -> bool:
    return item.get("role") == "assistant" or item.get("type") in _ASSISTANT


def plain(reply: Reply, *, previous: str | None = None, groups: Iterable[str] = ()) -> Json:
    """The reply as the API gives it without streaming; `groups` are the named groups of tools that were offered."""
    output: list[Json] = []
    if reply.thinking is not None:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        output.append({"id": f"rs_{reply.id}", "type": "reasoning", "summary": summary})
    if reply.text is not None:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        message = {"id": f"msg_{reply.id}", "type": "message", "status": "completed", "role": "assistant"}
        output.append({**message, "content": [part]})
    output += [_call(tool, reply.id, index, tuple(groups)) for index, tool in enumerate(reply.tools)]
    read, written = reply.tokens.input or 0, reply.tokens.output or 0
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "status": "completed" if reply.stop is None else "incomplete",
        "error": None,
        "incomplete_details": None if reply.stop is None else {"reason": reply.stop},
        "instructions": None,
        "metadata": {},
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": previous,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": reply.tokens.cached or 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _call(tool: ToolCall, reply: str, index: int, groups: tuple[str, ...]) -> Json:
    name = {"status": "completed", "call_id": f"call_{reply}_{index}", "name": tool.name}
    if (group := next((group for group in groups if tool.name.startswith(f"{group}__")), None)) is not None:
        name |= {"name": tool.name.removeprefix(f"{group}__"), "namespace": group}
    if isinstance(tool.input, str):
        return {"id": f"ctc_{reply}_{index}", "type": "custom_tool_call", **name, "input": tool.input}
    arguments = json.dumps(tool.input, ensure_ascii=False, allow_nan=False)
    return {"id": f"fc_{reply}_{index}", "type": "function_call", **name, "arguments": arguments}


def events(response: Json) -> Iterator[Event]:
    """The stream of a plain reply."""
    opening = {**response, "status": "in_progress", "output": [], "usage": None}
    numbered = enumerate(_events(response, opening))
    for sequence, (kind, data) in numbered:
        yield json_event(kind, {"type": kind, "sequence_number": sequence, **data})


def _events(response: Json, opening: Json) -> Iterator[tuple[str, Json]]:
    yield "response.created", {"response": opening}
    yield "response.in_progress", {"response": opening}
    for index, item in enumerate(response["output"]):
        place = {"item_id": item["id"], "output_index": index}
        writers = {"message": _message, "reasoning": _reasoning}
        empty, inner = writers.get(item["type"], _tool)(item, place)
        yield "response.output_item.added", {"output_index": index, "item": empty}
        yield from inner
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{response['status']}", {"response": response}


def _message(item: Json, place: Json) -> tuple[Json, Iterator[tuple[str, Json]]]:
    def inner() -> Iterator[tuple[str, Json]]:
        for index, part in enumerate(item["content"]):
            at = {**place, "content_index": index}
            yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
            for piece in pieces(part["text"]):
                yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
            yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**at, "part": part}

    return {**item, "status": "in_progress", "content": []}, inner()


def _reasoning(item: Json, place: Json) -> tuple[Json, Iterator[tuple[str, Json]]]:
    def inner() -> Iterator[tuple[str, Json]]:
        for index, part in enumerate(item["summary"]):
            at = {**place, "summary_index": index}
            yield "response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}
            for piece in pieces(part["text"]):
                yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
            yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
            yield "response.reasoning_summary_part.done", {**at, "part": part}

    return {**item, "summary": []}, inner()


def _tool(item: Json, place: Json) -> tuple[Json, Iterator[tuple[str, Json]]]:
    custom = item["type"] == "custom_tool_call"
    key, kind = ("input", "custom_tool_call_input") if custom else ("arguments", "function_call_arguments")

    def inner() -> Iterator[tuple[str, Json]]:
        for piece in pieces(item[key]):
            yield f"response.{kind}.delta", {**place, "delta": piece}
        yield f"response.{kind}.done", {**place, key: item[key], "name": item["name"]}

    return {**item, "status": "in_progress", key: ""}, inner()


def tokens(response: Json) -> Tokens | None:
    """Usage of a plain reply; None where it has none."""
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    detail, tier = usage.get("input_tokens_details"), response.get("service_tier")
    return Tokens(
        input=number(usage.get("input_tokens")),
        cached=number(detail.get("cached_tokens")) if isinstance(detail, dict) else None,
        cache_write=0,
        cache_write_1h=0,
        output=number(usage.get("output_tokens")),
        tier=tier if isinstance(tier, str) else None,
    )


class Assembler:
    """Events of a stream put together to the plain reply; `feed` raises as `wire.Assembler` says."""

    def __init__(self) -> None:
        self.complete = False
        self.error: str | None = None
        self._response: Json | None = None
        self._done: dict[int, Json] = {}
        self._open: dict[int, Json] = {}
        self._text: dict[int, list[str]] = {}

    def feed(self, event: Event) -> None:
        """Take one event."""
        if event.data == "[DONE]":
            return
        data = parse(event.data)
        kind = str(data["type"])
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self._response, self.complete = dict(data["response"]), True
            if kind == "response.failed":
                self.error = _message_of(self._response.get("error")) or "the response failed"
        elif kind in ("response.created", "response.in_progress"):
            self._response = dict(data["response"])
        elif kind == "response.output_item.added":
            self._open[int(data["output_index"])] = dict(data["item"])
        elif kind == "response.output_item.done":
            self._done[int(data["output_index"])] = dict(data["item"])
        elif kind.endswith(".delta") and isinstance(data.get("delta"), str):
            self._text.setdefault(int(data["output_index"]), []).append(data["delta"])
        elif kind == "error":
            self.error = _message_of(data) or _message_of(data.get("error")) or "the stream reports an error"

    @property
    def result(self) -> Json | None:
        """The reply so far; of a stream that broke, the finished items and the text of the unfinished one."""
        if self._response is None or self.complete:
            return self._response
        output = [
            self._done.get(index) or {**self._open.get(index, {}), "unfinished": "".join(self._text.get(index, []))}
            for index in sorted({*self._done, *self._open})
        ]
        return {**self._response, "output": output}

    @property
    def tokens(self) -> Tokens | None:
        """Usage, once the stream is complete."""
        return tokens(self._response) if self._response is not None and self.complete else None


def _message_of(error: Any) -> str | None:
    return str(error["message"])[:2000] if isinstance(error, dict) and error.get("message") else None
