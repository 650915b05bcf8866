"""Which tool calls have no result, and which results no call."""

from collections.abc import Iterable
from dataclasses import dataclass

from matproof.traces.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """Calls and results that stand alone, in their order."""

    pairs: int
    """Calls whose result was found."""
    calls: tuple[Event, ...]
    results: tuple[Event, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing stands alone."""
        return not self.calls and not self.results


def pairing(events: Iterable[Event]) -> Unpaired:
    """Pairs results with the calls before them, by their ids; memory grows with open calls alone.

    An id that is called again before its result came counts once more. Without an id nothing is paired.
    """
    waiting: dict[str, list[Event]] = {}
    alone: list[Event] = []
    results: list[Event] = []
    pairs = 0
    for event in events:
        if event.kind == "tool_call":
            if event.call_id is None:
                alone.append(event)
            else:
                waiting.setdefault(event.call_id, []).append(event)
        elif event.kind == "tool_result":
            calls = waiting.get(event.call_id or "")
            if calls:
                calls.pop(0)
                pairs += 1
                if not calls:
                    del waiting[event.call_id or ""]
            else:
                results.append(event)
    open_calls = [event for calls in waiting.values() for event in calls]
    return Unpaired(pairs=pairs, calls=(*alone, *open_calls), results=tuple(results))
