"""`trace.jsonl`: what happened in a run, one event a line, whichever agent it was.

Two forms of one thing: `Event` is what readers and agents hand around, `TraceEvent` a line of the file. Bodies over
`BODY_LIMIT` characters are cut, with their full size and hash kept, so that a flood stays readable and what was cut
can still be recognised. What an event holds was written by an agent or a model: it is data.
"""

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from matproof.core.clock import timestamp
from matproof.core.files import read_json_lines, to_json

BODY_LIMIT = 20_000
NAME_LIMIT = 500
Kind = Literal[
    "message",
    "thinking",
    "tool_call",
    "tool_result",
    "step",
    "diagnosis",
    "usage",
    "limit",
    "error",
    "phase",
    "other",
]
"""`other`: what a format holds that has no kind here, such as a notice of its client; nothing is dropped."""
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


class Cut(BaseModel):
    """What was left out of a body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    characters: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one answer of a model. Null is unknown, never zero."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    input: int | None = None
    """Tokens read, cached and newly cached ones included."""
    cached: int | None = None
    """Of those, read from the provider's cache."""
    cache_write: int | None = None
    """Of those, written to the cache."""
    output: int | None = None
    """Tokens written, thinking included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, whichever format it came from. Light, because a trace holds many."""

    kind: Kind
    text: str = ""
    """What was said or answered; of a tool call the arguments, as JSON or as the text they are."""
    time: str | None = None
    """ISO 8601, UTC; None where the format does not tell."""
    phase: str = ""
    """Part of the run, such as `plan`; empty where there are none."""
    tool: str | None = None
    call_id: str | None = None
    """Joins a tool result to its call."""
    agent: str | None = None
    """Who spoke or called, such as `claude_code`; a subagent has the agent's name and its own, parted by `/`."""
    model: str | None = None
    tokens: TokenCounts | None = None
    cost_usd: float | None = None
    """US dollars; None: unknown."""
    data: dict[str, Any] | None = None
    """What else is known, such as the `role` of a message."""
    cut: Cut | None = None
    """Of an event read from a trace of ours: how much of the text was left out there."""


class TraceEvent(BaseModel):
    """One event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = 2
    # 1 had no `agent`, `model`, `tokens`, `cost_usd` and no kind `other`; both are read.
    time: str
    phase: str
    kind: Kind
    text: str = ""
    tool: str | None = None
    call_id: str | None = None
    agent: str | None = None
    model: str | None = None
    tokens: TokenCounts | None = None
    cost_usd: float | None = None
    data: dict[str, Any] | None = None
    cut: Cut | None = None


class TraceWriter:
    """Appends events to a trace; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("a", encoding="utf-8")

    def write(
        self,
        phase: str,
        kind: Kind,
        text: object = "",
        *,
        tool: object = None,
        call_id: object = None,
        model: object = None,
        tokens: TokenCounts | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Append one event; `text` over the limit is cut with its hash kept.

        Whatever stands where text should be is written as JSON: an event of a client that was tampered with is an
        event, not an error.
        """
        self.add(
            Event(
                phase=phase,
                kind=kind,
                text=as_text(text),
                tool=None if tool is None else as_text(tool),
                call_id=None if call_id is None else as_text(call_id),
                model=None if model is None else as_text(model),
                tokens=tokens,
                data=data,
            )
        )

    def add(self, event: Event) -> None:
        """Append `event`, cut as `write` cuts; one without a time gets the present one."""
        line = to_json(_as_line(event).model_dump(mode="json", exclude_none=True), indent=None)
        with self._lock:
            self._stream.write(line.encode(errors="replace").decode() + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _as_line(event: Event) -> TraceEvent:
    text, cut = event.text, event.cut
    if len(text) > BODY_LIMIT:
        digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        text, cut = text[:BODY_LIMIT], cut or Cut(characters=len(text), sha256=digest)
    return TraceEvent(
        time=event.time or timestamp(),
        phase=event.phase,
        kind=event.kind,
        text=text,
        tool=_name(event.tool),
        call_id=_name(event.call_id),
        agent=_name(event.agent),
        model=_name(event.model),
        tokens=event.tokens,
        cost_usd=event.cost_usd,
        data=None if event.data is None else _as_data(event.data),
        cut=cut,
    )


def _name(text: str | None) -> str | None:
    return None if text is None else text[:NAME_LIMIT]


def kind_of(value: object) -> Kind | None:
    """`value` where it is a kind."""
    return _KINDS.get(value) if isinstance(value, str) else None


def money(value: object) -> float | None:
    """US dollars as another program tells them; None where that is no amount."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= sys.float_info.max else None


def as_text(value: object) -> str:
    """`value` if it is text, else as JSON; never raises for what a JSON parser can give."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    except (ValueError, RecursionError):
        return f"({type(value).__name__} that can't be written)"


def _as_data(data: dict[str, Any]) -> dict[str, Any]:
    """`data` as it can be read again; what is no JSON, or too much of it, is kept as the beginning of its text."""
    try:
        # Through pydantic, which writes less deep than json does; in lists, as it lies deeper in its event.
        written = to_json(to_jsonable_python([[data]]), indent=None)[2:-2]
    except (ValueError, TypeError, RecursionError):
        return {"not_json": as_text(data)[:BODY_LIMIT]}
    return data if len(written) <= BODY_LIMIT else {"cut": written[:BODY_LIMIT]}


def read_trace(path: Path) -> Iterator[TraceEvent]:
    """The events of a trace, in order; constant memory."""
    for line in read_json_lines(path):
        yield TraceEvent.model_validate(line)
