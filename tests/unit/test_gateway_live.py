"""The live backend: a real HTTP provider on loopback behind the gateway, which holds the key."""

import hashlib
import json
import re
import textwrap
import threading
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from gateway_fixture import KEY, Open, Reply, Upstream, on_tcp, opened, scripted

from matproof.config.models import Provider
from matproof.models import anthropic_api, openai_chat, openai_responses
from matproof.models.base import Tokens
from matproof.models.conversation import Reply as Said
from matproof.models.conversation import ToolCall
from matproof.models.live import LiveBackend, retry_after

HELLO: dict[str, Any] = {"model": "priced", "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]}
TOOL = ToolCall(name="Bash", input={"command": "ls"})
SAID = Said(id="x1", model="priced", thinking="hm", text="hi", tools=(TOOL,), tokens=Tokens(input=1000, output=200))
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_7"}
MESSAGE = json.dumps(anthropic_api.plain(SAID)).encode()
STREAM = tuple(event.encode() for event in anthropic_api.events(anthropic_api.plain(SAID)))
BUSY = b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'


def ask(here: Open, **more: Any) -> httpx2.Response:
    return here.post("/s/plan/v1/messages?beta=true", **{**HELLO, **more})


def test_a_stream_passes_byte_for_byte() -> None:
    odd = (b": a comment\r\n\r\n", *STREAM[:2], b"event: ping\nda", b'ta: {"type":"ping"}\n\n', *STREAM[2:])
    with Upstream(Reply(chunks=odd, headers=EVENTS)) as upstream, opened(upstream.backend()) as here:
        answer = ask(here, stream=True)
        assert answer.content == b"".join(odd)
        exchange = here.exchanges()[0]
        assert exchange.reply.sha256 == hashlib.sha256(answer.content).hexdigest()
        assert exchange.request_id == "req_7"
        assert exchange.complete


def test_usage_and_cost_are_read_from_the_stream_while_it_passes() -> None:
    with Upstream(Reply(chunks=STREAM, headers=EVENTS)) as upstream, opened(upstream.backend()) as here:
        assert ask(here, stream=True).content == b"".join(STREAM)
        usage, exchange = here.gateway.usage("plan"), here.exchanges()[0]
        assert (usage.requests, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1, 1000, 200, 0)
        assert usage.cost_usd == pytest.approx(1000 * 3e-6 + 200 * 15e-6)
        assert exchange.cost_usd == usage.cost_usd
        assert exchange.complete
        assert exchange.reply.body == anthropic_api.plain(SAID)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openai_usage_is_metered(api: str, stream: bool) -> None:
    module: Any = {"chat": openai_chat, "responses": openai_responses}[api]
    plain = module.plain(SAID)
    chunks = tuple(event.encode() for event in module.events(plain)) if stream else (json.dumps(plain).encode(),)
    headers = EVENTS if stream else {"content-type": "application/json"}
    with (
        Upstream(Reply(chunks=chunks, headers=headers)) as upstream,
        opened(upstream.backend(api="openai")) as here,
        openai.OpenAI(
            base_url="http://gateway/s/x/v1",
            api_key="placeholder",
            http_client=httpx2.Client(transport=here.transport()),
        ) as client,
    ):
        if api == "chat":
            list(client.chat.completions.create(model="priced", messages=[], stream=True)) if stream else (
                client.chat.completions.create(model="priced", messages=[])
            )
        else:
            list(client.responses.create(model="priced", input="go", stream=True)) if stream else (
                client.responses.create(model="priced", input="go")
            )
        usage = here.gateway.usage("x")
        assert (usage.requests, usage.input_tokens, usage.output_tokens) == (1, 1000, 200)


def test_a_chat_stream_without_usage_is_unknown_and_says_so() -> None:
    chunks = tuple(event.encode() for event in openai_chat.events(openai_chat.plain(SAID), usage=False))
    with (
        Upstream(Reply(chunks=chunks, headers=EVENTS)) as upstream,
        opened(upstream.backend(api="openai")) as here,
    ):
        here.post("/s/x/v1/chat/completions", model="priced", messages=[], stream=True)
        usage = here.gateway.usage()
        assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)
        assert usage.cost_reason == "exchange 1: the reply does not say what it used; the others cost 0.0000 dollars"


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=529, chunks=(BUSY,)),
        Reply(status=500),
        Reply(status=429),
        Reply(silent=True),
        Reply(headers=EVENTS, cut=True),
    ],
    ids=["529", "500", "429", "silent", "cut before the first byte"],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_worth_it_is_tried_again_and_the_client_never_knows(first: Reply, stream: bool) -> None:
    good = Reply(chunks=STREAM, headers=EVENTS) if stream else Reply(chunks=(MESSAGE,))
    with Upstream(first, first, good) as upstream, opened(upstream.backend()) as here:
        answer = ask(here, stream=stream)
        assert answer.status_code == 200
        assert answer.content == b"".join(good.chunks)
        assert [seen.body for seen in upstream.seen] == [upstream.seen[0].body] * 3
        assert here.failure() is None
        assert [exchange.retries for exchange in here.exchanges()] == [2]
        assert here.gateway.usage().requests == 1


