"""`trace.jsonl`: what happened in a run, one event a line, whichever agent it was.

Bodies over `BODY_LIMIT` characters are cut, with their full size and hash kept, so that a flood stays readable and
what was cut can still be recognised. What an event holds was written by an agent or a model: it is data.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

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
]


class Cut(BaseModel):
    """What was left out of a body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    characters: int
    sha256: str


class TraceEvent(BaseModel):
    """One event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = 1
    time: str
    phase: str
    kind: Kind
    text: str = ""
    tool: str | None = None
    call_id: str | None = None
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
        data: dict[str, Any] | None = None,
    ) -> None:
        """Append one event; `text` over the limit is cut with its hash kept.

        Whatever stands where text should be is written as JSON: an event of a client that was tampered with is an
        event, not an error.
        """
        cut = None
        text = as_text(text)
        if len(text) > BODY_LIMIT:
            digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
            text, cut = text[:BODY_LIMIT], Cut(characters=len(text), sha256=digest)
        event = TraceEvent(
            time=timestamp(),
            phase=phase,
            kind=kind,
            text=text,
            tool=None if tool is None else as_text(tool)[:NAME_LIMIT],
            call_id=None if call_id is None else as_text(call_id)[:NAME_LIMIT],
            data=None if data is None else _as_data(data),
            cut=cut,
        )
        line = to_json(event.model_dump(mode="json", exclude_none=True), indent=None)
        with self._lock:
            self._stream.write(line.encode(errors="replace").decode() + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


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
        written = to_json(data, indent=None)
    except (ValueError, TypeError, RecursionError):
        return {"not_json": as_text(data)[:BODY_LIMIT]}
    return data if len(written) <= BODY_LIMIT else {"cut": written[:BODY_LIMIT]}


def read_trace(path: Path) -> Iterator[TraceEvent]:
    """The events of a trace, in order; constant memory."""
    for line in read_json_lines(path):
        yield TraceEvent.model_validate(line)
