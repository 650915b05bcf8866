"""A conversation as any of the three APIs carries it: what a script needs of a request, and its answer in one form."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from matproof.models.base import Json, Tokens

MOST_TOKENS = 100_000_000
"""Of one exchange: a hundred times the longest window there is. What is said beyond it is not believed."""
_REMINDER_OPEN, _REMINDER_CLOSE = "<system-reminder>", "</system-reminder>"
_CWD = re.compile(
    r"(?:Primary working directory|Working directory|Current working directory|cwd)\s*:\s*(/[^\n]{0,4096})"
    r"|<cwd>(/[^<\n]{0,4096})</cwd>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a request says of the conversation so far."""

    turn: int
    """Rounds that the assistant has had: neighbouring assistant messages count once."""
    tool_results: tuple[str, ...]
    """Text of every tool result in the request, in the order of the calls, the client's own reminders removed."""
    fresh: int
    """How many of them, the last ones, came since the assistant last spoke."""
    prompt: str
    """Text of the first user message."""
    opening: str
    """Text of all that the user said before the assistant first spoke, the client's own reminders removed."""
    cwd: str | None
    """Working directory that the client names; None where it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call; a text as input is a custom (free-form) tool of the Responses API."""

    name: str
    input: Json | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the assistant."""

    id: str
    """Lower-case letters, digits, `-` and `_`; unique in the conversation. Every id in the reply derives from it."""
    model: str
    thinking: str | None
    text: str | None
    tools: tuple[ToolCall, ...]
    tokens: Tokens
    stop: str | None = None
    """Why it stopped, in the API's word, where it was neither done nor calling tools: `max_tokens`, `length`."""


def in_order_of_calls(results: Iterable[tuple[Any, str]], calls: Iterable[Any]) -> tuple[str, ...]:
    """Texts of `results`, pairs of call id and text, in the order in which `calls` were made.

    Clients run the calls of one turn side by side and report them as they end; a script must not depend on that. Where
    a result names a call that is not in the request, all stay as they came.
    """
    given = list(results)
    place = {call: index for index, call in reversed(list(enumerate(calls)))}
    if all(call in place for call, _ in given):
        given.sort(key=lambda result: place[result[0]])
    return tuple(text for _, text in given)


def offered_tools(body: Json) -> tuple[str, ...]:
    """Names of the tools that a request offers, in any of the three APIs; Chat puts them one level deeper.

    A tool of a named group of the Responses API is `<group>__<name>`.
    """
    named = _mappings(body.get("tools"))
    deeper = [tool[kind] for tool in named for kind in ("function", "custom") if isinstance(tool.get(kind), dict)]
    names = [tool["name"] for tool in (*named, *deeper) if isinstance(tool.get("name"), str)]
    grouped = [
        f"{group}__{tool['name']}"
        for group, tools in tool_groups(body).items()
        for tool in tools
        if isinstance(tool.get("name"), str)
    ]
    return (*names, *grouped)


def tool_groups(body: Json) -> dict[str, list[Json]]:
    """Named groups of tools that a request offers, such as those of an MCP server in Codex's: name → its tools."""
    groups = [tool for tool in _mappings(body.get("tools")) if tool.get("type") == "namespace"]
    return {group["name"]: _mappings(group.get("tools")) for group in groups if isinstance(group.get("name"), str)}


def _mappings(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def tool_called(name: str, offered: tuple[str, ...]) -> str:
    """The offered tool that `name` stands for: itself, else the only one of any MCP server (`mcp__<server>__<name>`).

    Where no tool or more than one fits, `name` as it is: the client then says that it has no such tool.
    """
    if name in offered:
        return name
    fitting = {tool for tool in offered if tool.endswith(f"__{name}")}
    return fitting.pop() if len(fitting) == 1 else name


def text_of(content: Any) -> str:
    """Text of a message's or tool result's content: a string, or blocks of which the texts are joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            parts.append(block["text"])
        elif isinstance(block, dict) and "image" in str(block.get("type")):
            parts.append("[image]")
    return "\n".join(parts)


def without_reminders(text: str) -> str:
    """`text` without the `<system-reminder>` blocks that the Claude client adds, and the newlines around them."""
    # Piece by piece, as a hostile text may hold a hundred thousand of them.
    kept: list[str] = []
    at = 0
    while (start := text.find(_REMINDER_OPEN, at)) >= 0 and (end := text.find(_REMINDER_CLOSE, start)) >= 0:
        kept.append(text[at:start].strip("\n") if at else text[:start].rstrip("\n"))
        at = end + len(_REMINDER_CLOSE)
    kept.append(text[at:].lstrip("\n") if at else text)
    return "\n".join(filter(None, kept))


def find_cwd(texts: Iterable[str]) -> str | None:
    """The working directory that a prompt names, by the phrases that the clients use."""
    for text in texts:
        if found := _CWD.search(text):
            return (found.group(1) or found.group(2)).strip()
    return None


def pieces(text: str) -> Iterator[str]:
    """`text` in a few dozen pieces at most, as a stream would carry it; nothing for an empty text."""
    size = max(24, -(-len(text) // 32))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def number(value: Any) -> int | None:
    """A count of tokens as a provider gives it; None where it is not one, or none that can be true."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def total(*values: int | None) -> int | None:
    """The sum; None where any part is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
