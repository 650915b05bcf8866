"""The gateway's HTTP side: what it serves, what it turns away, and how it starts and stops."""

import json
import os
import socket
import stat
import threading
from pathlib import Path

import httpx2
import pytest
from gateway_fixture import TABLE, Reply, Upstream, opened, raw_request, scripted

from matproof.config.settings import Limits
from matproof.core.errors import InfrastructureError
from matproof.models.gateway import Gateway

HELLO = {"model": "priced", "messages": [{"role": "user", "content": "hello"}]}
SCRIPT = "plan:\n- text: hello\n"


def posting(target: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST {target} HTTP/1.1", "host: gateway", "connection: close", *headers]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


@pytest.mark.parametrize(
    "target",
    [
        "/v1/messages",
        "/s/plan/v1/files",
        "/s/plan/v1/messages/batches",
        "/s/plan//v1/messages",
        "//s/plan/v1/messages",
        "/s/plan/../plan/v1/messages",
        "/s/plan/v1/../v1/messages",
        "/s/plan/%761/messages",
        "/s/plan%2Fv1/messages",
        "/s/PLAN/v1/messages",
        f"/s/{'x' * 61}/v1/messages",
        "/s//v1/messages",
        "/s/plan/v1/messages/",
        "/s/plan/v1/models",
        "http://elsewhere.example/s/plan/v1/messages",
        "http://elsewhere.example/v1/messages",
    ],
)
def test_only_the_model_endpoints_exist(tmp_path: Path, target: str) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = raw_request(
            here.socket, posting(target.replace("plan", here.labels["plan"]), json.dumps(HELLO).encode())
        )
        assert answer.startswith(b"HTTP/1.1 404 ")
        assert here.gateway.usage().requests == 0


def test_a_host_header_leads_nowhere_else(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        body = json.dumps(HELLO).encode()
        told = posting(f"/s/{here.labels['plan']}/v1/messages", body).replace(b"host: gateway", b"host: evil")
        answer = raw_request(here.socket, told)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert here.gateway.usage().requests == 1


def test_probes_are_answered_without_a_model(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        assert here.client.head("/s/plan/api/hello").status_code == 200
        assert here.client.get("/s/plan").json() == {"status": "ok"}
        models = here.client.get("/s/plan/v1/models").json()
        assert [model["id"] for model in models["data"]] == ["priced"]
        assert here.client.delete("/s/plan/v1/messages").status_code == 404
        assert here.client.get("/s/plan/v1/messages").status_code == 404
        assert here.gateway.usage().requests == 0


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b'{"a": NaN}', b'{"a": 1e999}', b'{"a":' + b"[" * 200_000, b'{"a": "\xff"}']
)
def test_a_body_that_is_not_a_json_object_is_refused(tmp_path: Path, body: bytes) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.client.post("/s/plan/v1/messages", content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"
        assert here.post("/s/plan/v1/messages", **HELLO).status_code == 200


@pytest.mark.parametrize("length", ["64000001", "9" * 12, "9" * 400])
def test_a_length_beyond_the_limit_is_refused_before_the_body_comes(tmp_path: Path, length: str) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        target = f"/s/{here.labels['plan']}/v1/messages"
        head = f"POST {target} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n"
        assert raw_request(here.socket, head.encode()).startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))


@pytest.mark.parametrize("length", ["-1", "+5", "5, 6", "0x10", "five"])
def test_a_length_that_is_no_number_is_refused(tmp_path: Path, length: str) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        target = f"/s/{here.labels['plan']}/v1/messages"
        head = f"POST {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{{}}"
        assert raw_request(here.socket, head.encode()).startswith(b"HTTP/1.1 400 ")


def test_a_body_that_grows_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.serving.MAX_BODY_BYTES", 100_000)
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.client.post("/s/plan/v1/messages", content=iter([b"x" * 50_000] * 3))
        assert answer.status_code == 413
        assert "100000 bytes" in answer.json()["error"]["message"]


def test_bodies_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.serving.MAX_BODIES_BYTES", 50_000)
    with opened(scripted(tmp_path, SCRIPT)) as here:
        assert here.post("/s/plan/v1/messages", **HELLO, padding="x" * 60_000).status_code == 503
        for _ in range(3):
            assert here.post("/s/plan/v1/messages", **HELLO, padding="x" * 40_000).status_code == 200


def test_a_body_that_would_fill_the_memory_once_parsed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        assert here.post("/s/plan/v1/messages", **HELLO, padding=[[]] * 1_000_000).status_code == 413
        monkeypatch.setattr("matproof.models.serving.MAX_BODIES_BYTES", 1_000_000)
        assert here.post("/s/plan/v1/messages", **HELLO, padding=[[]] * 10_000).status_code == 503
        assert here.post("/s/plan/v1/messages", **HELLO).status_code == 200


