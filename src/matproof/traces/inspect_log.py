"""Logs of Inspect AI: one `.json` document, or an `.eval` archive with a document a sample.

Of each sample the messages come first, as they stood at the end, then its events: usage of each model call, calls and
results that are in no message (of subagents, say), errors, limits, and everything else as `other`. Long texts of events
are kept apart in the log; the first pass over a file looks them up, up to `MOST_ATTACHMENTS` of them. A sample's id and
epoch are the phase.
"""

import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from matproof.models.base import Json
from matproof.models.conversation import number, total
from matproof.traces.archived import opened
from matproof.traces.blocks import dicts, result_text
from matproof.traces.events import Event, TokenCounts, as_text, kind_of, money
from matproof.traces.json_pieces import pieces
from matproof.traces.lines import parsed

OWN = "matproof"
"""Source of events that this program wrote into a log, to take them back as they were."""
MOST_ATTACHMENTS = 64_000_000
"""Bytes of attachments that are held; a reference to one beyond them stays as it is."""
_ATTACHMENT = "attachment://"
_SAMPLE = ("samples", "*")
_KNOWN_EVENTS = frozenset(
    {
        *("anchor", "approval", "branch", "checkpoint", "compaction", "info", "input", "interrupt", "logger"),
        *("review", "sample_init", "sandbox", "score", "score_edit", "sentinel", "span_begin", "span_end"),
        *("state", "step", "store", "subtask"),
    }
)
_BROKEN = (ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What a damaged document or archive raises; RuntimeError: a member that is encrypted or packed oddly."""
Open = Callable[[], AbstractContextManager[BinaryIO]]


def read(path: Path, unknown: Counter[str] | None = None) -> Iterator[Event]:
    """The events of a log; what nobody here knows is kept as `other` and counted in `unknown`."""
    counts: Counter[str] = Counter() if unknown is None else unknown
    with path.open("rb") as stream:
        archive = stream.read(4) == b"PK\x03\x04"
    if not archive:
        yield from _document(lambda: path.open("rb"), counts, prefix=_SAMPLE)
        return
    with zipfile.ZipFile(path) as members:
        entries = members.infolist()
    for entry in entries:
        if entry.filename == "header.json":
            yield from _document(opened(path, entry), counts, prefix=_SAMPLE)
    for entry in entries:
        if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
            yield from _document(opened(path, entry), counts, prefix=())


def _document(source: Open, unknown: Counter[str], *, prefix: tuple[str, ...]) -> Iterator[Event]:
    """The events of one document: a whole log, or with an empty prefix one sample."""
    depth = len(prefix)
    entered = frozenset({(), prefix[:1], prefix, (*prefix, "messages"), (*prefix, "events")})
    sample = _Sample(unknown=unknown, attachments=_attachments(source, prefix))
    try:
        with source() as stream:
            for path, text in pieces(stream, entered):
                if path == prefix and text is None:
                    sample = _Sample(unknown=unknown, attachments=sample.attachments)
                elif text is None:
                    continue
                elif path[:depth] == prefix and len(path) > depth:
                    yield from sample.events(path[depth:], parsed(text))
                else:
                    yield Event(kind="other", text=".".join(path), data={"value": parsed(text)})
    except _BROKEN as error:
        unknown["rest of a broken document"] += 1
        yield Event(kind="error", text=f"the document can't be read further: {error}")


def _attachments(source: Open, prefix: tuple[str, ...]) -> dict[str, str]:
    """Texts that are kept apart, by their names."""
    found: dict[str, str] = {}
    size = 0
    entered = frozenset({(), prefix[:1], prefix, (*prefix, "attachments")})
    try:
        with source() as stream:
            for path, text in pieces(stream, entered):
                if path[:-1] == (*prefix, "attachments") and text is not None and size + len(text) <= MOST_ATTACHMENTS:
                    size += len(text)
                    found[path[-1]] = as_text(parsed(text))
    except _BROKEN:
        return found  # the pass that follows meets the same end and tells
    return found


@dataclass(slots=True)
class _Sample:
    """What was told of one sample so far."""

    unknown: Counter[str]
    attachments: dict[str, str]
    id: str = ""
    epoch: str = ""
    messages: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    @property
    def phase(self) -> str:
        return f"{self.id} ({self.epoch})" if self.epoch else self.id

    def events(self, path: tuple[str, ...], value: Any) -> Iterator[Event]:
        """The events of one field, message or event of the sample."""
        if path == ("messages", "*") and isinstance(value, dict):
            yield from self._message(value)
        elif path == ("events", "*") and isinstance(value, dict):
            yield from self._event(value)
        elif path == ("attachments",):
            return
        elif path == ("error",) and isinstance(value, dict):
            yield Event(kind="error", text=as_text(value.get("message") or ""), phase=self.phase, data=value)
        elif path == ("limit",) and isinstance(value, dict):
            yield Event(kind="limit", text=as_text(value.get("type") or ""), phase=self.phase, data=value)
        else:
            if path == ("id",):
                self.id = as_text(value)
            elif path == ("epoch",):
                self.epoch = as_text(value)
            if value not in (None, "", [], {}):
                yield Event(kind="other", text=".".join(path), phase=self.phase, data={"value": value})

    def _message(self, message: Json, **common: Any) -> Iterator[Event]:
        role, content = message.get("role"), message.get("content")
        common = {"phase": self.phase, **common}
        if isinstance(message.get("id"), str):
            self.messages.add(message["id"])
        if role == "tool":
            yield self._tool_result(message.get("tool_call_id"), content, message.get("error"), message, common)
            return
        if role == "assistant" and isinstance(message.get("model"), str):
            common["model"] = message["model"]
        for part in content if isinstance(content, list) else [content]:
            yield from self._part(part, as_text(role), common)
        for call in dicts(message.get("tool_calls")):
            yield self._tool_call(call, common)

    def _part(self, part: Any, role: str, common: Json) -> Iterator[Event]:
        if isinstance(part, str):
            if part:
                yield Event(kind="message", text=self._whole(part), data={"role": role}, **common)
            return
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            yield Event(kind="message", text=self._whole(part.get("text")), data={"role": role}, **common)
        elif kind == "reasoning":
            thought = self._whole(part.get("summary") or part.get("reasoning") or "")
            hidden = bool(part.get("redacted"))
            data = {"withheld": True} if hidden else None
            yield Event(kind="thinking", text="" if hidden else thought, data=data, **common)
        elif kind in ("image", "audio", "video", "document"):
            yield Event(kind="message", text=f"[{kind}]", data={"role": role}, **common)
        elif part is not None:
            self.unknown[f"content {as_text(kind)[:60]}"] += 1
            yield Event(kind="other", text=as_text(part), data={"role": role, "type": as_text(kind)[:60]}, **common)

    def _tool_call(self, call: Json, common: Json) -> Event:
        call_id, arguments = as_text(call.get("id")), call.get("arguments")
        self.called.add(call_id)
        if isinstance(arguments, dict):
            arguments = arguments[OWN] if list(arguments) == [OWN] else {k: self._same(v) for k, v in arguments.items()}
        tool = as_text(call.get("function") or "")
        return Event(kind="tool_call", text=as_text(arguments), tool=tool, call_id=call_id, **common)

    def _tool_result(self, call_id: Any, content: Any, error: Any, about: Json, common: Json) -> Event:
        self.answered.add(as_text(call_id))
        text = self._whole(result_text(content))
        data = {"is_error": True, "error": error} if error else None
        if isinstance(error, dict) and not text:
            text = as_text(error.get("message") or "")
        tool = about.get("function")
        tool = tool if isinstance(tool, str) else None
        name = as_text(call_id) if call_id is not None else None
        return Event(kind="tool_result", text=text, tool=tool, call_id=name, data=data, **common)

    def _event(self, event: Json) -> Iterator[Event]:
        kind, time = event.get("event"), event.get("timestamp")
        common: Json = {"phase": self.phase, "time": time if isinstance(time, str) else None}
        if kind == "model":
            yield from self._model(event, common)
        elif kind == "tool":
            call_id = as_text(event.get("id"))
            if call_id not in self.called:
                yield self._tool_call(event, common)
            if call_id not in self.answered and not event.get("pending"):
                yield self._tool_result(event.get("id"), event.get("result"), event.get("error"), event, common)
        elif kind == "error":
            error = event.get("error")
            said = error.get("message") if isinstance(error, dict) else error
            yield Event(kind="error", text=as_text(said or ""), **common)
        elif kind == "sample_limit":
            yield Event(
                kind="limit", text=as_text(event.get("message") or ""), data={"type": event.get("type")}, **common
            )
        elif kind == "info" and event.get("source") == OWN and isinstance(event.get("data"), dict):
            yield _own_event(event["data"], common)
        else:
            if as_text(kind) not in _KNOWN_EVENTS:
                self.unknown[f"event {as_text(kind)[:60]}"] += 1
            yield Event(kind="other", text=as_text(kind), data=event, **common)

    def _model(self, event: Json, common: Json) -> Iterator[Event]:
        output = event.get("output")
        output = output if isinstance(output, dict) else {}
        name = event.get("model")
        common = {**common, "model": name if isinstance(name, str) else None}
        for choice in dicts(output.get("choices")):
            message = choice.get("message")
            if isinstance(message, dict) and as_text(message.get("id")) not in self.messages:
                yield from self._message(message, **common)
        error = event.get("error") or output.get("error")
        if error:
            yield Event(kind="error", text=as_text(error), **common)
        if isinstance(output.get("usage"), dict):
            yield _usage(output["usage"], common)

    def _whole(self, text: Any) -> str:
        text = as_text(text)
        kept = self.attachments.get(text.removeprefix(_ATTACHMENT)) if text.startswith(_ATTACHMENT) else None
        return text if kept is None else kept

    def _same(self, value: Any) -> Any:
        return self._whole(value) if isinstance(value, str) else value


def _usage(usage: Json, common: Json) -> Event:
    read, written = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
    counts = TokenCounts(
        input=total(number(usage.get("input_tokens")), number(read or 0), number(written or 0)),
        cached=number(read),
        cache_write=number(written),
        output=number(usage.get("output_tokens")),
    )
    return Event(kind="usage", tokens=counts, cost_usd=money(usage.get("total_cost")), **common)


def _own_event(own: Json, common: Json) -> Event:
    data = own.get("data")
    return Event(
        kind=kind_of(own.get("kind")) or "other",
        text=as_text(own.get("text") or ""),
        tool=own["tool"] if isinstance(own.get("tool"), str) else None,
        call_id=own["call_id"] if isinstance(own.get("call_id"), str) else None,
        agent=own["agent"] if isinstance(own.get("agent"), str) else None,
        data=data if isinstance(data, dict) else None,
        **{**common, "phase": as_text(own.get("phase") or common["phase"])},
    )
