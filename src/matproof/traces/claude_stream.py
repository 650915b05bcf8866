"""`claude -p --output-format stream-json`: one item a line.

Assistant items repeat the usage of their message in each block, and the final `result` sums it up (with `modelUsage`,
which has the last reply that `usage` can miss), so usage is read from there alone. The client's second form of a tool
result (`tool_use_result`) is left out: the first is what the model was given.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from matproof.models.base import Json
from matproof.models.conversation import number, total
from matproof.traces.blocks import block_event
from matproof.traces.events import Event, TokenCounts, as_text, money
from matproof.traces.lines import events_of_lines

AGENT = "claude_code"
_KNOWN = frozenset({"stream_event", "rate_limit_event", "control_request", "control_response", "keep_alive"})
_KNOWN_SYSTEM = frozenset(
    {
        *("init", "status", "compact_boundary", "api_retry", "thinking_tokens", "background_tasks_changed"),
        *("task_started", "task_progress", "task_notification", "task_updated"),
    }
)


def read(path: Path, unknown: Counter[str] | None = None) -> Iterator[Event]:
    """The events of a file; items that nobody here knows are kept as `other` and counted in `unknown`."""
    with path.open("rb") as stream:
        yield from events(stream, Counter() if unknown is None else unknown)


def events(stream: BinaryIO, unknown: Counter[str]) -> Iterator[Event]:
    """The events of an open file."""
    return events_of_lines(stream, unknown, lambda item: item_events(item, unknown))


def item_events(item: Json, unknown: Counter[str]) -> Iterator[Event]:
    """The events of one item."""
    kind, message = item.get("type"), item.get("message")
    time = item.get("timestamp")
    time = time if isinstance(time, str) else None
    if kind in ("assistant", "user") and isinstance(message, dict):
        parent = item.get("parent_tool_use_id")
        agent = f"{AGENT}/{parent}" if isinstance(parent, str) else AGENT
        model = message.get("model")
        model = model if isinstance(model, str) else None
        yield from message_events(message, str(kind), unknown, time=time, agent=agent, model=model)
    elif kind == "result":
        yield from result_events(item, time=time)
    else:
        name = as_text(kind)
        if kind == "system":
            subtype = as_text(item.get("subtype"))
            name = f"system {subtype}"
            if subtype not in _KNOWN_SYSTEM:
                unknown[name[:80]] += 1
        elif name not in _KNOWN:
            unknown[f"item {name[:60]}"] += 1
        yield Event(kind="other", text=name, time=time, agent=AGENT, data=item)


def message_events(message: Json, role: str, unknown: Counter[str], **common: Any) -> Iterator[Event]:
    """The events of one message."""
    content = message.get("content")
    if isinstance(content, str):
        yield Event(kind="message", text=content, data={"role": role}, **common)
    elif isinstance(content, list):
        for block in content:
            given = block if isinstance(block, dict) else {"type": "text", "text": as_text(block)}
            yield block_event(given, role, unknown, **common)
    elif content is not None:
        unknown["content that is neither text nor blocks"] += 1
        yield Event(kind="other", text=as_text(content), data={"role": role}, **common)


def result_events(item: Json, **common: Any) -> Iterator[Event]:
    """How a session ended: its totals, and an error where it was one."""
    keys = ("subtype", "is_error", "num_turns", "duration_ms", "terminal_reason", "api_error_status", "session_id")
    data = {key: item[key] for key in (*keys, "modelUsage", "permission_denials") if item.get(key) not in (None, [])}
    tokens, cost = session_tokens(item), money(item.get("total_cost_usd"))
    told = {**data, "scope": "session"}
    yield Event(kind="usage", tokens=tokens, cost_usd=cost, data=told, agent=AGENT, **common)
    if item.get("is_error"):
        errors = item.get("errors")
        said = item.get("result") or ("\n".join(map(as_text, errors)) if isinstance(errors, list) else "")
        yield Event(kind="error", text=as_text(said or item.get("subtype")), data=data, agent=AGENT, **common)


def session_tokens(item: Json) -> TokenCounts | None:
    """Tokens of a result: all models together, or the main thread's where the client does not tell them apart."""
    models = item.get("modelUsage")
    usages = [usage for usage in models.values() if isinstance(usage, dict)] if isinstance(models, dict) else []
    own = item.get("usage")
    counts = [_counts(usage) for usage in usages or ([own] if isinstance(own, dict) else [])]
    if not counts:
        return None
    return TokenCounts(
        input=total(*(each.input for each in counts)),
        cached=total(*(each.cached for each in counts)),
        cache_write=total(*(each.cache_write for each in counts)),
        output=total(*(each.output for each in counts)),
    )


def _counts(usage: Json) -> TokenCounts:
    """Both spellings that the client has used; what it leaves out of a usage that it tells is none."""

    def count(*names: str) -> int | None:
        return next((number(usage[name]) for name in names if usage.get(name) is not None), 0)

    fresh, cached = count("inputTokens", "input_tokens"), count("cacheReadInputTokens", "cache_read_input_tokens")
    written = count("cacheCreationInputTokens", "cache_creation_input_tokens")
    said = count("outputTokens", "output_tokens")
    return TokenCounts(input=total(fresh, cached, written), cached=cached, cache_write=written, output=said)
