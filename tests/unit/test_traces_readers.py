"""Transcripts of other programs: read whole, one item at a time, and nothing of them dropped."""

import io
import json
import math
import time
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.core.errors import InputError
from matproof.traces import claude_array, claude_stream, codex_exec, lines
from matproof.traces.events import Event, TokenCounts, TraceWriter, money
from matproof.traces.json_pieces import pieces
from matproof.traces.pairing import pairing
from matproof.traces.reading import READERS, detect, read_events

REAL = Path(__file__).parents[3] / "shared/real/traces"
MESSAGE = {"id": "m1", "role": "assistant", "model": "claude", "usage": {"input_tokens": 1, "output_tokens": 2}}


def write(path: Path, *items: Any) -> Path:
    """A file with a line for each item; texts go in as they are."""
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in items))
    return path


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no shared real traces in {REAL}")
@pytest.mark.parametrize(
    ("name", "format", "pairs", "kinds"),
    [
        ("claude-code-array-1.json", "claude-array", 48, {"message": 43, "usage": 50}),
        ("claude-code-array-2.json", "claude-array", 37, {"message": 35, "usage": 39}),
        ("claude-stream-json.jsonl", "claude-stream", 2, {"message": 3, "usage": 2, "error": 1, "other": 2}),
        ("codex-exec-json.jsonl", "codex-exec", 7, {"message": 1, "thinking": 1, "usage": 1, "error": 3, "other": 5}),
    ],
)
def test_real_traces_load_whole_and_every_call_has_its_result(
    name: str, format: str, pairs: int, kinds: dict[str, int]
) -> None:
    events = read_events(REAL / name)
    found = list(events)
    assert events.format == format
    assert events.unknown == Counter()
    assert pairing(found).complete
    assert Counter(event.kind for event in found) == {"tool_call": pairs, "tool_result": pairs, **kinds}


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no shared real traces in {REAL}")
def test_totals_of_real_sessions_are_theirs() -> None:
    array = list(read_events(REAL / "claude-code-array-2.json"))
    assert array[-1].cost_usd == pytest.approx(1.8412947)
    stream = [event for event in read_events(REAL / "claude-stream-json.jsonl") if event.kind == "usage"]
    assert stream[0].tokens == TokenCounts(input=130, cached=0, cache_write=0, output=76)
    assert stream[0].cost_usd == 0.012345
    (codex,) = [event for event in read_events(REAL / "codex-exec-json.jsonl") if event.kind == "usage"]
    assert codex.tokens == TokenCounts(input=1840, cached=256, output=732)


def test_unknown_items_blocks_and_words_of_others_are_kept_and_counted(tmp_path: Path) -> None:
    block = {"type": "hologram", "beam": 3}
    file = write(
        tmp_path / "s.jsonl",
        {"type": "assistant", "message": {**MESSAGE, "content": [{"type": "text", "text": "hi"}, block, "bare"]}},
        {"type": "telepathy", "thought": 1},
        {"type": "system", "subtype": "dreaming"},
        "npm warn deprecated: this line is no JSON",
        "[1, 2]",
    )
    events = read_events(file)
    found = list(events)
    assert [event.kind for event in found] == ["message", "other", "message", "other", "other", "other", "other"]
    assert events.unknown == {
        "block hologram": 1,
        "item telepathy": 1,
        "system dreaming": 1,
        "line that is no JSON object": 2,
    }
    assert json.loads(found[1].text) == block
    assert found[3].data == {"type": "telepathy", "thought": 1}
    assert found[5].text == "npm warn deprecated: this line is no JSON"


def test_a_failed_session_tells_why(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 529 busy", "usage": {}}
    usage, error = read_events(write(tmp_path / "s.jsonl", result), "claude-stream")
    assert (usage.kind, usage.tokens) == ("usage", TokenCounts(input=0, cached=0, cache_write=0, output=0))
    assert (error.kind, error.text) == ("error", "API Error: 529 busy")


def test_codex_items_that_never_started_that_failed_and_that_are_new(tmp_path: Path) -> None:
    file = write(
        tmp_path / "c.jsonl",
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "item.started", "item": {"id": "item_0", "type": "command_execution", "command": "ls"}},
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "file_change", "changes": [], "status": "failed"}},
        {"type": "item.completed", "item": {"id": "item_1", "type": "seance", "ghost": "x"}},
        {"type": "weather.changed"},
    )
    events = read_events(file)
    found = list(events)
    alone = pairing(found)
    assert (alone.pairs, [call.call_id for call in alone.calls], alone.results) == (1, ["item_0"], ())
    assert [event.call_id for event in found if event.kind == "tool_result"] == ["2/item_0"]
    assert events.unknown == {"item seance": 1, "event weather.changed": 1}


