"""Events put together to steps, as other formats tell a run: one answer of the model with all that came of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from matproof.traces.events import Event


@dataclass(slots=True)
class Step:
    """One step: an answer of the assistant, or any one other event."""

    first: Event
    """Tells time, phase, agent and model."""
    answer: bool
    """Whether the assistant answers; else `first` is all there is."""
    thinking: Event | None = None
    message: Event | None = None
    calls: list[Event] = field(default_factory=list)
    results: list[Event] = field(default_factory=list)
    """Results of `calls`, in the order in which they came."""
    usage: Event | None = None


def steps(events: Iterable[Event]) -> list[Step]:
    """The steps of a run, in the order in which they began; a result stands with its call, however late it came."""
    made: list[Step] = []
    under_way: dict[tuple[str, str | None], Step] = {}
    called: dict[str, Step] = {}
    for event in events:
        lane = (event.phase, event.agent)
        step = under_way.get(lane)
        if event.kind == "tool_result" and (event.call_id or "") in called:
            # One result a call: a second one stands alone.
            called.pop(event.call_id or "").results.append(event)
            under_way.pop(lane, None)
        elif event.kind == "usage" and step is not None and "scope" not in (event.data or {}):
            step.usage = event
            del under_way[lane]
        elif _answers(event):
            if step is None or not _fits(step, event):
                step = under_way[lane] = Step(first=event, answer=True)
                made.append(step)
            _add(step, event)
            if event.kind == "tool_call" and event.call_id is not None:
                called[event.call_id] = step
        else:
            under_way.pop(lane, None)
            made.append(Step(first=event, answer=False))
    return made


def _answers(event: Event) -> bool:
    spoken = event.kind == "message" and (event.data or {}).get("role") == "assistant"
    return spoken or event.kind == "thinking" or (event.kind == "tool_call" and event.call_id is not None)


def _fits(step: Step, event: Event) -> bool:
    """Whether `event` can be of the same answer, whose order is thinking, message, calls."""
    if event.model != step.first.model:
        return False
    if event.kind == "thinking":
        return step.thinking is None and step.message is None and not step.calls
    if event.kind == "message":
        return step.message is None and not step.calls
    return all(call.call_id != event.call_id for call in step.calls)


def _add(step: Step, event: Event) -> None:
    if event.kind == "thinking":
        step.thinking = event
    elif event.kind == "message":
        step.message = event
    else:
        step.calls.append(event)
