"""ATIF, Harbor's Agent Trajectory Interchange Format (versions 1.0 to 1.7): one JSON document of steps.

A step of the agent is its reasoning, its message, its calls, their results and its usage, in this order. What only
this program knows of an event stands in `extra` under its own name and is taken back from there. Steps are read one by
one, and so are those of subagents that the document holds.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from matproof.models.base import Json
from matproof.models.conversation import number
from matproof.traces.blocks import dicts, result_text
from matproof.traces.events import Cut, Event, Kind, TokenCounts, as_text, kind_of, money
from matproof.traces.json_pieces import pieces
from matproof.traces.lines import parsed

OWN = "matproof"
"""Key of `extra` under which this program keeps what ATIF has no field for."""
_SUB = ("subagent_trajectories", "*")
_ENTERED = frozenset({(), ("steps",), ("subagent_trajectories",), _SUB, (*_SUB, "steps")})
_STEP = frozenset(
    {
        *("step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content"),
        *("tool_calls", "observation", "metrics", "extra", "is_copied_context", "llm_call_count"),
    }
)
_ROLES = {"agent": "assistant", "user": "user", "system": "system"}


def read(path: Path, unknown: Counter[str] | None = None) -> Iterator[Event]:
    """The events of a file; what nobody here knows is kept as `other` and counted in `unknown`."""
    with path.open("rb") as stream:
        yield from events(stream, Counter() if unknown is None else unknown)


def events(stream: BinaryIO, unknown: Counter[str]) -> Iterator[Event]:
    """The events of an open file."""
    agents: list[Json] = [{}, {}]
    try:
        for path, text in pieces(stream, _ENTERED):
            if text is None:
                continue
            depth = 1 if path[:2] == _SUB else 0
            rest = path[2:] if depth else path
            if rest == ("steps", "*"):
                step = parsed(text)
                if isinstance(step, dict):
                    yield from step_events(step, _name(agents[: depth + 1]), agents[depth].get("model_name"), unknown)
                else:
                    unknown["step that is no object"] += 1
                    yield Event(kind="other", text=as_text(step))
            elif rest == ("agent",):
                found = parsed(text)
                agents[depth] = found if isinstance(found, dict) else {}
                yield Event(kind="other", text="agent", agent=_name(agents[: depth + 1]), data=agents[depth])
            else:
                yield _about(rest, parsed(text), unknown)
    except ValueError as error:
        unknown["rest of a broken document"] += 1
        yield Event(kind="error", text=f"the document can't be read further: {error}")


def _about(path: tuple[str, ...], value: Any, unknown: Counter[str]) -> Event:
    name = ".".join(path)
    known = ("schema_version", "session_id", "trajectory_id", "notes", "final_metrics", "continued_trajectory_ref")
    if path[-1:] not in {(each,) for each in (*known, "extra")}:
        unknown[f"field {name[:60]}"] += 1
    return Event(kind="other", text=name or "document", data={"value": value})


def _name(agents: list[Json]) -> str | None:
    names = [as_text(agent["name"]) for agent in agents if agent.get("name")]
    return "/".join(names) or None


def step_events(step: Json, agent: str | None, model: Any, unknown: Counter[str]) -> Iterator[Event]:
    """The events of one step."""
    for field in step.keys() - _STEP:
        unknown[f"field of a step: {field[:60]}"] += 1
    extra = step.get("extra") if isinstance(step.get("extra"), dict) else None
    own = (extra or {}).get(OWN)
    if isinstance(own, dict) and (kind := kind_of(own.get("kind"))) is not None:
        yield _own_event(step, own, kind)
        return
    own = own if isinstance(own, dict) else {}
    source, time = step.get("source"), step.get("timestamp")
    role = _ROLES.get(source, as_text(source)) if isinstance(source, str) else as_text(source)
    named = step.get("model_name") or model
    common: dict[str, Any] = {
        "time": time if isinstance(time, str) else None,
        "phase": as_text(own.get("phase", "")),
        "agent": own["agent"] if isinstance(own.get("agent"), str) else agent,
        "model": named if role == "assistant" and isinstance(named, str) else None,
    }
    about = {key: step[key] for key in ("is_copied_context", "reasoning_effort") if step.get(key) is not None}
    about |= {key: step[key] for key in step.keys() - _STEP}
    if extra is not None and OWN not in extra:
        about["extra"] = extra
    thought, data = step.get("reasoning_content"), _object(own.get("thinking_data"))
    if thought or data:
        cut = cut_of(own.get("thinking_cut"))
        yield Event(kind="thinking", text=as_text(thought or ""), data=data, cut=cut, **common)
    said, data = result_text(step.get("message")), _object(own.get("data"))
    if said or about or data:
        cut = cut_of(own.get("cut"))
        yield Event(kind="message", text=said, data=data or {"role": role, **about}, cut=cut, **common)
    yield from _calls(step, own, common)
    metrics = step.get("metrics")
    if isinstance(metrics, dict):
        yield _usage(metrics, common)


def _calls(step: Json, own: Json, common: Json) -> Iterator[Event]:
    for call in dicts(step.get("tool_calls")):
        arguments = call.get("arguments")
        if isinstance(arguments, dict) and list(arguments) == [OWN]:
            arguments = arguments[OWN]  # an input that was no object
        call_id, extra = call.get("tool_call_id"), _object(call.get("extra")) or {}
        yield Event(
            kind="tool_call",
            text=as_text(arguments),
            tool=as_text(call.get("function_name") or ""),
            call_id=None if call_id is None else as_text(call_id),
            data=_without_cut(extra),
            cut=cut_of(extra.get("cut")),
            **common,
        )
    observation = step.get("observation")
    times = _object(own.get("times")) or {}
    answered = {**common, "model": None}
    for result in dicts(observation.get("results") if isinstance(observation, dict) else None):
        call_id, text = result.get("source_call_id"), result_text(result.get("content"))
        data = {key: result[key] for key in result.keys() - {"source_call_id", "content", "extra"}}
        extra = _object(result.get("extra")) or {}
        data |= _without_cut(extra) or {}
        if call_id is None:
            yield Event(kind="message", text=text, data={"role": "environment", **data}, **answered)
        else:
            when = times.get(as_text(call_id), common["time"])
            known = {**answered, "time": when if isinstance(when, str) else None}
            cut = cut_of(extra.get("cut"))
            yield Event(kind="tool_result", text=text, call_id=as_text(call_id), data=data or None, cut=cut, **known)


def _usage(metrics: Json, common: Json) -> Event:
    extra = metrics.get("extra") if isinstance(metrics.get("extra"), dict) else {}
    counts = TokenCounts(
        input=number(metrics.get("prompt_tokens")),
        cached=number(metrics.get("cached_tokens")),
        cache_write=number((extra or {}).get("cache_creation_input_tokens")),
        output=number(metrics.get("completion_tokens")),
    )
    known = {"prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd"}
    data = {key: metrics[key] for key in metrics.keys() - known}
    cost = money(metrics.get("cost_usd"))
    tokens = counts if counts != TokenCounts() else None
    return Event(kind="usage", tokens=tokens, cost_usd=cost, data=data or None, **common)


def _own_event(step: Json, own: Json, kind: Kind) -> Event:
    """An event that this program wrote as a system step, as it was."""
    time, cut, data = step.get("timestamp"), own.get("cut"), own.get("data")
    return Event(
        kind=kind,
        text=as_text(step.get("message")),
        time=time if isinstance(time, str) else None,
        phase=as_text(own.get("phase", "")),
        tool=_text(own.get("tool")),
        call_id=_text(own.get("call_id")),
        agent=_text(own.get("agent")),
        model=_text(own.get("model")),
        tokens=_tokens(own.get("tokens")),
        cost_usd=money(own.get("cost_usd")),
        data=data if isinstance(data, dict) else None,
        cut=cut_of(cut),
    )


def cut_of(value: Any) -> Cut | None:
    """What a trace says that it left out; None where it says nothing that can be one."""
    if not isinstance(value, dict):
        return None
    characters, digest = value.get("characters"), value.get("sha256")
    if isinstance(characters, bool) or not isinstance(characters, int) or not isinstance(digest, str):
        return None
    return Cut(characters=characters, sha256=digest)


def _tokens(value: Any) -> TokenCounts | None:
    if not isinstance(value, dict):
        return None
    return TokenCounts(**{key: number(value.get(key)) for key in ("input", "cached", "cache_write", "output")})


def _object(value: Any) -> Json | None:
    return value if isinstance(value, dict) and value else None


def _without_cut(extra: Json) -> Json | None:
    if cut_of(extra.get("cut")) is None:
        return extra or None
    return {key: value for key, value in extra.items() if key != "cut"} or None


def _text(value: Any) -> str | None:
    return None if value is None else as_text(value)