def test_a_plain_answer_that_breaks_off_is_tried_again() -> None:
    half = Reply(chunks=(MESSAGE[:40],), cut=True)
    with Upstream(half, Reply(chunks=(MESSAGE,))) as upstream, opened(upstream.backend()) as here:
        assert ask(here).content == MESSAGE
        assert here.exchanges()[0].retries == 1


@pytest.mark.parametrize(
    "lost",
    [Reply(silent=True), Reply(headers=EVENTS, cut=True), Reply(chunks=(MESSAGE[:40],), cut=True)],
    ids=["silent", "cut before the first byte", "cut half way"],
)
@pytest.mark.parametrize("last", [Reply(chunks=(MESSAGE,)), Reply(status=400, chunks=(b"{}",)), Reply(status=307)])
def test_what_a_try_cost_that_was_lost_after_it_was_sent_is_unknown(lost: Reply, last: Reply) -> None:
    with Upstream(lost, last) as upstream, opened(upstream.backend()) as here:
        ask(here)
        usage, exchange = here.gateway.usage("plan"), here.exchanges()[0]
        assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)
        assert "a try was lost after it was sent" in (usage.cost_reason or "")
        assert (exchange.input_tokens, exchange.cost_usd) == (None, None)
        assert (exchange.cost_reason, exchange.retries) == ("a try was lost after it was sent", 1)


def test_a_lost_try_counts_towards_the_limits() -> None:
    replies = (Reply(silent=True), Reply(silent=True), Reply(chunks=(MESSAGE,)))
    with Upstream(*replies) as upstream, opened(upstream.backend(), tokens=1600) as here:
        assert [ask(here).status_code for _ in range(2)] == [200, 403]
        used = re.match(r"(\d+) of 1600 tokens", here.gateway.refusal or "")
        assert used is not None
        assert int(used[1]) > 1200 + 2 * 200


def test_a_stream_that_breaks_after_its_first_byte_breaks_for_the_client_too() -> None:
    broken = Reply(chunks=STREAM[:4], headers=EVENTS, cut=True)
    with Upstream(broken, Reply(chunks=STREAM, headers=EVENTS)) as upstream, opened(upstream.backend()) as here:
        with pytest.raises(httpx2.RemoteProtocolError):
            ask(here, stream=True)
        assert "stream broke" in (here.failure() or "")
        exchange = here.exchanges()[0]
        assert (exchange.complete, exchange.input_tokens, exchange.output_tokens) == (False, 1000, None)
        assert ask(here, stream=True).status_code == 200
        assert here.failure() is None, "the client tried again and was answered"
        assert here.gateway.usage().cost_usd is None


def test_an_error_that_stays_reaches_the_client_and_counts_as_the_providers() -> None:
    with Upstream(Reply(status=529, chunks=(BUSY,))) as upstream, opened(upstream.backend(retries=2)) as here:
        answer = ask(here)
        assert (answer.status_code, answer.content) == (529, BUSY)
        assert answer.headers["x-should-retry"] == "false"
        assert len(upstream.seen) == 3
        assert here.failure() == "the provider answers 529: busy"
        assert here.gateway.usage().input_tokens == 0, "providers don't bill errors"


