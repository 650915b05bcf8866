"""Open sessions: who may speak to the gateway, and whose failure is a failure of the provider."""

import json
import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from gateway_fixture import Reply, Upstream, opened, scripted

from matproof.models import anthropic_api
from matproof.models.base import Tokens
from matproof.models.conversation import Reply as Said

HELLO: dict[str, Any] = {"model": "priced", "messages": [{"role": "user", "content": "hello"}]}
SAID = Said(id="x1", model="priced", thinking=None, text="hi", tools=(), tokens=Tokens(input=10, output=2))
GOOD = Reply(chunks=(json.dumps(anthropic_api.plain(SAID)).encode(),))
BUSY = Reply(status=529, chunks=(b'{"error": {"type": "overloaded_error", "message": "busy"}}',))
WRONG = Reply(status=400, chunks=(b'{"error": {"type": "invalid_request_error", "message": "prompt is too long"}}',))


@pytest.mark.parametrize("label", ["zzz", "extract", "plan-00000000"])
def test_a_session_that_is_not_open_is_refused_and_nothing_is_forwarded(label: str) -> None:
    with Upstream(BUSY) as upstream, opened(upstream.backend(retries=0)) as here:
        answer = here.post(f"/s/{label}/v1/messages", **HELLO)
        assert answer.status_code == 404
        assert answer.json()["error"]["message"] == f"matproof: session {label} is not open"
        assert answer.headers["x-should-retry"] == "false"
        assert here.client.get(f"/s/{label}/v1/models").status_code == 404
        assert here.client.head(f"/s/{label}/api/hello").status_code == 404
        assert upstream.seen == []
        assert here.gateway.usage().requests == 0
        assert [here.failure(name) for name in here.labels] == [None] * len(here.labels)


def test_a_plain_name_is_not_enough_to_speak_for_an_open_session(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, "extract:\n- text: hi\n")) as here, here.gateway.session("extract") as label:
        assert re.fullmatch(r"extract-[0-9a-f]{8}", label)
        assert here.post("/s/extract/v1/messages", **HELLO).status_code == 404
        assert here.post(f"/s/{label}/v1/messages", **HELLO).status_code == 200


def test_a_session_that_was_closed_is_refused_and_what_became_of_it_is_still_known() -> None:
    with Upstream(BUSY) as upstream, opened(upstream.backend(retries=0)) as here:
        with here.gateway.session("extract") as label:
            assert here.post(f"/s/{label}/v1/messages", **HELLO).status_code == 529
        assert here.post(f"/s/{label}/v1/messages", **HELLO).status_code == 404
        assert len(upstream.seen) == 1
        assert here.gateway.failure_of(label) == "the provider answers 529: busy"


def test_a_request_begun_in_an_open_session_and_finished_after_it_is_refused() -> None:
    with Upstream(GOOD) as upstream, opened(upstream.backend()) as here, socket.socket(socket.AF_UNIX) as client:
        body = json.dumps(HELLO).encode()
        client.connect(str(here.socket))
        with here.gateway.session("extract") as label:
            lines = [f"POST /s/{label}/v1/messages HTTP/1.1", "host: x", "expect: 100-continue", "connection: close"]
            client.sendall("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode())
            assert b" 100 " in client.recv(100), "the gateway asks for the body: the session was open"
        client.sendall(body)
        assert b" 404 " in client.recv(1000)
        assert upstream.seen == []


def test_sessions_of_one_name_run_side_by_side_and_are_counted_together(tmp_path: Path) -> None:
    script = "diagnose:\n- text: hi\n  usage: {input_tokens: 3, output_tokens: 1}\n"
    with (
        opened(scripted(tmp_path, script)) as here,
        here.gateway.session("diagnose") as first,
        here.gateway.session("diagnose") as second,
    ):
        assert first != second
        asked = [
            threading.Thread(target=here.post, args=(f"/s/{it}/v1/messages",), kwargs=HELLO) for it in (first, second)
        ]
        for thread in asked:
            thread.start()
        for thread in asked:
            thread.join()
        assert here.gateway.usage("diagnose").requests == 2
        assert here.gateway.usage("diagnose").input_tokens == 6
        assert {exchange.session for exchange in here.exchanges()} == {"diagnose"}


def test_a_failure_is_told_of_its_own_session_only() -> None:
    with Upstream(BUSY) as upstream, opened(upstream.backend(retries=0)) as here:
        with here.gateway.session("diagnose") as failed, here.gateway.session("diagnose") as other:
            here.post(f"/s/{failed}/v1/messages", **HELLO)
        assert here.gateway.failure_of(failed) == "the provider answers 529: busy"
        assert here.gateway.failure_of(other) is None


@pytest.mark.parametrize("later", [GOOD, WRONG], ids=["a good answer", "an error of the request"])
def test_a_failure_that_was_not_the_last_exchange_is_none(later: Reply) -> None:
    with Upstream(BUSY, later) as upstream, opened(upstream.backend(retries=0)) as here:
        here.post("/s/plan/v1/messages", **HELLO)
        assert here.failure() is not None
        here.post("/s/plan/v1/messages", **HELLO)
        assert here.failure() is None


def test_a_refused_request_after_a_failure_is_the_last_exchange() -> None:
    with Upstream(BUSY) as upstream, opened(upstream.backend(retries=0)) as here:
        here.post("/s/plan/v1/messages", **HELLO)
        here.post("/s/plan/v1/messages", **HELLO, container="c_1")
        assert here.failure() is None


@pytest.mark.parametrize(("replies", "failed"), [((BUSY, GOOD), True), ((GOOD, BUSY), False)])
def test_a_count_of_tokens_neither_fails_a_session_nor_makes_it_good(
    replies: tuple[Reply, Reply], failed: bool
) -> None:
    with Upstream(*replies) as upstream, opened(upstream.backend(retries=0)) as here:
        here.post("/s/plan/v1/messages", **HELLO)
        here.post("/s/plan/v1/messages/count_tokens", **HELLO)
        assert len(upstream.seen) == 2
        assert (here.failure() is not None) == failed


@pytest.mark.parametrize("name", ["", "Plan", "a/b", "x" * 52, "a b", "ü"])
def test_a_name_that_no_address_can_hold_is_told(tmp_path: Path, name: str) -> None:
    with opened(scripted(tmp_path, "x:\n- text: hi\n")) as here:
        with pytest.raises(ValueError, match="can't be called"), here.gateway.session(name):
            pass
        with here.gateway.session("x" * 51) as label:
            assert len(label) == 60


def test_a_label_that_was_never_given_has_no_past(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, "x:\n- text: hi\n")) as here, pytest.raises(KeyError):
        here.gateway.failure_of("zzz")