def test_calls_without_results_and_results_without_calls_are_named() -> None:
    events = [
        Event(kind="tool_call", tool="Bash", call_id="a"),
        Event(kind="tool_call", tool="Read", call_id="b"),
        Event(kind="tool_result", call_id="a"),
        Event(kind="tool_result", call_id="c"),
        Event(kind="tool_call", tool="Write"),
    ]
    found = pairing(events)
    assert found.pairs == 1
    assert [call.tool for call in found.calls] == ["Write", "Read"]
    assert [result.call_id for result in found.results] == ["c"]
    assert not found.complete


def test_a_list_that_ends_in_the_middle_gives_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([{"role": "user", "content": "go"}, {**MESSAGE, "content": [{"type": "text", "text": "hi"}]}])
    (tmp_path / "a.json").write_text(whole[:-8])
    events = read_events(tmp_path / "a.json")
    found = list(events)
    assert [event.kind for event in found] == ["message", "error"]
    assert found[-1].text == "the document can't be read further: the document ends in the middle"
    assert events.unknown == {"rest of a broken document": 1}


def test_half_characters_numbers_of_the_absurd_and_deep_nesting_upset_nothing(tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    file = write(
        tmp_path / "s.jsonl",
        '{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "\\ud83d"}]}}',
        '{"type": "result", "total_cost_usd": NaN, "usage": {"input_tokens": 1e300, "output_tokens": -1}}',
        f'{{"type": "user", "message": {{"role": "user", "content": {deep}}}}}',
        '{"type": "user", "message": {"role": 7, "content": {"a": 1}}}',
        '{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": 3, "name": ["x"], "input": null}]}}',
    )
    found = list(read_events(file, "claude-stream"))
    usage = next(event for event in found if event.kind == "usage")
    assert usage.cost_usd is None
    assert usage.tokens == TokenCounts(input=None, cached=0, cache_write=0, output=None)
    assert [money(value) for value in (10**400, -1, math.inf, True, "1", 2)] == [None, None, None, None, None, 2.0]
    trace = TraceWriter(tmp_path / "trace.jsonl")
    for event in found:
        trace.add(event)
    trace.close()
    assert len(list(read_events(tmp_path / "trace.jsonl"))) == len(found)


ODD: list[Any] = [[], {}, 5, None]


@pytest.mark.parametrize("odd", ODD)
def test_a_list_or_an_object_where_a_word_belongs_upsets_no_reader(tmp_path: Path, odd: Any) -> None:
    items = [{"type": odd}, {"type": "system", "subtype": odd}, {"type": "item.completed", "item": {"type": odd}}]
    for format in ("claude-stream", "codex-exec"):
        assert len(list(read_events(write(tmp_path / "s.jsonl", *items), format))) == 3
    told = [{"event": odd}, {"event": "model", "output": {"choices": [{"message": {"id": odd}}]}}]
    sample = {"id": 1, "messages": [{"role": "assistant", "tool_calls": odd}], "events": told}
    log = write(tmp_path / "log.json", {"version": 2, "status": "success", "eval": {}, "samples": [sample]})
    assert not any(event.kind == "error" for event in read_events(log, "inspect"))


def test_an_archive_that_is_damaged_gives_what_came_before(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as packed:
        packed.writestr("header.json", '{"version": 2}')
        packed.writestr("samples/1_epoch_1.json", '{"id": "one", "input": "ORIGINAL"}')
    damaged = (tmp_path / "log.eval").read_bytes().replace(b"ORIGINAL", b"ANOTHER!")
    (tmp_path / "log.eval").write_bytes(damaged)
    events = read_events(tmp_path / "log.eval")
    assert [event.kind for event in events] == ["other", "error"]
    assert events.unknown == {"rest of a broken document": 1}


def test_a_line_too_long_to_read_leaves_its_size_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINE", 1000)
    text = {"type": "user", "message": {"role": "user", "content": "after"}}
    file = write(tmp_path / "s.jsonl", {"type": "user", "message": {"role": "user", "content": "x" * 5000}}, text)
    long, after = read_events(file, "claude-stream")
    assert long.data is not None
    assert long.data["bytes"] == len(file.read_bytes().splitlines(keepends=True)[0])
    assert after.text == "after"


@pytest.mark.parametrize("reader", [claude_stream, codex_exec, claude_array])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, reader: Any) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "y" * 20_000}
    message = {"role": "user", "content": [block]}
    item = {"id": "i", "type": "command_execution", "command": "c", "aggregated_output": "y" * 20_000}
    line = {"type": "item.completed", "item": item} if reader is codex_exec else {"type": "user", "message": message}
    peaks = []
    for count in (20, 400):
        file = tmp_path / f"{count}"
        if reader is claude_array:
            file.write_text(json.dumps([message] * count, indent=1))
        else:
            write(file, *[line] * count)
        tracemalloc.start()
        assert sum(event.kind == "tool_result" for event in reader.read(file)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 500_000


def test_reading_costs_little_more_than_parsing(tmp_path: Path) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": 'a "line" of output\n' * 150}
    file = write(tmp_path / "s.jsonl", *[{"type": "user", "message": {"role": "user", "content": [block]}}] * 3000)

    def seconds(read: Any) -> float:
        started = time.process_time()
        for _ in read():
            pass
        return time.process_time() - started

    parsed = min(seconds(lambda: map(json.loads, file.open("rb"))) for _ in range(3))
    assert min(seconds(lambda: claude_stream.read(file)) for _ in range(3)) < 4 * parsed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
def test_any_document_comes_in_pieces_as_it_is(value: Any) -> None:
    for text in (json.dumps([value, value]), json.dumps([value, value], ensure_ascii=False, indent=3)):
        stream = io.BytesIO(text.encode(errors="surrogatepass"))
        found = list(pieces(stream, frozenset({()})))
        assert found.pop() == ((), None)
        assert [json.loads(piece.decode(errors="surrogatepass")) for _, piece in found if piece] == [value, value]


def test_pieces_do_not_depend_on_where_a_read_ends() -> None:
    document = {"a": [1, {"b": 'x"\\\\"}]' * 50}, -2.5e3], "c": {"d": [True, None], "e": "é"}, "f": 7}
    text = json.dumps(document, ensure_ascii=False, indent=1).encode()
    enter = frozenset({(), ("a",), ("c",)})

    class Slow(io.BytesIO):
        """Gives a few bytes at a time."""

        def __init__(self, step: int) -> None:
            super().__init__(text)
            self.step = step

        def read(self, size: int | None = -1) -> bytes:
            return super().read(self.step)

    steps = (1, 2, 7, 999)
    found = [[(path, piece and json.loads(piece)) for path, piece in pieces(Slow(step), enter)] for step in steps]
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0][0] == (("a", "*"), 1)
    assert found[0][-2:] == [(("f",), 7), ((), None)]