@pytest.mark.parametrize(
    ("status", "message", "failure"),
    [
        (401, "invalid x-api-key", True),
        (403, "not allowed", True),
        (404, "model: priced", True),
        (402, "pay", True),
        (400, "prompt is too long", False),
        (413, "too large", False),
    ],
)
def test_an_error_not_worth_a_second_try_is_passed_on_at_once(status: int, message: str, failure: bool) -> None:
    body = json.dumps({"error": {"type": "x", "message": message}}).encode()
    with Upstream(Reply(status=status, chunks=(body,))) as upstream, opened(upstream.backend()) as here:
        assert ask(here).status_code == status
        assert len(upstream.seen) == 1
        assert (here.failure() is not None) == failure


def test_an_error_inside_a_stream_is_the_providers() -> None:
    inside = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
    with Upstream(Reply(chunks=(*STREAM[:2], inside), headers=EVENTS)) as upstream, opened(upstream.backend()) as here:
        assert ask(here, stream=True).content.endswith(inside)
        assert here.failure() == "the provider's stream reports: busy"


def test_a_provider_that_is_not_there_is_infrastructure() -> None:
    backend = LiveBackend(Provider(api="anthropic", base_url="http://127.0.0.1:9"), KEY, retries=1, backoff_s=0.01)
    with opened(backend) as here:
        answer = ask(here)
        assert answer.status_code == 502
        assert answer.headers["x-should-retry"] == "false"
        assert "can't be reached: ConnectError" in (here.failure() or "")
        assert here.exchanges()[0].retries == 1
        assert here.gateway.usage().cost_usd == 0


def test_the_wait_that_a_provider_asks_for_is_kept() -> None:
    assert retry_after({"retry-after": "2"}) == 2
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.01
    assert retry_after({"retry-after": "Fri, 21 Oct 2095 07:28:00 GMT"}) > 1e9  # type: ignore[operator]
    for odd in ({}, {"retry-after": "soon"}, {"retry-after": "nan"}, {"retry-after": "-"}):
        assert retry_after(odd) is None


def test_a_wait_that_is_too_long_is_left_to_the_client() -> None:
    slow = Reply(status=429, headers={"retry-after": "3600"})
    with Upstream(slow) as upstream, opened(upstream.backend()) as here:
        answer = ask(here)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "3600")
        assert len(upstream.seen) == 1


def test_a_client_that_hangs_up_is_metered_all_the_same() -> None:
    hold = threading.Event()
    with (
        Upstream(Reply(chunks=STREAM, headers=EVENTS, hold=hold)) as upstream,
        opened(upstream.backend(), tokens=1000) as here,
    ):
        with here.client.stream(
            "POST", "/s/plan/v1/messages", json={**HELLO, "max_tokens": 5000, "stream": True}
        ) as answer:
            next(answer.iter_raw())
        hold.set()
        assert ask(here).status_code == 403, "waits for the first, which met the limit"
        assert here.gateway.usage().output_tokens == 200


def test_two_gateways_in_a_row_agree_on_every_api(tmp_path: Path) -> None:
    script = """
    x:
    - thinking: "why"
      text: "hello"
      tools: [{name: Bash, input: {command: "ls"}}]
      usage: {input_tokens: 11, output_tokens: 7}
    """
    bodies: dict[str, dict[str, Any]] = {
        "messages": {"messages": []},
        "responses": {"input": "go"},
        "chat/completions": {"messages": [], "stream_options": {"include_usage": True}},
    }
    with opened(scripted(tmp_path, textwrap.dedent(script))) as inner, on_tcp(inner.socket) as address:
        for path, body in bodies.items():
            provider = Provider(
                api="anthropic" if path == "messages" else "openai", base_url=f"{address}/s/{inner.labels['x']}"
            )
            with opened(LiveBackend(provider, KEY)) as outer:
                for stream in (False, True):
                    outer.post(f"/s/x/v1/{path}", model="priced", stream=stream, **body)
                plain, streamed = outer.exchanges()
                assert plain.reply.body == streamed.reply.body
                assert (streamed.input_tokens, streamed.output_tokens) == (11, 7)
