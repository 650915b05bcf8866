"""Events as a person reads them in a terminal.

What agents and models wrote is shown, never obeyed: a terminal's control sequences, and characters that turn or hide
text, stand there as visible escapes.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import click

from matproof.traces.events import Event, Kind

MOST_LINES = 40
"""Lines of one event that are shown, unless all are asked for."""
MOST_WIDTH = 2000
"""Characters of one line, likewise."""
_PICTURES = 0x2400
"""Pictures of control characters begin here: ␛ for escape."""
_COLOURS: dict[Kind, dict[str, Any]] = {
    "message": {"bold": True},
    "thinking": {"fg": "bright_black"},
    "tool_call": {"fg": "yellow"},
    "tool_result": {"fg": "green"},
    "step": {"fg": "cyan"},
    "diagnosis": {"fg": "cyan"},
    "usage": {"fg": "bright_black"},
    "limit": {"fg": "magenta"},
    "error": {"fg": "red", "bold": True},
    "phase": {"fg": "cyan", "bold": True},
    "other": {"fg": "bright_black"},
}


def shown(event: Event, *, full: bool = False) -> Iterator[str]:
    """The lines of one event, with colours; a caller without colours strips them."""
    style = _COLOURS[event.kind]
    if event.kind == "tool_result" and (event.data or {}).get("is_error"):
        style = {"fg": "red"}
    if event.kind == "message" and (event.data or {}).get("role") == "user":
        style = {"fg": "blue", "bold": True}
    about = [event.time[11:19] if event.time else "", event.phase, _headline(event)]
    if event.agent and "/" in event.agent:
        about.append(f"[{event.agent}]")
    yield click.style(one_line("  ".join(each for each in about if each)), **style)
    for line in _lines(_body(event), full):
        yield click.style(f"  {line}", fg="bright_black") if event.kind in ("thinking", "other") else f"  {line}"
    if event.cut is not None:
        yield f"  (the trace holds the beginning of {event.cut.characters:,} characters)"


def named(events: Iterable[Event], calls: dict[str, str] | None = None) -> Iterator[Event]:
    """The events, each result with the tool of its call; `calls` remembers open ones from one lot to the next."""
    waiting: dict[str, str] = {} if calls is None else calls
    for event in events:
        if event.kind == "tool_call" and event.call_id is not None and event.tool is not None:
            waiting[event.call_id] = event.tool
        elif event.kind == "tool_result" and event.call_id is not None and event.tool is None:
            yield replace(event, tool=waiting.pop(event.call_id, None))
            continue
        yield event


def plain(text: str) -> str:
    """`text` without a character that a terminal would obey: escapes stand there as what they are."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in "\n\t" else _visible(each) for each in text)


def one_line(text: str) -> str:
    """`plain` text without a line's end, for names, which could otherwise pretend to be events of their own."""
    return plain(text).replace("\n", _visible("\n"))


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return chr(0x2421)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _headline(event: Event) -> str:
    data = event.data or {}
    if event.kind == "message":
        return str(data.get("role") or "message")
    if event.kind == "tool_call":
        return f"calls {event.tool or 'a tool'}"
    if event.kind == "tool_result":
        return f"{event.tool or 'a tool'} {'failed' if data.get('is_error') else 'answers'}"
    if event.kind == "usage":
        return f"usage  {_usage(event)}"
    if event.kind == "thinking" and data.get("withheld"):
        return "thinking (withheld)"
    if event.kind == "phase":
        return " ".join(event.text.split())
    return event.kind


def _usage(event: Event) -> str:
    tokens = event.tokens
    parts = [event.model] if event.model else []
    if tokens is not None and tokens.input is not None:
        cached = f" ({tokens.cached:,} cached)" if tokens.cached else ""
        parts.append(f"{tokens.input:,} tokens read{cached}")
    if tokens is not None and tokens.output is not None:
        parts.append(f"{tokens.output:,} written")
    if event.cost_usd is not None:
        parts.append(f"${event.cost_usd:.4f}")
    return ", ".join(parts) or "unknown"


def _body(event: Event) -> str:
    if event.kind == "usage":
        return event.text
    if event.kind == "tool_call":
        return _arguments(event.text)
    data = {key: value for key, value in (event.data or {}).items() if key not in ("role", "exchange", "is_error")}
    if event.kind in ("message", "thinking", "tool_result") or not data:
        return "" if event.kind == "phase" else event.text
    told = json.dumps(data, ensure_ascii=False, default=str)
    return f"{event.text}\n{told}" if event.text and event.kind != "phase" else told


def _arguments(text: str) -> str:
    """A call's input: a line for each argument, longer ones below their name."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(given, dict):
        return text
    lines = []
    for key, value in given.items():
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key}:\n{told}" if "\n" in told else f"{key}: {told}")
    return "\n".join(lines)


def _lines(text: str, full: bool) -> Iterator[str]:
    lines = text.replace("\r\n", "\n").strip("\n").split("\n") if text.strip() else []
    for line in lines if full else lines[:MOST_LINES]:
        if full or len(line) <= MOST_WIDTH:
            yield plain(line)
        else:
            yield f"{plain(line[:MOST_WIDTH])} … {len(line) - MOST_WIDTH:,} characters more"
    if not full and len(lines) > MOST_LINES:
        yield f"… {len(lines) - MOST_LINES:,} lines more; --full shows them"
