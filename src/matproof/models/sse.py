"""Server-sent events: writing them, and reading them from bytes that arrive in any pieces."""

import codecs
import json
from dataclasses import dataclass
from typing import Any

MAX_EVENT_CHARS = 32_000_000
"""Longest line or event that is kept; what is longer is a broken stream, not an event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (empty where the stream gives none) and its data."""

    name: str
    data: str

    def encode(self) -> bytes:
        """The event as it stands in a stream."""
        head = f"event: {self.name}\n" if self.name else ""
        lines = "".join(f"data: {line}\n" for line in self.data.split("\n"))
        return f"{head}{lines}\n".encode(errors="replace")


def json_event(name: str, data: Any) -> Event:
    """An event whose data is `data` as JSON on one line."""
    return Event(name, json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


class Decoder:
    """Bytes of a stream, in any pieces, to events. Raises ValueError for an event beyond `MAX_EVENT_CHARS`."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._pending: list[str] = []
        self._pending_chars = 0
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []
        self._data_chars = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Events completed by `chunk`."""
        text = self._text.decode(chunk)
        if self._first and text:
            text, self._first = text.removeprefix("\ufeff"), False
        if self._after_cr and text:
            text, self._after_cr = text.removeprefix("\n"), False
        if text.endswith("\r"):
            self._after_cr = True
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        events = []
        for line in lines[:-1]:
            whole = "".join((*self._pending, line))
            self._pending, self._pending_chars = [], 0
            event = self._line(whole)
            if event is not None:
                events.append(event)
        self._pending.append(lines[-1])
        self._pending_chars += len(lines[-1])
        if self._pending_chars > MAX_EVENT_CHARS:
            raise ValueError("an event of the stream is too long")
        return events

    def _line(self, line: str) -> Event | None:
        if not line:
            event = Event(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data, self._data_chars = "", [], 0
            return event
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            self._name = value
        elif key == "data":
            self._data.append(value)
            self._data_chars += len(value)
            if self._data_chars > MAX_EVENT_CHARS:
                raise ValueError("an event of the stream is too long")
        return None
