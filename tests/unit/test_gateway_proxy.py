"""The way to a provider: the proxy of the table, of the environment, or none for a relay within the site."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from gateway_fixture import KEY, Reply, Upstream, opened
from pydantic import ValidationError

from matproof.config.models import Provider
from matproof.models.live import LiveBackend

MESSAGE = b'{"type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}'
ASKED = {"model": "priced", "max_tokens": 5, "messages": [{"role": "user", "content": "go"}]}


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that answers plain requests itself and refuses tunnels; its address, and what it was asked for."""
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(MESSAGE)

        def do_CONNECT(self) -> None:
            asked.append(self.path)
            self.send_error(403)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that nothing answers at, for every way but loopback."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.delenv("no_proxy", raising=False)


def test_the_proxy_of_the_table_goes_before_that_of_the_environment() -> None:
    with proxy() as (address, asked):
        provider = Provider(api="anthropic", base_url="http://provider.invalid", proxy=address)
        with opened(LiveBackend(provider, KEY, retries=0)) as here:
            assert here.post("/s/plan/v1/messages", **ASKED).content == MESSAGE
        assert asked == ["http://provider.invalid/v1/messages"]


def test_a_proxy_that_refuses_the_provider_is_a_failure_that_says_so() -> None:
    with proxy() as (address, asked):
        provider = Provider(api="anthropic", base_url="https://provider.invalid", proxy=address)
        with opened(LiveBackend(provider, KEY, retries=0)) as here:
            assert here.post("/s/plan/v1/messages", **ASKED).status_code >= 500
            assert "ProxyError: 403" in str(here.failure())
        assert asked == ["provider.invalid:443"]


def test_a_relay_that_no_proxy_names_is_reached_directly() -> None:
    with Upstream(Reply(chunks=(MESSAGE,))) as upstream, opened(upstream.backend()) as here:
        assert here.post("/s/plan/v1/messages", **ASKED).content == MESSAGE


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("proxy.site:3128", "write http://host:port"),
        ("socks5://proxy.site:1080", "write http://host:port"),
        ("http://me:secret@proxy.site:3128", "is named by HTTPS_PROXY"),
    ],
)
def test_a_proxy_in_the_table_is_a_plain_address(written: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words) as caught:
        Provider(api="anthropic", base_url="https://provider.invalid", proxy=written)
    assert "secret" not in caught.value.errors()[0]["msg"]
