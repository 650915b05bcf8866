"""The transcript of a run: the events of its trace, in pages that a browser can hold.

The file was written by us, what it says was not: every value is checked for its kind and shown as text.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from matproof.report.pages import Frame, render, slug
from matproof.tables.words import clean, shorten

EVENTS_A_PAGE = 400
CHARACTERS_A_PAGE = 500_000
MOST_EVENTS = 20_000
"""Events that are shown; the trace has them all."""
_MOST_LINE = 200_000
_COUNTS = (("input", "tokens read"), ("cached", "of them cached"), ("output", "written"))
_OPEN = frozenset({"message", "tool_call", "diagnosis", "error", "limit", "phase"})
"""Kinds that are unfolded from the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event as it is shown."""

    number: int
    time: str
    phase: str
    kind: str
    tool: str
    text: str
    first: str
    """Its first line, shortened."""
    cut: int | None
    """Characters of the whole text where the trace holds only its beginning."""
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One page of a transcript."""

    name: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What the run's page says of it."""

    parts: list[Part]
    events: int
    kinds: list[tuple[str, int]]
    cut: bool


def transcript(trace: Path, title: str, run_name: str, frame: Frame, root: str) -> Transcript | None:
    """The transcript of `trace`; None where there is none. `run_name` is the file name of the run's page."""
    try:
        events = list(islice(_events(trace), MOST_EVENTS + 1))
    except OSError:
        return None
    if not events:
        return None
    from markupsafe import Markup

    cut = len(events) > MOST_EVENTS
    pages = _pages(events[:MOST_EVENTS])
    names = ["transcript.html" if not index else f"transcript-{index + 1}.html" for index in range(len(pages))]
    parts = [
        Part(
            name=name,
            html=render(
                "transcript.html",
                frame=frame,
                root=root,
                title=title,
                run_href=f"../{run_name}",
                count=len(page),
                items=Markup("\n".join([_item(event) for event in page])),  # noqa: S704 - escaped in _item
                kinds=Counter(event.kind for event in page).most_common(),
                names=names,
                index=index,
                cut=cut and index == len(pages) - 1,
            ),
        )
        for index, (name, page) in enumerate(zip(names, pages, strict=True))
    ]
    return Transcript(
        parts=parts, events=len(events), kinds=Counter(event.kind for event in events).most_common(), cut=cut
    )


def _item(event: Event) -> str:
    """HTML of an event. Not in the template: there are more of these than of anything else, and this takes a third
    of the time. Whatever the trace says goes through `escape`, after `clean`."""
    from markupsafe import escape

    tool = f"<b>{escape(event.tool)}</b> " if event.tool else ""
    cut = f'<p class="quiet">The trace holds the beginning of {event.cut:,} characters.</p>' if event.cut else ""
    return (
        f'<li id="e{event.number}" data-kind="{escape(event.kind)}"><details{" open" if event.open else ""}><summary>'
        f'<span class="badge k-{slug(event.kind)}">{escape(event.kind.replace("_", " "))}</span> {tool}'
        f'<span class="first">{escape(event.first)}</span> '
        f'<a class="when" href="#e{event.number}">{escape(event.phase)} {escape(event.time)}</a></summary>\n'
        f"<pre>{escape(event.text)}</pre>{cut}</details></li>"
    )


def _events(trace: Path) -> Iterator[Event]:
    with trace.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_MOST_LINE), b""), 1):
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(data, dict):
                yield _event(number, data)


def _event(number: int, data: dict[str, Any]) -> Event:
    def text(key: str) -> str:
        value = data.get(key)
        return value if isinstance(value, str) else ""

    body = "\n".join(filter(None, (_used(data), text("text"))))
    more = data.get("data")
    if isinstance(more, dict) and more:
        body += ("\n" if body else "") + _plain(more)
    cut = data.get("cut")
    whole = cut.get("characters") if isinstance(cut, dict) else None
    kind = clean(text("kind"), 40) or "unknown"
    body = clean(body, 40_000).strip("\n")
    return Event(
        number=number,
        time=clean(text("time")[11:19], 20),
        phase=clean(text("phase"), 40),
        kind=kind,
        tool=clean(text("tool"), 80),
        text=body,
        first=shorten(" ".join(body[:400].split()), 140),
        cut=whole if isinstance(whole, int) else None,
        open=kind in _OPEN and len(body) < 3000,
    )


def _used(data: dict[str, Any]) -> str:
    """Model, tokens and cost of an event that tells of what was used."""
    tokens, cost = data.get("tokens"), data.get("cost_usd")
    counts = [(tokens.get(key), word) for key, word in _COUNTS] if isinstance(tokens, dict) else []
    parts = [f"{count:,} {word}" for count, word in counts if isinstance(count, int)]
    if isinstance(cost, int | float):
        parts.append(f"${cost:.4f}")
    model = data.get("model")
    return ", ".join([model, *parts] if parts and isinstance(model, str) else parts)


def _plain(data: dict[str, Any]) -> str:
    """A call's arguments: one text a line of its own, anything else as JSON."""
    lines = []
    for key, value in islice(data.items(), 50):
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key}: {shown}" if "\n" not in shown else f"{key}:\n{shown}")
    return "\n".join(lines)


def _pages(events: list[Event]) -> list[list[Event]]:
    pages: list[list[Event]] = [[]]
    size = 0
    for event in events:
        if len(pages[-1]) >= EVENTS_A_PAGE or (pages[-1] and size + len(event.text) > CHARACTERS_A_PAGE):
            pages.append([])
            size = 0
        pages[-1].append(event)
        size += len(event.text)
    return pages
