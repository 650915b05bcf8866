"""Lines of JSON that another program wrote: read one by one, none too long to hold, none dropped."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

from pydantic_core import from_json

from matproof.models.base import Json
from matproof.traces.events import Event

MOST_LINE = 64_000_000
"""Bytes of the longest line that is parsed; of a longer one only the size and hash are kept."""

MOST_PARTS = 2_000_000
"""Lists, objects and commas of a line that is parsed: in memory a small one takes thirty times its bytes."""


def parsed(text: bytes) -> Any:
    """JSON as plain data. Raises ValueError; what the fast parser refuses, such as half a surrogate pair, is tried
    with the lenient one."""
    try:
        return from_json(text)
    except ValueError:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def parts(text: bytes) -> int:
    """At least as many as the lists, objects and values in `text`."""
    return sum(map(text.count, (b"[", b"{", b",")))


def events_of_lines(
    stream: BinaryIO, unknown: Counter[str], events_of: Callable[[Json], Iterator[Event]]
) -> Iterator[Event]:
    """`events_of` each line that is a JSON object; other lines, such as a program's own words, as `other`."""
    for line in iter(partial(stream.readline, MOST_LINE), b""):
        if len(line) == MOST_LINE and not line.endswith(b"\n"):
            unknown["line too long"] += 1
            yield _too_long(stream, line)
            continue
        try:
            item = parsed(line) if parts(line) <= MOST_PARTS else None
        except ValueError:
            item = None
        if isinstance(item, dict):
            yield from events_of(item)
        elif line.strip():
            unknown["line that is no JSON object"] += 1
            yield Event(kind="other", text=line.decode(errors="replace").rstrip("\n"), data={"type": "line"})


def _too_long(stream: BinaryIO, line: bytes) -> Event:
    size, digest = len(line), hashlib.sha256(line)
    while not line.endswith(b"\n") and (line := stream.readline(MOST_LINE)):
        size += len(line)
        digest.update(line)
    return Event(kind="other", text="a line too long to read", data={"bytes": size, "sha256": digest.hexdigest()})