def test_a_compressed_body_is_refused(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        answer = here.client.post("/s/plan/v1/messages", content=b"x", headers={"content-encoding": "gzip"})
        assert answer.status_code == 415


def test_a_query_of_odd_characters_is_refused(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        body, target = json.dumps(HELLO).encode(), f"/s/{here.labels['plan']}/v1/messages"
        assert b" 400 " in raw_request(here.socket, posting(f"{target}?a=http://x/", body))[:20]
        assert b" 200 " in raw_request(here.socket, posting(f"{target}?beta=true", body))[:20]


def test_half_a_request_does_not_hold_others_up(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here, socket.socket(socket.AF_UNIX) as half:
        half.connect(str(here.socket))
        target = f"/s/{here.labels['plan']}/v1/messages"
        half.sendall(f"POST {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{{".encode())
        assert here.post("/s/plan/v1/messages", **HELLO).status_code == 200


def test_only_the_owner_can_reach_the_socket(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        assert stat.S_IMODE(here.socket.stat().st_mode) == 0o600
        place = here.socket
    assert not place.exists()


def gateway_at(place: Path, tmp_path: Path) -> Gateway:
    record = tmp_path / "exchanges.jsonl"
    backend = scripted(tmp_path, SCRIPT)
    return Gateway(socket=place, exchanges=record, backend=backend, limits=Limits(), table=TABLE)


def test_a_path_too_long_for_a_socket_is_told(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="107"), gateway_at(tmp_path / ("x" * 108), tmp_path):
        pass


def test_a_socket_that_a_dead_process_left_is_replaced(tmp_path: Path) -> None:
    place = Path("g.sock")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(place))
        with gateway_at(place, tmp_path):
            assert place.is_socket()
    finally:
        os.chdir(before)


@pytest.mark.parametrize("kind", ["file", "living socket"])
def test_what_is_in_use_is_not_replaced(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = Path("g.sock")
    with socket.socket(socket.AF_UNIX) as living:
        if kind == "file":
            place.write_text("mine")
        else:
            living.bind(str(place))
            living.listen()
        with pytest.raises(InfrastructureError, match="can't listen"), gateway_at(place, tmp_path):
            pass
        assert place.exists()


def test_leaving_ends_an_answer_that_never_ends_and_records_it(tmp_path: Path) -> None:
    record, head = tmp_path / "exchanges.jsonl", {"content-type": "text/event-stream"}
    never = Reply(chunks=(b": begun\n\n", b": more\n\n"), headers=head, hold=threading.Event())
    with Upstream(never) as upstream, opened(upstream.backend(), file=record) as here:
        with here.client.stream("POST", "/s/plan/v1/messages", json={**HELLO, "stream": True}) as answer:
            arriving = answer.iter_raw()
            assert next(arriving) == b": begun\n\n"
            here.gateway.__exit__(None, None, None)
            with pytest.raises(httpx2.RemoteProtocolError):
                list(arriving)
        assert never.hold is not None
        never.hold.set()
        exchange = here.exchanges()[0]
        assert (exchange.complete, exchange.output_tokens) == (False, None)
        assert exchange.error == "the gateway closed before the answer ended"
        assert here.gateway.usage().requests == 1


def test_leaving_does_not_wait_for_a_script_that_waits(tmp_path: Path) -> None:
    record = tmp_path / "exchanges.jsonl"
    with opened(scripted(tmp_path, "plan:\n- text: late\n  delay_s: 3600\n"), file=record) as here:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(here.socket))
            client.sendall(posting(f"/s/{here.labels['plan']}/v1/messages", json.dumps(HELLO).encode()))
            here.post("/s/other/v1/messages", **HELLO)
            here.gateway.__exit__(None, None, None)
            assert not client.recv(100).startswith(b"HTTP/1.1 200")
        assert record.exists()


def test_every_exchange_is_recorded_once_with_its_own_number(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT)) as here:
        threads = [
            threading.Thread(target=lambda: here.post("/s/plan/v1/messages", **HELLO, stream=True)) for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        exchanges = here.exchanges()
        assert sorted(exchange.number for exchange in exchanges) == list(range(1, 13))
        assert {exchange.reply.body["content"][0]["text"] for exchange in exchanges} == {"hello"}
        assert here.gateway.usage("plan").requests == 12
        assert here.gateway.usage("other").requests == 0


def test_credentials_of_the_client_are_not_recorded(tmp_path: Path) -> None:
    headers = {"x-api-key": "placeholder-1", "authorization": "Bearer placeholder-2", "cookie": "placeholder-3"}
    with opened(scripted(tmp_path, SCRIPT)) as here:
        here.client.post("/s/plan/v1/messages", json=HELLO, headers=headers)
        assert "placeholder" not in here.file.read_text()


def test_text_that_utf8_cannot_hold_is_answered_and_recorded(tmp_path: Path) -> None:
    body = b'{"model": "priced", "messages": [{"role": "user", "content": "half \\ud83d of a smile"}]}'
    with opened(scripted(tmp_path, "plan:\n- text: '{{ prompt }}'\n")) as here:
        assert here.client.post("/s/plan/v1/messages", content=body).status_code == 200
        recorded = here.exchanges()[0].request.body
        assert recorded["messages"][0]["content"] == "half ? of a smile"


def test_what_is_too_long_is_recorded_by_size_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.exchanges.MAX_TEXT_BYTES", 1000)
    with opened(scripted(tmp_path, SCRIPT)) as here:
        assert here.post("/s/plan/v1/messages", **HELLO, padding="x" * 2000).status_code == 200
        recorded = here.exchanges()[0]
        assert recorded.request.body is None
        assert recorded.request.bytes > 2000
        assert recorded.request.omitted == "longer than 1000 bytes"
        assert recorded.reply.body["content"][0]["text"] == "hello"


def test_a_full_record_goes_on_without_bodies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.exchanges.MAX_FILE_BYTES", 2000)
    with opened(scripted(tmp_path, SCRIPT)) as here:
        for _ in range(3):
            here.post("/s/plan/v1/messages", **HELLO, padding="x" * 1500)
        assert [exchange.request.omitted for exchange in here.exchanges()] == [None, *["the record is full"] * 2]


def test_refused_requests_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.exchanging.MAX_TURNED_AWAY", 3)
    with opened(scripted(tmp_path, SCRIPT), requests=1) as here:
        statuses = [here.post("/s/plan/v1/messages", **HELLO, padding="x" * 900).status_code for _ in range(8)]
        assert statuses == [200, *[403] * 7]
        assert [exchange.refused for exchange in here.exchanges()] == [False, True, True, True]
        assert all(len(line) < 2500 for line in here.file.read_text().splitlines()[1:])
