"""What leaves the live gateway and what does not: the key, headers, addresses."""

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from gateway_fixture import KEY, Open, Reply, Upstream, opened

from matproof.config.models import Provider
from matproof.models import anthropic_api, openai_responses
from matproof.models.base import Tokens
from matproof.models.conversation import Reply as Said
from matproof.models.conversation import ToolCall
from matproof.models.live import LiveBackend

HELLO: dict[str, Any] = {"model": "priced", "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]}
TOOL = ToolCall(name="Bash", input={"command": "ls"})
SAID = Said(id="x1", model="priced", thinking="hm", text="hi", tools=(TOOL,), tokens=Tokens(input=1000, output=200))
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_7"}
MESSAGE = json.dumps(anthropic_api.plain(SAID)).encode()


def ask(here: Open, **more: Any) -> httpx2.Response:
    return here.post("/s/plan/v1/messages?beta=true", **{**HELLO, **more})


def test_the_real_key_replaces_whatever_the_client_sent() -> None:
    headers = {
        "x-api-key": "placeholder",
        "authorization": "Bearer placeholder",
        "cookie": "a=b",
        "x-forwarded-for": "1",
    }
    wanted = {"anthropic-version": "2023-06-01", "anthropic-beta": "some-beta", "user-agent": "client/1"}
    with Upstream(Reply(chunks=(MESSAGE,))) as upstream, opened(upstream.backend()) as here:
        answer = here.client.post("/s/plan/v1/messages?beta=true", json=HELLO, headers=headers | wanted)
        assert answer.content == MESSAGE
        seen = upstream.seen[0]
        assert seen.path == "/v1/messages?beta=true"
        assert json.loads(seen.body) == HELLO
        assert seen.headers["x-api-key"] == KEY
        assert {name: seen.headers[name] for name in wanted} == wanted
        assert not {"authorization", "cookie", "x-forwarded-for"} & set(seen.headers)
        assert seen.headers["host"] == upstream.url.removeprefix("http://")


def test_an_openai_provider_gets_the_key_as_a_bearer() -> None:
    plain = json.dumps(openai_responses.plain(SAID)).encode()
    with Upstream(Reply(chunks=(plain,))) as upstream, opened(upstream.backend(api="openai")) as here:
        headers = {
            "authorization": "Bearer placeholder",
            "x-api-key": "placeholder",
            "openai-organization": "org-other",
        }
        here.client.post("/s/x/v1/responses", json={"model": "priced", "input": "go"}, headers=headers)
        seen = upstream.seen[0].headers
        assert seen["authorization"] == f"Bearer {KEY}"
        assert not {"x-api-key", "openai-organization"} & set(seen)


def test_a_redirect_is_not_followed() -> None:
    with Upstream(Reply(chunks=(MESSAGE,))) as elsewhere:
        away = Reply(status=307, headers={"location": elsewhere.url + "/v1/messages"})
        with Upstream(away) as upstream, opened(upstream.backend()) as here:
            assert ask(here).status_code == 502
            assert elsewhere.seen == []
            assert here.failure() == "the provider answers with a redirect"


def test_only_listed_headers_of_the_provider_reach_the_client() -> None:
    headers = {"content-type": "application/json", "set-cookie": "a=b", "request-id": "r", "x-internal": KEY}
    with Upstream(Reply(chunks=(MESSAGE,), headers=headers)) as upstream, opened(upstream.backend()) as here:
        passed = set(ask(here).headers)
        assert "request-id" in passed
        assert not {"set-cookie", "x-internal"} & passed


ECHOES = {
    "plain": Reply(chunks=(json.dumps({"text": KEY}).encode(),), headers={"request-id": KEY}),
    "text": Reply(chunks=(f"you sent {KEY}".encode(),), headers={"content-type": "text/html"}),
    "escaped": Reply(chunks=(json.dumps({"text": KEY}).replace("sk-", "\\u0073k-").encode(),)),
    "error": Reply(status=401, chunks=(json.dumps({"error": {"message": f"bad key {KEY}"}}).encode(),)),
    "stream": Reply(
        chunks=tuple(
            bytes([byte]) for byte in b"data: " + json.dumps({"type": "error", "error": {"message": KEY}}).encode()
        ),
        headers=EVENTS,
    ),
}


@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES.keys())
def test_the_key_is_in_no_record_no_log_and_no_answer(
    reply: Reply, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with Upstream(reply) as upstream, opened(upstream.backend()) as here:
        answer = ask(here)
        assert KEY in upstream.seen[0].headers["x-api-key"]
        assert KEY.encode() not in answer.content
        assert KEY not in str(answer.headers)
        assert KEY not in (here.failure() or "")
        assert here.exchanges()
        assert KEY not in here.file.read_text()
    assert KEY not in caplog.text
    assert KEY not in "".join(capfd.readouterr())


def test_only_the_runs_own_model_and_api_are_forwarded() -> None:
    with (
        Upstream(Reply(chunks=(MESSAGE,))) as upstream,
        opened(upstream.backend(models=frozenset({"priced"}))) as here,
    ):
        assert ask(here, model="dearer").status_code == 404
        assert here.post("/s/x/v1/responses", model="priced", input="go").status_code == 404
        assert ask(here).status_code == 200
        assert len(upstream.seen) == 1
        assert here.failure() is None


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(MESSAGE)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_address[1]}")
    backend = LiveBackend(Provider(api="anthropic", base_url="http://provider.invalid/anthropic"), KEY, retries=0)
    try:
        with opened(backend) as here:
            assert ask(here).content == MESSAGE
            assert paths == ["http://provider.invalid/anthropic/v1/messages?beta=true"]
    finally:
        server.shutdown()
        server.server_close()


def test_no_proxy_keeps_loopback_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Upstream(Reply(chunks=(MESSAGE,))) as upstream, opened(upstream.backend()) as here:
        assert ask(here).content == MESSAGE
