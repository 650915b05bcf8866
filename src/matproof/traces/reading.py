"""Any transcript as events: which format a file has, and its reader.

Formats are told by content, never by name. Each reader holds one item at a time, keeps what it does not know as events
of kind `other`, and counts it.
"""

import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from matproof.core.errors import InputError
from matproof.models.base import Json
from matproof.traces import atif, claude_array, claude_stream, codex_exec, inspect_log
from matproof.traces.events import Event
from matproof.traces.from_exchanges import ExchangeEvents
from matproof.traces.json_pieces import pieces
from matproof.traces.lines import parsed
from matproof.traces.own import TraceEvents

Reader = Callable[[Path, Counter[str]], Iterator[Event]]
_LOOKED_AT = 64
"""Lines, or members of a document, after which a format is told or never."""


def _own(path: Path, unknown: Counter[str]) -> Iterator[Event]:
    """`trace.jsonl`."""
    return TraceEvents(path, unknown).new()


def _exchanges(path: Path, unknown: Counter[str]) -> Iterator[Event]:
    """`exchanges.jsonl`, the gateway's own record."""
    found = ExchangeEvents(path, agent="agent")
    yield from found.new()
    unknown.update(found.unknown)


READERS: dict[str, Reader] = {
    "trace": _own,
    "exchanges": _exchanges,
    "claude-stream": claude_stream.read,
    "claude-array": claude_array.read,
    "codex-exec": codex_exec.read,
    "atif": atif.read,
    "inspect": inspect_log.read,
}
"""Format → reader."""


@dataclass
class Events:
    """The events of a file, in order; to be gone through once."""

    path: Path
    format: str
    unknown: Counter[str] = field(default_factory=Counter)
    """Items that the reader does not know, by their type; whole once the events were gone through."""

    def __iter__(self) -> Iterator[Event]:
        return READERS[self.format](self.path, self.unknown)


def read_events(path: Path, format: str | None = None) -> Events:
    """The events of the file at `path`. Raises InputError where there is none, or of no format that is read here."""
    if not path.is_file():
        raise InputError(path, "", "no such file", "give a transcript")
    if format is None:
        try:
            format = detect(path)
        except OSError as error:
            raise InputError(path, "", f"can't be read: {error.strerror}", "mend its permissions") from error
    if format not in READERS:
        problem = "is no transcript of a format that is read here" if format is None else f"no format {format!r}"
        raise InputError(path, "", problem, f"formats are {', '.join(READERS)}")
    return Events(path, format)


def detect(path: Path) -> str | None:
    """The format of a file; None where it is none of `READERS`."""
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(0)
        if start == b"PK\x03\x04":
            return "inspect" if _is_eval(path) else None
        return _of_lines(stream) or _of_document(path)


def _is_eval(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return False
    return any(name == "header.json" or name.startswith(("_journal/", "samples/")) for name in names)


def _of_lines(stream: BinaryIO) -> str | None:
    for _ in range(_LOOKED_AT):
        line = stream.readline(1 << 24)
        if not line:
            return None
        try:
            item = parsed(line)
        except ValueError:
            continue
        if isinstance(item, dict) and (found := _of_line(item)):
            return found
    return None


def _of_line(item: Json) -> str | None:
    kind = item.get("type")
    if {"kind", "phase", "time"} <= item.keys():
        return "trace"
    if {"api", "session", "request", "reply"} <= item.keys():
        return "exchanges"
    if isinstance(kind, str) and (kind.startswith(("thread.", "turn.", "item."))):
        return "codex-exec"
    if isinstance(item.get("message"), dict) and kind in ("assistant", "user"):
        return "claude-stream"
    return "claude-stream" if kind in ("system", "result") and ("session_id" in item or "subtype" in item) else None


def _of_document(path: Path) -> str | None:
    keys: set[str] = set()
    try:
        with path.open("rb") as stream:
            for index, (place, text) in enumerate(pieces(stream, frozenset({()}))):
                if place == ("*",) and text is not None:
                    item = parsed(text)
                    spoken = isinstance(item, dict) and (item.get("role") is not None or _of_line(item) is not None)
                    return "claude-array" if spoken else None
                keys.update(place)
                if place == ("schema_version",) and text is not None and text.startswith(b'"ATIF-'):
                    return "atif"
                if {"eval", "version"} <= keys or {"eval", "status"} <= keys:
                    return "inspect"
                if index > _LOOKED_AT:
                    return None
    except (ValueError, RecursionError):
        return None
    return "atif" if {"agent", "steps"} <= keys else None
