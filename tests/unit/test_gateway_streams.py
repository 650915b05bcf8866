"""Streams: what is put together from one equals the plain reply, whatever pieces the bytes come in."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.models import anthropic_api, openai_chat, openai_responses, wire
from matproof.models.base import NO_TOKENS, Rejection, Tokens, WireApi
from matproof.models.conversation import Reply, ToolCall, find_cwd, pieces, without_reminders
from matproof.models.observing import Observer
from matproof.models.redaction import Redactor, redact
from matproof.models.sse import Decoder, Event
from matproof.models.strict_json import parse, parse_object

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)
objects = st.dictionaries(texts, values, max_size=4)
counts = st.integers(min_value=0, max_value=10**8)


def replies(inputs: st.SearchStrategy[Any]) -> st.SearchStrategy[Reply]:
    return st.builds(
        Reply,
        id=st.just("abc123"),
        model=names,
        thinking=st.none() | texts,
        text=st.none() | texts,
        tools=st.lists(st.builds(ToolCall, name=names, input=inputs), max_size=3).map(tuple),
        tokens=st.builds(Tokens, input=counts, output=counts),
    )


def assembled(api: WireApi, data: bytes, cuts: list[int]) -> Observer:
    observer = Observer(api, status=200, events=True)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        observer.feed(data[start:end])
    observer.end()
    return observer


@given(replies(objects), st.lists(st.integers(min_value=0), max_size=12))
def test_a_messages_stream_makes_the_plain_reply(reply: Reply, cuts: list[int]) -> None:
    plain = anthropic_api.plain(reply)
    seen = assembled("messages", b"".join(event.encode() for event in anthropic_api.events(plain)), cuts)
    assert seen.body == plain
    assert seen.complete
    assert seen.tokens == anthropic_api.tokens(plain)


@given(replies(objects | texts), st.lists(st.integers(min_value=0), max_size=12))
def test_a_responses_stream_makes_the_plain_reply(reply: Reply, cuts: list[int]) -> None:
    plain = openai_responses.plain(reply)
    seen = assembled("responses", b"".join(event.encode() for event in openai_responses.events(plain)), cuts)
    assert seen.body == plain
    assert seen.complete
    assert seen.tokens == openai_responses.tokens(plain)


@given(replies(objects), st.lists(st.integers(min_value=0), max_size=12), st.booleans())
def test_a_chat_stream_makes_the_plain_reply(reply: Reply, cuts: list[int], usage: bool) -> None:
    plain = openai_chat.plain(reply)
    seen = assembled("chat", b"".join(event.encode() for event in openai_chat.events(plain, usage=usage)), cuts)
    expected = plain if usage else {key: value for key, value in plain.items() if key != "usage"}
    assert seen.body == expected
    assert seen.complete
    assert seen.tokens == (openai_chat.tokens(plain) if usage else None)


@given(replies(objects), st.integers(min_value=0))
def test_the_finished_items_of_a_broken_responses_stream_are_kept(reply: Reply, where: int) -> None:
    plain = openai_responses.plain(reply)
    events = list(openai_responses.events(plain))[:-1]
    seen = assembled("responses", b"".join(event.encode() for event in events[: where % len(events) + 1]), [])
    assert not seen.complete
    assert seen.tokens is None
    finished = [item for item in seen.body["output"] if "unfinished" not in item]
    assert finished == plain["output"][: len(finished)]


@given(replies(objects), st.integers(min_value=0))
def test_a_broken_messages_stream_has_no_known_output(reply: Reply, where: int) -> None:
    events = list(anthropic_api.events(anthropic_api.plain(reply)))[:-1]
    seen = assembled("messages", b"".join(event.encode() for event in events[: where % len(events) + 1]), [])
    assert not seen.complete
    assert seen.tokens is not None
    assert seen.tokens.output is None
    assert seen.tokens.input == reply.tokens.input
    assert seen.body["id"] == "msg_abc123"


@given(st.binary(max_size=400), st.sampled_from(["messages", "responses", "chat", "count_tokens"]), st.booleans())
def test_no_bytes_of_a_provider_upset_the_observer(data: bytes, api: WireApi, events: bool) -> None:
    seen = Observer(api, status=200, events=events)
    seen.feed(data)
    seen.end()
    json.dumps(seen.body)
    assert seen.size == len(data)
    assert seen.tokens is None or isinstance(seen.tokens, Tokens)


@given(st.lists(values, max_size=5), st.sampled_from(["messages", "responses", "chat"]))
def test_no_events_of_a_provider_upset_the_observer(data: list[Any], api: WireApi) -> None:
    kinds = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "error",
        "response.created",
    ]
    mixed = [item | {"type": kinds[index % 6]} if isinstance(item, dict) else item for index, item in enumerate(data)]
    seen = assembled(api, b"".join(Event("", json.dumps(item)).encode() for item in mixed), [])
    json.dumps(seen.body)
    assert seen.tokens is None or isinstance(seen.tokens, Tokens)


def test_an_error_inside_a_stream_is_told() -> None:
    data = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    assert assembled("messages", data, []).error == "busy"
    assert assembled("chat", b'data: {"error":{"message":"busy"}}\n\n', []).error == "busy"
    failed = b'data: {"type":"response.failed","response":{"error":{"message":"busy"}}}\n\n'
    assert assembled("responses", failed, []).error == "busy"


def test_the_cache_and_its_hour_long_part_are_told_apart() -> None:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4}
    told = anthropic_api.tokens({"usage": {**usage, "cache_creation": {"ephemeral_1h_input_tokens": 100}}})
    assert told == Tokens(input=321, cached=20, cache_write=200, cache_write_1h=100, output=4)


@pytest.mark.parametrize("api", ["messages", "responses", "chat"])
def test_a_reply_without_usage_has_unknown_tokens(api: WireApi) -> None:
    assert wire.tokens(api, {"usage": None}) is None
    assert wire.tokens(api, {}) is None
    told = wire.tokens(api, {"usage": {"input_tokens": "many", "prompt_tokens": -1, "output_tokens": True}})
    assert told is not None
    assert (told.input, told.output) == (None, None)


def test_an_error_status_uses_nothing() -> None:
    seen = Observer("messages", status=529, events=False)
    seen.feed(b"<html>busy</html>")
    seen.end()
    assert seen.tokens == NO_TOKENS
    assert seen.body == "<html>busy</html>"


@given(st.lists(st.tuples(names, texts), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_events_come_back_from_any_pieces_and_line_ends(
    pairs: list[tuple[str, str]], end: str, data: st.DataObject
) -> None:
    clean = [Event(name, text.replace("\r", " ")) for name, text in pairs]
    stream = b"\xef\xbb\xbf: hello\n" + b"".join(event.encode() for event in clean)
    stream = stream.decode().replace("\n", end).encode()
    decoder, found, at = Decoder(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(min_value=1, max_value=40))
        found += decoder.feed(stream[at : at + size])
        at += size
    assert found == clean


def test_an_endless_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.sse.MAX_EVENT_CHARS", 1000)
    with pytest.raises(ValueError, match="too long"):
        [Decoder().feed(b"x" * 2000)]
    decoder = Decoder()
    with pytest.raises(ValueError, match="too long"):
        [decoder.feed(b"data: " + b"x" * 90 + b"\n") for _ in range(20)]


@given(st.text("abck-", max_size=60), st.lists(st.integers(min_value=0), max_size=10))
def test_a_key_in_a_stream_is_cut_out_in_any_pieces(text: str, cuts: list[int]) -> None:
    secret, data = "ab-ab-ck", text.encode()
    redactor = Redactor([secret])
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    passed = b"".join(redactor.feed(data[a:b]) for a, b in itertools.pairwise(edges)) + redactor.finish()
    assert secret.encode() not in passed
    assert passed == data.replace(secret.encode(), b"[key]")


def test_a_key_is_cut_out_of_json_as_it_is_written_there() -> None:
    assert redact(json.dumps({"a": 'x"y\\z-key'}), ['x"y\\z-key']) == '{"a": "[key]"}'


@given(texts)
def test_pieces_make_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("5.43\n\n<system-reminder>\nbe kind\n</system-reminder>\n", "5.43"),
        ("a\n<system-reminder>x</system-reminder>\nb", "a\nb"),
        ("<system-reminder>never closed", "<system-reminder>never closed"),
        ("a\n<system-reminder>x</system-reminder>\n\n<system-reminder>y</system-reminder>\nb", "a\nb"),
        ("plain\n", "plain\n"),
    ],
)
def test_the_clients_reminders_are_no_part_of_a_result(text: str, left: str) -> None:
    assert without_reminders(text) == left


@pytest.mark.timeout(30)  # a moment, or minutes where each is cut out of all the rest
def test_a_hundred_thousand_reminders_take_no_longer_than_their_text() -> None:
    assert without_reminders("<system-reminder>x</system-reminder>y" * 100_000) == "\n".join("y" * 100_000)


def test_the_working_directory_is_found_in_each_clients_words() -> None:
    assert find_cwd(["x", " - Primary working directory: /work/artifacts\n - Git: no"]) == "/work/artifacts"
    assert find_cwd(["<environment_context>\n<cwd>/work/a b</cwd>"]) == "/work/a b"
    assert find_cwd(["nothing"]) is None


@pytest.mark.parametrize("text", ["NaN", "[1e999]", "[" * 100_000, "{", b"\xff", '{"a": -Infinity}'])
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)
    assert parse_object(text) is None


def test_a_custom_tool_is_for_the_responses_api_only() -> None:
    tool = ToolCall(name="apply_patch", input="*** Begin Patch")
    reply = Reply(id="a", model="m", thinking=None, text=None, tools=(tool,), tokens=Tokens())
    assert openai_responses.plain(reply)["output"][0]["type"] == "custom_tool_call"
    for module in (anthropic_api, openai_chat):
        with pytest.raises(Rejection, match="object"):
            module.plain(reply)
