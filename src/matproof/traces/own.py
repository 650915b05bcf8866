"""Lines of `trace.jsonl` as events, also while the file grows, of this version and of others."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from matproof.models.base import Json
from matproof.models.conversation import number
from matproof.traces.atif import cut_of
from matproof.traces.events import Event, TokenCounts, as_text, kind_of, money
from matproof.traces.lines import parsed


class TraceEvents:
    """Reads `trace.jsonl` while it grows."""

    def __init__(self, path: Path, unknown: Counter[str] | None = None) -> None:
        self.unknown: Counter[str] = Counter() if unknown is None else unknown
        """Lines and kinds that are not known here; they are events all the same."""
        self._path = path
        self._offset = 0

    def new(self) -> Iterator[Event]:
        """Events of the lines that were completed since the last call; nothing where there is no file yet."""
        try:
            stream = self._path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            stream.seek(self._offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                try:
                    item = parsed(line)
                except ValueError:
                    item = None
                if isinstance(item, dict):
                    yield own_event(item, self.unknown)
                elif line.strip():
                    self.unknown["line that is no JSON object"] += 1
                    yield Event(kind="other", text=line.decode(errors="replace").rstrip("\n"), data={"type": "line"})


def own_event(line: Json, unknown: Counter[str]) -> Event:
    """A line of `trace.jsonl`, of this version or another; a kind that is not known here is `other`."""
    tokens, data, kind = line.get("tokens"), line.get("data"), kind_of(line.get("kind"))
    if kind is None:
        name = as_text(line.get("kind"))[:60]
        unknown[f"kind {name}"] += 1
        kind, data = "other", {"kind": name, **(data if isinstance(data, dict) else {})}
    counts = ("input", "cached", "cache_write", "output")

    def text(key: str) -> str | None:
        value = line.get(key)
        return None if value is None else as_text(value)

    return Event(
        kind=kind,
        text=text("text") or "",
        time=text("time"),
        phase=text("phase") or "",
        tool=text("tool"),
        call_id=text("call_id"),
        agent=text("agent"),
        model=text("model"),
        tokens=TokenCounts(**{key: number(tokens.get(key)) for key in counts}) if isinstance(tokens, dict) else None,
        cost_usd=money(line.get("cost_usd")),
        data=data if isinstance(data, dict) else None,
        cut=cut_of(line.get("cut")),
    )
