"""Claude Code's older format: one JSON list of messages, the last element its totals.

The list is read element by element (`json_pieces`), so that a long one takes no more memory than a short one.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from matproof.models.base import Json
from matproof.models.conversation import number, total
from matproof.traces.claude_stream import AGENT, item_events, message_events
from matproof.traces.events import Event, TokenCounts, as_text, money
from matproof.traces.json_pieces import pieces
from matproof.traces.lines import parsed


def read(path: Path, unknown: Counter[str] | None = None) -> Iterator[Event]:
    """The events of a file; elements that nobody here knows are kept as `other` and counted in `unknown`."""
    with path.open("rb") as stream:
        yield from events(stream, Counter() if unknown is None else unknown)


def events(stream: BinaryIO, unknown: Counter[str]) -> Iterator[Event]:
    """The events of an open file; a message comes block by block, each block with the usage of the whole."""
    usage = _Usage()
    try:
        for path, text in pieces(stream, frozenset({()})):
            if path == ("*",) and text is not None:
                item = parsed(text)
                if isinstance(item, dict):
                    yield from _events(item, unknown, usage)
                else:
                    unknown["element that is no object"] += 1
                    yield Event(kind="other", text=as_text(item))
    except ValueError as error:
        unknown["rest of a broken document"] += 1
        yield Event(kind="error", text=f"the document can't be read further: {error}")
    yield from usage.ended()


def _events(item: Json, unknown: Counter[str], usage: "_Usage") -> Iterator[Event]:
    role = item.get("role")
    if role in ("user", "assistant"):
        yield from usage.ended(item)
        model = item.get("model")
        model = model if isinstance(model, str) else None
        yield from message_events(item, str(role), unknown, agent=AGENT, model=model)
        usage.met(item)
    elif role == "system" and "cost_usd" in item:
        yield from usage.ended()
        keys = ("duration_ms", "duration_api_ms", "session_id", "subtype", "num_turns", "is_error")
        data = {key: item[key] for key in keys if item.get(key) is not None}
        cost = money(item.get("cost_usd"))
        yield Event(kind="usage", cost_usd=cost, data={**data, "scope": "session"}, agent=AGENT)
    elif "type" in item and role is None:
        yield from item_events(item, unknown)  # elements of `--output-format json --verbose`, as in the stream
    else:
        unknown[f"role {as_text(role)[:60]}"] += 1
        yield Event(kind="other", text=as_text(role), agent=AGENT, data=item)


class _Usage:
    """Usage of the message under way: its blocks come one by one, and the last one's counts are the whole."""

    def __init__(self) -> None:
        self._message: Json | None = None

    def met(self, item: Json) -> None:
        """Remember a block's message."""
        if isinstance(item.get("usage"), dict):
            self._message = item

    def ended(self, following: Json | None = None) -> Iterator[Event]:
        """The usage of the message before `following`, unless that is another block of it."""
        message = self._message
        if message is None or (following is not None and following.get("id") == message.get("id")):
            return
        self._message = None
        usage, model = message["usage"], message.get("model")
        read, written = number(usage.get("cache_read_input_tokens")), number(usage.get("cache_creation_input_tokens"))
        counts = TokenCounts(
            input=total(number(usage.get("input_tokens")), read, written),
            cached=read,
            cache_write=written,
            output=number(usage.get("output_tokens")),
        )
        yield Event(kind="usage", tokens=counts, model=model if isinstance(model, str) else None, agent=AGENT)
