"""A run as an ATIF trajectory (version 1.7), for Harbor's viewers and converters; `atif.read` reads it back.

What ATIF has no field for stands in `extra` under `matproof`: phase, agent, cuts, and events that are no step of an
agent, as steps of the system.
"""

import json
from collections.abc import Iterable
from typing import Any

from matproof import __version__
from matproof.models.base import Json
from matproof.traces.atif import OWN
from matproof.traces.events import Event
from matproof.traces.steps import Step, steps

VERSION = "ATIF-v1.7"
_NAMES = ("claim", "setting", "repeat", "attempt")
"""What makes the name of a session; readers of versions before 1.7 want one."""
_SOURCES = {"user": "user", "system": "system"}


def trajectory(events: Iterable[Event], *, agent: str, version: str, model: str | None, run: Json) -> Json:
    """The document. `run` is what else is known of the run; steps are held in memory."""
    made = [_step(number, step) for number, step in enumerate(steps(events), 1)]
    named: Json = {"name": agent, "version": version}
    if model:
        named["model_name"] = model
    return {
        "schema_version": VERSION,
        "session_id": "/".join(str(run[key]) for key in _NAMES if key in run) or "trace",
        "agent": named,
        "steps": made,
        "notes": f"written by matproof {__version__}",
        "final_metrics": _totals(made, run.get("usage")),
        "extra": {OWN: run},
    }


def _step(number: int, step: Step) -> Json:
    first = step.first
    found: Json = {"step_id": number}
    if first.time is not None:
        found["timestamp"] = first.time
    if not step.answer:
        return {**found, **_other(first)}
    own: Json = known(phase=first.phase or None, agent=first.agent)
    found |= {"source": "agent", "message": step.message.text if step.message is not None else ""}
    if first.model is not None:
        found["model_name"] = first.model
    if step.thinking is not None:
        found["reasoning_content"] = step.thinking.text
    if step.calls:
        found["tool_calls"] = [_call(call) for call in step.calls]
    if step.results:
        found["observation"] = {"results": [_result(result) for result in step.results]}
        own["times"] = {result.call_id: result.time for result in step.results if result.time is not None}
    if step.usage is not None:
        found["metrics"] = _metrics(step.usage)
        found["llm_call_count"] = 1
    if step.message is not None:
        own |= known(data=step.message.data, cut=_cut(step.message))
    if step.thinking is not None:
        own |= known(thinking_data=step.thinking.data, thinking_cut=_cut(step.thinking))
    return {**found, "extra": {OWN: own}} if own else found


def _other(event: Event) -> Json:
    """An event that is no answer: what was said to the agent, or a step of the system."""
    role = (event.data or {}).get("role")
    if event.kind == "message" and role in _SOURCES and event.cut is None:
        own = known(phase=event.phase or None, agent=event.agent)
        return {"source": _SOURCES[role], "message": event.text, **({"extra": {OWN: own}} if own else {})}
    own = known(
        kind=event.kind,
        phase=event.phase or None,
        tool=event.tool,
        call_id=event.call_id,
        agent=event.agent,
        model=event.model,
        tokens=_tokens(event),
        cost_usd=event.cost_usd,
        data=event.data,
        cut=_cut(event),
    )
    return {"source": "system", "message": event.text, "extra": {OWN: own}}


def arguments_of(call: Event, own: str) -> Json:
    """A call's input as an object; what is none, under the key `own`."""
    try:
        arguments = json.loads(call.text)
    except (ValueError, RecursionError):
        arguments = call.text
    return arguments if isinstance(arguments, dict) else {own: arguments}


def _call(event: Event) -> Json:
    arguments = arguments_of(event, OWN)
    found = {"tool_call_id": event.call_id, "function_name": event.tool or "unknown", "arguments": arguments}
    extra = known(**(event.data or {}), cut=_cut(event))
    return {**found, "extra": extra} if extra else found


def _result(event: Event) -> Json:
    extra = known(**(event.data or {}), cut=_cut(event))
    found = {"source_call_id": event.call_id, "content": event.text}
    return {**found, "extra": extra} if extra else found


def _metrics(event: Event) -> Json:
    tokens, data = event.tokens, event.data or {}
    written = tokens.cache_write if tokens is not None else None
    extra = known(**data, cache_creation_input_tokens=written)
    return known(
        prompt_tokens=tokens.input if tokens is not None else None,
        completion_tokens=tokens.output if tokens is not None else None,
        cached_tokens=tokens.cached if tokens is not None else None,
        cost_usd=event.cost_usd,
        extra=extra or None,
    )


def _totals(made: list[Json], usage: Any) -> Json:
    """What the gateway metered, where there is a record of the run; else sums of what steps say.

    Null where a step with metrics does not say it: unknown is not zero.
    """
    if isinstance(usage, dict):
        return {
            "total_prompt_tokens": usage.get("input_tokens"),
            "total_completion_tokens": usage.get("output_tokens"),
            "total_cached_tokens": usage.get("cached_tokens"),
            "total_cost_usd": usage.get("cost_usd"),
            "total_steps": len(made),
        }
    metrics = [step["metrics"] for step in made if "metrics" in step]

    def total(key: str) -> Any:
        values = [each.get(key) for each in metrics]
        return sum(values) if values and None not in values else None

    return {
        "total_prompt_tokens": total("prompt_tokens"),
        "total_completion_tokens": total("completion_tokens"),
        "total_cached_tokens": total("cached_tokens"),
        "total_cost_usd": total("cost_usd"),
        "total_steps": len(made),
    }


def _tokens(event: Event) -> Json | None:
    tokens = event.tokens
    if tokens is None:
        return None
    return known(input=tokens.input, cached=tokens.cached, cache_write=tokens.cache_write, output=tokens.output)


def _cut(event: Event) -> Json | None:
    return None if event.cut is None else {"characters": event.cut.characters, "sha256": event.cut.sha256}


def known(**fields: Any) -> Json:
    """The fields that are not None."""
    return {key: value for key, value in fields.items() if value is not None}
