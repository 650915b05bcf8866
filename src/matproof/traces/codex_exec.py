"""`codex exec --json`: one event a line; an item is started, sometimes updated, and completed.

A command, a tool of an MCP server, a change of files, a web search and a call of a subagent are calls: the call when
the item starts, or ends without having started, the result when it ends. The client's ids begin again with each
thread, so those of a file's second thread get its number in front. Usage is that of the whole thread so far.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from matproof.models.base import Json
from matproof.models.conversation import number
from matproof.traces.blocks import result_text
from matproof.traces.events import Event, TokenCounts, as_text
from matproof.traces.lines import events_of_lines

AGENT = "codex"
COMMAND, PATCH = "command_execution", "file_change"
NOTICE = "notice"
"""`type` of an error that the session goes on after."""
_CALLS = frozenset({COMMAND, PATCH, "mcp_tool_call", "web_search", "collab_tool_call"})
_OWN = frozenset({"id", "type", "status", "aggregated_output", "exit_code", "result", "error"})
"""Fields of an item that are no argument of the call."""


def read(path: Path, unknown: Counter[str] | None = None) -> Iterator[Event]:
    """The events of a file; items that nobody here knows are kept as `other` and counted in `unknown`."""
    with path.open("rb") as stream:
        yield from events(stream, Counter() if unknown is None else unknown)


def events(stream: BinaryIO, unknown: Counter[str]) -> Iterator[Event]:
    """The events of an open file."""
    return events_of_lines(stream, unknown, _Reader(unknown).events)


class _Reader:
    """Keeps which items are under way, and nothing else."""

    def __init__(self, unknown: Counter[str]) -> None:
        self._unknown = unknown
        self._open: set[str] = set()
        self._threads = 0
        self._thread: str | None = None

    def events(self, line: Json) -> Iterator[Event]:
        """The events of one line."""
        kind, item = line.get("type"), line.get("item")
        if isinstance(item, dict) and kind in ("item.started", "item.updated", "item.completed"):
            yield from self._item(item, as_text(kind).removeprefix("item."))
        elif kind == "turn.completed":
            data = {"scope": "session", "session_id": self._thread}
            yield Event(kind="usage", tokens=_tokens(line.get("usage")), agent=AGENT, data=data)
        elif kind == "turn.failed":
            error = line.get("error")
            said = error.get("message") if isinstance(error, dict) else error
            yield Event(
                kind="error", text=as_text(said or "the turn failed"), agent=AGENT, data={"type": "turn.failed"}
            )
        elif kind == "error":
            yield Event(kind="error", text=as_text(line.get("message") or ""), agent=AGENT, data={"type": "error"})
        else:
            if kind == "thread.started":
                self._threads += 1
                self._thread = as_text(line.get("thread_id"))
            elif kind != "turn.started":
                self._unknown[f"event {as_text(kind)[:60]}"] += 1
            yield Event(kind="other", text=as_text(kind), agent=AGENT, data=line)

    def _item(self, item: Json, stage: str) -> Iterator[Event]:
        kind = as_text(item.get("type"))
        data = {"type": kind}
        if kind in _CALLS:
            yield from self._call(item, stage)
        elif kind in ("agent_message", "reasoning", "error") and stage == "completed":
            text = as_text(item.get("text") or item.get("message") or "")
            if kind == "agent_message":
                yield Event(kind="message", text=text, agent=AGENT, data={"role": "assistant"})
            else:
                # An item of the type error is a notice: what ends a turn is no item.
                told = data if kind == "reasoning" else {"type": NOTICE}
                yield Event(kind="thinking" if kind == "reasoning" else "error", text=text, agent=AGENT, data=told)
        elif kind == "todo_list" and stage != "started":
            yield Event(kind="other", text=_todo(item), agent=AGENT, data={**data, "stage": stage})
        elif kind not in ("agent_message", "reasoning", "error", "todo_list"):
            self._unknown[f"item {kind[:60]}"] += 1
            yield Event(kind="other", text=kind, agent=AGENT, data={"stage": stage, "item": item})

    def _call(self, item: Json, stage: str) -> Iterator[Event]:
        call_id = as_text(item.get("id"))
        if self._threads > 1:
            call_id = f"{self._threads}/{call_id}"
        tool = _tool(item)
        if call_id not in self._open and (stage == "started" or stage == "completed"):
            self._open.add(call_id)
            arguments = item.get("arguments") if item.get("type") == "mcp_tool_call" else _arguments(item)
            yield Event(kind="tool_call", text=as_text(arguments or {}), tool=tool, call_id=call_id, agent=AGENT)
        if stage == "completed":
            self._open.discard(call_id)
            told = {key: item[key] for key in ("status", "exit_code") if item.get(key) is not None}
            if item.get("status") in ("failed", "declined"):
                told["is_error"] = True
            yield Event(
                kind="tool_result", text=_result(item), tool=tool, call_id=call_id, agent=AGENT, data=told or None
            )


def _tool(item: Json) -> str:
    if item.get("type") == "mcp_tool_call":
        return f"mcp__{as_text(item.get('server'))}__{as_text(item.get('tool'))}"
    return as_text(item.get("type"))


def _arguments(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in _OWN}


def _result(item: Json) -> str:
    error, result = item.get("error"), item.get("result")
    if isinstance(error, dict):
        return as_text(error.get("message") or error)
    if isinstance(result, dict):
        return result_text(result.get("content"))
    output = item.get("aggregated_output")
    return as_text(output) if output is not None else as_text(item.get("status") or "")


def _todo(item: Json) -> str:
    entries = item.get("items")
    rows = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    return "\n".join(f"[{'x' if each.get('completed') else ' '}] {as_text(each.get('text'))}" for each in rows)


def _tokens(usage: object) -> TokenCounts | None:
    if not isinstance(usage, dict):
        return None
    return TokenCounts(
        input=number(usage.get("input_tokens")),
        cached=number(usage.get("cached_input_tokens")),
        cache_write=number(usage.get("cache_write_input_tokens")),
        output=number(usage.get("output_tokens")),
    )
