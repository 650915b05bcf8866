"""Transcripts in the formats of others: valid there, and read back as what they were."""

import json
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from records_fixture import run_record, write_run
from trace_samples import TIME, events

from matproof.commands.export.trace import command
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.records.places import RunPlace
from matproof.traces.atif_export import trajectory
from matproof.traces.events import Event, TokenCounts, TraceWriter
from matproof.traces.inspect_export import eval_log
from matproof.traces.pairing import pairing
from matproof.traces.reading import read_events

_TEXT = {"type": ["string", "null"]}
_COUNT = {"type": ["integer", "null"]}


def closed(required: str = "", **properties: Any) -> dict[str, Any]:
    """A JSON Schema of an object without other fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


_CALL = closed(
    "tool_call_id function_name arguments",
    tool_call_id={"type": "string"},
    function_name={"type": "string"},
    arguments={"type": "object"},
    extra={"type": "object"},
)
_RESULT = closed(source_call_id=_TEXT, content=_TEXT, subagent_trajectory_ref={}, extra={"type": "object"})
_METRICS = closed(
    prompt_tokens=_COUNT,
    completion_tokens=_COUNT,
    cached_tokens=_COUNT,
    cost_usd={"type": ["number", "null"]},
    extra={"type": "object"},
)
_STEP = closed(
    "step_id source message",
    step_id={"type": "integer", "minimum": 1},
    timestamp={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT"},
    source={"enum": ["system", "user", "agent"]},
    message={"type": "string"},
    model_name=_TEXT,
    reasoning_content=_TEXT,
    tool_calls={"type": "array", "items": _CALL},
    observation=closed("results", results={"type": "array", "items": _RESULT}),
    metrics=_METRICS,
    llm_call_count=_COUNT,
    extra={"type": "object"},
)
ATIF = closed(
    "schema_version agent steps",
    schema_version={"const": "ATIF-v1.7"},
    session_id={"type": "string"},
    agent=closed("name version", name={"type": "string"}, version={"type": "string"}, model_name=_TEXT),
    steps={"type": "array", "minItems": 1, "items": _STEP},
    notes=_TEXT,
    final_metrics=closed(
        total_prompt_tokens=_COUNT,
        total_completion_tokens=_COUNT,
        total_cached_tokens=_COUNT,
        total_cost_usd={"type": ["number", "null"]},
        total_steps=_COUNT,
    ),
    extra={"type": "object"},
)
"""The parts of Harbor's models (RFC 0001, version 1.7) that are written here, which forbid other fields."""


def brief(found: Any) -> list[tuple[Any, ...]]:
    """What must survive of each event."""
    return [(each.kind, each.text, each.tool, each.call_id, each.phase, each.tokens, each.cost_usd) for each in found]


def check_atif(document: dict[str, Any]) -> None:
    """What Harbor's validator checks beyond the shape of fields."""
    jsonschema.validate(document, ATIF)
    for number, step in enumerate(document["steps"], 1):
        assert step["step_id"] == number
        if step["source"] != "agent":
            assert not step.keys() & {"model_name", "reasoning_content", "tool_calls", "metrics"}
        calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
        results = step.get("observation", {}).get("results", [])
        assert {result["source_call_id"] for result in results} <= calls


def test_a_trajectory_is_valid_and_read_back_as_it_was(tmp_path: Path) -> None:
    document = trajectory(events(), agent="tester", version="1.0", model="claude", run={"claim": "A-1"})
    check_atif(document)
    assert document["session_id"] == "A-1"
    assert document["final_metrics"] == {
        "total_prompt_tokens": 105,
        "total_completion_tokens": 8,
        "total_cached_tokens": 60,
        "total_cost_usd": 0.75,
        "total_steps": len(document["steps"]),
    }
    write_json(tmp_path / "t.json", document)
    back = read_events(tmp_path / "t.json")
    found = [event for event in back if event.phase]
    assert back.unknown == {}
    assert sorted(brief(found), key=str) == sorted(brief(events()), key=str)
    assert [event.time for event in found if event.call_id == "a"] == [TIME.format(3), TIME.format(6)]
    assert {event.agent for event in found} == {"tester", "tester/2"}


def test_totals_of_a_run_are_what_the_gateway_metered() -> None:
    usage = {"requests": 3, "input_tokens": 900, "cached_tokens": 400, "output_tokens": 50, "cost_usd": 1.5}
    totals = trajectory(events(), agent="t", version="1", model="m", run={"usage": usage})["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_cost_usd"]) == (900, 1.5)
    log = eval_log(events(), agent="t", model="m", run={"usage": usage})
    assert log["stats"]["model_usage"]["matproof/m"]["input_tokens"] == 500
    unknown = {"requests": 3, "input_tokens": None, "output_tokens": None, "cost_usd": None}
    assert eval_log(events(), agent="t", model="m", run={"usage": unknown})["stats"]["model_usage"] == {}


