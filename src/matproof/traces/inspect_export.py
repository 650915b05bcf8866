"""A run as an Inspect log with one sample, which `inspect view` opens; `inspect_log.read` reads it back.

Both what the viewer calls messages and its transcript of events are filled. Events that Inspect has no kind for are
`info` events of the source `matproof`. Nothing of Inspect is needed to write one.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from matproof import __version__
from matproof.core.clock import timestamp
from matproof.models.base import Json
from matproof.traces.atif_export import arguments_of, known
from matproof.traces.events import Event, TokenCounts
from matproof.traces.inspect_log import OWN
from matproof.traces.steps import Step, steps

_ENDED = {"completed": "success", "cancelled": "cancelled"}


def eval_log(events: Iterable[Event], *, agent: str, model: str | None, run: Json) -> Json:
    """The log, version 2. `run` is what else is known of the run: its record where there is one. Held in memory."""
    made = steps(events)
    began = run.get("started") or next((step.first.time for step in made if step.first.time), None) or timestamp()
    ended = run.get("ended") or began
    task = str(run.get("claim") or "trace")
    named, number = f"matproof/{model or 'unknown'}", str(run.get("repeat") or 1)
    usage = _metered(run["usage"]) if isinstance(run.get("usage"), dict) else _total(made)
    sample = _sample(made, task=task, model=named, began=str(began))
    sample |= {"started_at": began, "completed_at": ended, "model_usage": {named: usage} if usage else {}}
    sample["metadata"] = run
    return {
        "version": 2,
        "status": _ENDED.get(str(run.get("outcome", "completed")), "error"),
        "eval": {
            "eval_id": f"matproof-{task}-{number}",
            "run_id": f"matproof-{task}-{number}",
            "created": began,
            "task": task,
            "task_id": task,
            "task_version": 0,
            "solver": agent,
            "dataset": {"name": task, "samples": 1, "sample_ids": [task]},
            "model": named,
            "config": {"epochs": 1},
            "packages": {"matproof": __version__},
            "metadata": {key: run[key] for key in ("setting", "scripted", "outcome", "reason") if key in run},
        },
        "plan": {"name": "plan", "steps": [{"solver": agent}]},
        "results": {"total_samples": 1, "completed_samples": 1, "scores": []},
        "stats": {"started_at": began, "completed_at": ended, "model_usage": sample["model_usage"]},
        "samples": [sample],
    }


def members(log: Json) -> Iterator[tuple[str, Json | list[Json]]]:
    """The files of an `.eval` archive of `log`: name and content. `inspect view` lists archives under any name."""
    samples: list[Json] = log["samples"]
    yield "_journal/start.json", {key: log[key] for key in ("version", "eval", "plan")}
    for sample in samples:
        yield f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample
    told = ("id", "epoch", "input", "target", "model_usage", "started_at", "completed_at", "uuid")
    yield (
        "summaries.json",
        [
            {**{key: each[key] for key in told}, "completed": True, "message_count": len(each["messages"])}
            for each in samples
        ],
    )
    yield "header.json", {key: value for key, value in log.items() if key != "samples"}


def archive(files: dict[str, str]) -> bytes:
    """An archive of the texts of `members`."""
    with io.BytesIO() as made:
        with zipfile.ZipFile(made, "w") as packed:
            for name, text in files.items():
                packed.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
        return made.getvalue()


def _sample(made: list[Step], *, task: str, model: str, began: str) -> Json:
    messages: list[Json] = []
    events: list[Json] = []
    prompt = ""
    for number, step in enumerate(made):
        common = {"timestamp": step.first.time or began, "working_start": 0.0, "uuid": f"e{number}"}
        role = (step.first.data or {}).get("role")
        if step.answer:
            message = _assistant(step, f"m{number}", model)
            messages.append(message)
            messages += [_tool(step, result, f"m{number}-{place}") for place, result in enumerate(step.results)]
            events += _answered(step, message, common, model)
        elif step.first.kind == "message" and role in ("user", "system"):
            messages.append({"id": f"m{number}", "role": role, "content": step.first.text})
            prompt = prompt or (step.first.text if role == "user" else "")
        else:
            events.append({**common, "event": "info", "source": OWN, "data": _own(step.first)})
    return {
        "id": task,
        "epoch": 1,
        "input": prompt,
        "target": "",
        "messages": messages,
        "output": {"model": model, "choices": []},
        "events": events,
        "uuid": f"matproof-{task}",
    }


def _assistant(step: Step, message_id: str, model: str) -> Json:
    content: list[Json] = []
    if step.thinking is not None:
        withheld = bool((step.thinking.data or {}).get("withheld"))
        content.append({"type": "reasoning", "reasoning": step.thinking.text, "redacted": withheld})
    if step.message is not None:
        content.append({"type": "text", "text": step.message.text})
    calls = [
        {
            "id": call.call_id,
            "function": call.tool or "unknown",
            "arguments": arguments_of(call, OWN),
            "type": "function",
        }
        for call in step.calls
    ]
    found: Json = {"id": message_id, "role": "assistant", "content": content or "", "source": "generate"}
    return {**found, "model": step.first.model or model, **({"tool_calls": calls} if calls else {})}


def _tool(step: Step, result: Event, message_id: str) -> Json:
    call = next(call for call in step.calls if call.call_id == result.call_id)
    found: Json = {"id": message_id, "role": "tool", "content": result.text, "tool_call_id": result.call_id}
    found["function"] = call.tool or "unknown"
    return {**found, "error": _error(result)} if _failed(result) else found


def _answered(step: Step, message: Json, common: Json, model: str) -> Iterable[Json]:
    """The model's event, and one of each tool."""
    stop = "tool_calls" if step.calls else "stop"
    output: Json = {"model": model, "choices": [{"message": message, "stop_reason": stop}]}
    if step.usage is not None and (usage := _usage([step.usage])):
        output["usage"] = usage
    asked = {"event": "model", "model": model, "input": [], "tools": [], "tool_choice": "auto", "config": {}}
    yield {**common, **asked, "output": output}
    results = {result.call_id: result for result in step.results}
    for place, call in enumerate(step.calls):
        result = results.get(call.call_id)
        found = {**common, "event": "tool", "uuid": f"{common['uuid']}-{place}", "type": "function", "id": call.call_id}
        found |= {"function": call.tool or "unknown", "arguments": arguments_of(call, OWN)}
        found |= {"result": result.text if result is not None else "", "timestamp": call.time or common["timestamp"]}
        if result is None:
            found["pending"] = True
        else:
            found |= known(completed=result.time, error=_error(result) if _failed(result) else None)
        yield found


