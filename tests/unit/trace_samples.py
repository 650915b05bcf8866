"""A run in events, with everything in it that formats differ in."""

from collections.abc import Iterator
from typing import Any

from matproof.traces.events import Event, TokenCounts

TIME = "2026-11-21T22:34:22.{:03d}Z"


def events() -> Iterator[Event]:
    """A run with everything in it: parallel calls, a subagent, a failure, a text as input, a limit."""
    here: dict[str, Any] = {"phase": "plan", "agent": "tester"}
    said = {**here, "model": "claude"}
    yield Event(kind="phase", text="begins", time=TIME.format(0), **here)
    yield Event(kind="message", text="You are brief.", data={"role": "system"}, time=TIME.format(1), **here)
    yield Event(kind="message", text="go", data={"role": "user"}, time=TIME.format(2), **here)
    yield Event(kind="thinking", text="first look", time=TIME.format(3), **said)
    yield Event(kind="message", text="I look.", data={"role": "assistant"}, time=TIME.format(3), **said)
    yield Event(kind="tool_call", tool="Bash", call_id="a", text='{"command": "ls"}', time=TIME.format(3), **said)
    yield Event(kind="tool_call", tool="apply_patch", call_id="b", text="*** Begin", time=TIME.format(3), **said)
    counts = TokenCounts(input=100, cached=60, cache_write=10, output=7)
    yield Event(kind="usage", tokens=counts, cost_usd=0.25, time=TIME.format(4), **said)
    yield Event(
        kind="tool_result", call_id="b", text="no such file", data={"is_error": True}, time=TIME.format(5), **here
    )
    yield Event(kind="tool_result", call_id="a", text="a.txt", time=TIME.format(6), **here)
    other = {**said, "agent": "tester/2"}
    yield Event(kind="message", text="I help.", data={"role": "assistant"}, time=TIME.format(7), **other)
    yield Event(kind="message", text="Done.", data={"role": "assistant"}, time=TIME.format(7), **said)
    yield Event(kind="usage", tokens=TokenCounts(input=5, cached=0, cache_write=0, output=1), cost_usd=0.5, **said)
    yield Event(kind="step", text="relax", data={"returncode": 0}, time=TIME.format(8), **here)
    yield Event(kind="tool_result", call_id="lost", text="nobody asked", time=TIME.format(8), **here)
    yield Event(kind="limit", text="the walltime is nearly over", time=TIME.format(9), **here)
    yield Event(kind="error", text="provider down", **here)