def test_what_is_unknown_is_no_sum() -> None:
    step = [
        Event(kind="message", text="a", data={"role": "assistant"}),
        Event(kind="usage", tokens=TokenCounts(input=3), cost_usd=None),
    ]
    totals = trajectory(step, agent="t", version="1", model=None, run={})["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_completion_tokens"], totals["total_cost_usd"]) == (
        3,
        None,
        None,
    )


def test_a_trajectory_of_others_keeps_what_is_new_to_us(tmp_path: Path) -> None:
    step = {
        "step_id": 1,
        "source": "agent",
        "message": [{"type": "text", "text": "hi"}, {"type": "image", "source": {}}],
    }
    sub = {
        "trajectory_id": "s1",
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "helper", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "look"}],
    }
    result = {"source_call_id": None, "content": "$ ls\na.txt"}
    document = {
        "schema_version": "ATIF-v1.7",
        "session_id": "x",
        "agent": {"name": "terminus", "version": "3", "model_name": "m"},
        "steps": [{**step, "mood": "bright", "observation": {"results": [result]}, "extra": {"own": 1}}],
        "subagent_trajectories": [sub],
        "horoscope": {},
    }
    write_json(tmp_path / "t.json", document)
    back = read_events(tmp_path / "t.json")
    found = {(event.kind, event.agent, event.model): event for event in back}
    message = found["message", "terminus", "m"]
    assert message.text.startswith("hi\n[image")
    assert message.data == {"role": "assistant", "mood": "bright", "extra": {"own": 1}}
    assert found["message", "terminus", None].data == {"role": "environment"}
    assert found["message", "terminus/helper", None].text == "look"
    assert back.unknown == {"field horoscope": 1, "field of a step: mood": 1}


def test_a_log_of_inspect_is_read_back(tmp_path: Path) -> None:
    log = eval_log(events(), agent="tester", model="claude", run={"claim": "A-1", "outcome": "budget"})
    assert log["status"] == "error"
    write_json(tmp_path / "l.json", log)
    back = read_events(tmp_path / "l.json")
    found = [event for event in back if event.kind != "other"]
    assert back.format == "inspect"
    assert back.unknown == {}

    def told(given: Any) -> list[tuple[Any, ...]]:
        return sorted(((each.kind, each.text, each.call_id, each.tokens) for each in given), key=str)

    assert told(found) == told(events())
    assert pairing(found).pairs == 2


def test_an_unknown_usage_is_not_written_as_zero() -> None:
    said = Event(kind="message", text="a", data={"role": "assistant"})
    log = eval_log([said, Event(kind="usage", tokens=None)], agent="t", model="m", run={})
    (asked,) = [event for event in log["samples"][0]["events"] if event["event"] == "model"]
    assert "usage" not in asked["output"]
    assert log["stats"]["model_usage"] == {}


@pytest.fixture
def run(tmp_path: Path) -> RunPlace:
    """A finished run with a trace that names this machine's places and holds what looks like a key."""
    place = write_run(tmp_path / "results", run_record("A-1_sum"))
    place.attempt(1).trace.unlink(missing_ok=True)
    trace = TraceWriter(place.attempt(1).trace)
    trace.write("plan", "message", f"wrote {tmp_path}/results/x with sk-{'a' * 30}", data={"role": "assistant"})
    trace.close()
    return place


@pytest.mark.parametrize(("format", "name"), [("atif", "t.json"), ("inspect", "t.json"), ("inspect", "t.eval")])
def test_the_command_writes_each_format_without_paths_and_keys(
    run: RunPlace, tmp_path: Path, format: str, name: str
) -> None:
    out = tmp_path / name
    done = CliRunner().invoke(command, [str(run.root), "--format", format, "-o", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    events = read_events(out)
    (said,) = [event.text for event in events if event.kind == "message"]
    assert said == "wrote [path]/x with [key]"
    assert events.format == format
    if name == "t.eval":
        with zipfile.ZipFile(out) as archive:
            header = json.loads(archive.read("header.json"))
            assert header["eval"]["task"] == run.names[0]


def test_a_name_that_viewers_pass_over_is_refused(run: RunPlace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"give a name that ends in \.eval or \.json"):
        CliRunner().invoke(
            command, [str(run.root), "--format", "inspect", "-o", str(tmp_path / "x.txt")], catch_exceptions=False
        )