def test_formats_are_told_by_content(tmp_path: Path) -> None:
    spoken = {"type": "user", "message": {"role": "user", "content": "go"}}
    given = {
        "trace": {"schema_version": 1, "time": "t", "phase": "plan", "kind": "message", "text": "old"},
        "exchanges": {"api": "messages", "session": "x", "request": {}, "reply": {}},
        "claude-stream": spoken,
        "codex-exec": {"type": "turn.started"},
    }
    for format, item in given.items():
        assert detect(write(tmp_path / "any.txt", "a warning first", item)) == format
    documents: dict[str, Any] = {
        "claude-array": [spoken["message"]],
        "atif": {"schema_version": "ATIF-v1.4", "steps": []},
        "inspect": {"version": 2, "status": "success", "eval": {}},
    }
    for format, document in documents.items():
        (tmp_path / "any.txt").write_text(json.dumps(document, indent=2))
        assert detect(tmp_path / "any.txt") == format
    assert {*given, *documents} == set(READERS)


@pytest.mark.parametrize("text", ["", "hello\n", "[1]", "{}", "\x00\x01", '{"a": 1}\n', "[[", "PK\x03\x04junk"])
def test_a_file_of_no_format_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match="is no transcript of a format that is read here"):
        read_events(tmp_path / "x")
    with pytest.raises(InputError, match="no such file"):
        read_events(tmp_path / "y")


def test_old_and_newer_traces_are_read(tmp_path: Path) -> None:
    common = {"time": "2026-01-01T00:00:00.000Z", "phase": "plan"}
    events = read_events(
        write(
            tmp_path / "trace.jsonl",
            {"schema_version": 1, **common, "kind": "tool_call", "text": "{}", "tool": "Bash", "call_id": "1"},
            {"schema_version": 9, **common, "kind": "dream", "text": "x", "new_field": 1},
            {**common, "kind": "tool_result", "text": "abc", "cut": {"characters": 50_000, "sha256": "0" * 64}},
        )
    )
    old, new, cut = events
    assert (old.kind, old.tool, old.agent) == ("tool_call", "Bash", None)
    assert (new.kind, new.data) == ("other", {"kind": "dream"})
    assert cut.cut is not None
    assert cut.cut.characters == 50_000
    assert events.unknown == {"kind dream": 1}


def test_a_line_that_would_fill_the_memory_is_kept_as_it_is() -> None:
    unknown: Counter[str] = Counter()
    line = b'{"type": "result", "a": [' + b"[]," * 1_000_001 + b"[]]}\n"
    tracemalloc.start()
    (event,) = claude_stream.events(io.BytesIO(line), unknown)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert event.text.startswith('{"type": "result"')
    assert unknown == {"line that is no JSON object": 1}
    assert most < 10 * len(line)
