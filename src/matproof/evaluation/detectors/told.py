"""What a trace tells detectors: files that an agent wrote by its tools, commands that it gave, what it said and saw.

Tools differ between agents, so they are known by their arguments: a call with a path and a text writes, one with a
command executes. The trace is written by this program outside the sandbox; the words in it are the agent's.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from matproof.core.trees import printable
from matproof.records.flags import LONGEST_EXCERPT, FoundAt

MOST_TRACE = 64_000_000
"""Bytes of a trace that are read."""
LONGEST_LINE = 1_000_000
_PATHS = ("file_path", "path", "filename", "notebook_path")
_TEXTS = ("content", "new_string", "file_text", "new_source", "patch")
_COMMANDS = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line that was executed."""

    text: str
    place: FoundAt
    workdir: str = "."


@dataclass(frozen=True, slots=True)
class Typed:
    """A file that the agent's model wrote, word for word, by a tool."""

    name: str
    """Path below the attempt's directory, such as artifacts/x.log."""
    text: str
    place: FoundAt
    order: int
    """Line of the trace."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a tool answered."""

    text: str
    call: str
    """Arguments of the call, as JSON text; empty where it is not known."""
    order: int


@dataclass(slots=True)
class Told:
    """The whole of it."""

    commands: list[Command] = field(default_factory=list)
    typed: list[Typed] = field(default_factory=list)
    said: list[tuple[str, FoundAt]] = field(default_factory=list)
    """Messages of the agent and the arguments of its calls."""
    heard: list[Heard] = field(default_factory=list)
    cut: bool = False


def read_told(trace: Path, artifacts: str) -> Told:
    """Read `trace`, at most `MOST_TRACE` bytes. A missing one tells nothing; a line that is no event is passed over."""
    told = Told()
    if not trace.is_file():
        return told
    calls: dict[str, str] = {}
    left = MOST_TRACE
    with trace.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            left -= len(line)
            if left < 0:
                told.cut = True
                break
            if (event := _parsed(line)) is not None:
                _take(told, event, number, calls, artifacts)
    return told


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("text", ""), str) else None


def _take(told: Told, event: dict[str, Any], number: int, calls: dict[str, str], artifacts: str) -> None:
    text, kind = event.get("text", ""), event.get("kind")
    data = event.get("data")
    role = data.get("role") if isinstance(data, dict) else None
    if kind in ("message", "thinking") and role != "user":
        told.said.append((text, _place(number, text)))
    elif kind == "tool_result":
        told.heard.append(Heard(text, calls.get(str(event.get("call_id")), ""), number))
    elif kind == "tool_call":
        calls[str(event.get("call_id"))] = text
        told.said.append((text, _place(number, text)))
        _call(told, text, number, artifacts)


def _call(told: Told, text: str, number: int, artifacts: str) -> None:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return  # cut in the middle, or no arguments
    if not isinstance(arguments, dict):
        return
    command = _first(arguments, _COMMANDS)
    if command is not None:
        told.commands.append(Command(command, _place(number, command)))
    path, content = _first(arguments, _PATHS), _first(arguments, _TEXTS)
    if path is not None and content is not None:
        told.typed.append(Typed(_below(path, artifacts), content, _place(number, content), number))


def _first(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
        if isinstance(value, str) and value:
            return value
    return None


def _below(path: str, artifacts: str) -> str:
    text = str(PurePosixPath(path.strip().removeprefix("/work/").removeprefix("/")))
    return text if text.startswith(f"{artifacts}/") else f"{artifacts}/{text}"


def _place(number: int, text: str) -> FoundAt:
    shown = printable(text[:LONGEST_EXCERPT].replace("\n", " ⏎ "))
    return FoundAt(file="trace.jsonl", line=number, excerpt=shown[:LONGEST_EXCERPT])