def _failed(result: Event) -> bool:
    return bool((result.data or {}).get("is_error"))


def _error(result: Event) -> Json:
    return {"type": "unknown", "message": result.text[:2000]}


def _usage(events: list[Event]) -> Json | None:
    """The sum of what is known of all of `events`; Inspect has no word for unknown, so then there is no usage."""
    counts = [event.tokens for event in events if event.tokens is not None]
    if not counts or len(counts) < len(events) or any(each.input is None or each.output is None for each in counts):
        return None
    read = sum(each.input or 0 for each in counts)
    cached, written = sum(each.cached or 0 for each in counts), sum(each.cache_write or 0 for each in counts)
    said, costs = sum(each.output or 0 for each in counts), [event.cost_usd for event in events]
    return known(
        input_tokens=max(0, read - cached - written),
        output_tokens=said,
        total_tokens=read + said,
        input_tokens_cache_read=cached,
        input_tokens_cache_write=written,
        total_cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def _metered(usage: Json) -> Json | None:
    """What the gateway metered of a run; None where it does not know it."""
    counts = (usage.get("input_tokens"), usage.get("cached_tokens"), usage.get("output_tokens"))
    tokens = TokenCounts(input=counts[0], cached=counts[1], output=counts[2])
    return _usage([Event(kind="usage", tokens=tokens, cost_usd=usage.get("cost_usd"))])


def _total(made: list[Step]) -> Json | None:
    return _usage([step.usage for step in made if step.usage is not None])


def _own(event: Event) -> Json:
    fields: dict[str, Any] = {"kind": event.kind, "text": event.text, "phase": event.phase or None}
    return known(**fields, tool=event.tool, call_id=event.call_id, agent=event.agent, data=event.data)
