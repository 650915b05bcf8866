"""One event a line; a flood is cut and can still be recognised."""

import hashlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from matproof.traces.events import BODY_LIMIT, TraceWriter, read_trace


def test_events_come_back_in_order(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "trace.jsonl")
    trace.write("plan", "tool_call", '{"command": "ls"}', tool="Bash", call_id="1")
    trace.write("plan", "tool_result", "a\nb", call_id="1")
    trace.close()
    events = list(read_trace(tmp_path / "trace.jsonl"))
    assert [(event.kind, event.call_id) for event in events] == [("tool_call", "1"), ("tool_result", "1")]


def test_a_long_body_is_cut_with_size_and_hash_kept(tmp_path: Path) -> None:
    body = "x" * (BODY_LIMIT + 5)
    trace = TraceWriter(tmp_path / "trace.jsonl")
    trace.write("execute", "tool_result", body)
    trace.close()
    (event,) = read_trace(tmp_path / "trace.jsonl")
    assert len(event.text) == BODY_LIMIT
    assert event.cut is not None
    assert (event.cut.characters, event.cut.sha256) == (len(body), hashlib.sha256(body.encode()).hexdigest())


@given(st.text(alphabet=st.characters(), max_size=50))
def test_any_text_can_be_written(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        trace = TraceWriter(path)
        trace.write("plan", "message", text)
        trace.close()
        assert len(list(read_trace(path))) == 1


def test_data_of_any_depth_can_be_written(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "trace.jsonl")
    for depth in (200, *range(248, 260), 900):
        data: dict[str, Any] = {}
        for _ in range(depth):
            data = {"a": data}
        trace.write("plan", "other", data=data)
    trace.close()
    events = list(read_trace(tmp_path / "trace.jsonl"))
    assert len(events) == 14
    assert list(events[0].data or {}) == ["a"]
    assert list(events[-1].data or {}) == ["not_json"]
