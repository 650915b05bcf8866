"""`matproof m2m generate` against providers on loopback: keys, tokens, limits, failures, replies without sense."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from gateway_fixture import Reply, Upstream
from m2m_models_fixture import Row, rows, run_command, tagged, write_csv

from matproof.commands.m2m.generate import command
from matproof.core.errors import InfrastructureError, LimitError
from matproof.suites.matter_to_mechanism.rows import read_rows


def written(tmp_path: Path) -> list[Row]:
    """The rows."""
    found: list[Row] = read_rows(tmp_path / "rows.parquet").to_pylist()
    return found


def completion(text: str, read: int = 100, written: int = 20) -> Reply:
    """A reply of an OpenAI-compatible server."""
    usage = {"prompt_tokens": read, "completion_tokens": written}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Reply(chunks=(json.dumps({"id": "1", "choices": [choice], "usage": usage}).encode(),))


def test_an_endpoint_needs_an_address_alone(tmp_path: Path) -> None:
    problems, output = write_csv(tmp_path / "p.csv", rows()), tmp_path / "rows.parquet"
    with Upstream(completion(tagged("A coat protects."))) as server:
        address = ("--model", "ChemDFM-8B", "--base-url", f"{server.url}/v1", "--max-output-tokens", 900)
        result = run_command(command, problems, "--system", "endpoint", "--name", "chemdfm", *address, "-o", output)
        assert {one.path for one in server.seen} == {"/v1/chat/completions"}
        assert {one.headers["authorization"] for one in server.seen} == {"Bearer no-key-needed"}
        body = json.loads(server.seen[0].body)
    assert (body["model"], body["max_tokens"]) == ("ChemDFM-8B", 900)
    assert [message["role"] for message in body["messages"]] == ["user"]
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert record["usage"] == {"calls": 6, "input_tokens": 600, "output_tokens": 120, "cost_usd": None}
    assert "cost unknown" in result.output


MODELS = """
providers:
  maker: {{api: {api}, base_url: "{url}", key_env: M2M_TEST_KEY}}
models:
  known: {{provider: maker, prices: {{input: 1.0, output: 10.0}}}}
"""


def live(tmp_path: Path, server: Upstream, *options: object, api: str = "openai") -> Result:
    """One run against a provider on loopback."""
    (tmp_path / "models.yaml").write_text(MODELS.format(api=api, url=server.url))
    problems = write_csv(tmp_path / "p.csv", rows())
    where = ("--models", tmp_path / "models.yaml", "-o", tmp_path / "rows.parquet")
    return run_command(command, problems, "--system", "direct", "--name", "known", "--model", "known", *where, *options)


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2M_TEST_KEY", "sk-test-0123456789")


@pytest.mark.usefixtures("_key")
def test_tokens_and_cost_are_recorded_and_the_key_is_nowhere(tmp_path: Path) -> None:
    with Upstream(completion(tagged("A coat protects."))) as server:
        result = live(tmp_path, server)
        assert {one.headers["authorization"] for one in server.seen} == {"Bearer sk-test-0123456789"}
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert record["usage"] == {"calls": 6, "input_tokens": 600, "output_tokens": 120, "cost_usd": 0.0018}
    assert "0.0018 dollars" in result.output
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in kept if b"sk-test-0123456789" in path.read_bytes()]


@pytest.mark.usefixtures("_key")
def test_a_provider_of_the_messages_api_is_asked_in_its_own_way(tmp_path: Path) -> None:
    text = {"type": "text", "text": tagged("A coat protects.")}
    message = {"type": "message", "content": [text], "usage": {"input_tokens": 50, "output_tokens": 10}}
    with Upstream(Reply(chunks=(json.dumps(message).encode(),))) as server:
        live(tmp_path, server, api="anthropic")
        assert {one.path for one in server.seen} == {"/v1/messages"}
    assert len(written(tmp_path)) == 6
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert record["usage"]["input_tokens"] == 300


@pytest.mark.usefixtures("_key")
def test_a_limit_stops_the_job_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with Upstream(completion(tagged("A coat protects."))) as server:
        with pytest.raises(LimitError, match="2 of 6 rows are done and kept; the same command goes on from there"):
            live(tmp_path, server, "--limit-requests", 2, "--parallel", 1)
        assert not (tmp_path / "rows.parquet").exists()
        with pytest.raises(LimitError, match=r"dollars are used\): 4 of 6"):
            live(tmp_path, server, "--limit-usd", 0.0005, "--parallel", 1)
        assert len(server.seen) == 4
        result = live(tmp_path, server)
        assert len(server.seen) == 6
    assert "2 requests, 4 from the record" in result.output
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert record["usage"] == {"calls": 6, "input_tokens": 600, "output_tokens": 120, "cost_usd": 0.0018}


@pytest.mark.usefixtures("_key")
def test_a_provider_that_refuses_the_key_stops_the_job_as_infrastructure(tmp_path: Path) -> None:
    refusal = Reply(status=401, chunks=(b'{"error": {"message": "bad key", "type": "authentication_error"}}',))
    with Upstream(refusal) as server:
        with pytest.raises(InfrastructureError, match="401: bad key") as raised:
            live(tmp_path, server, "--parallel", 1)
        assert len(server.seen) == 5
    assert raised.value.exit_code == 75
    assert "0 of 6 rows are done" in str(raised.value)


@pytest.mark.usefixtures("_key")
def test_what_there_is_is_written_on_request_and_the_exit_code_still_tells(tmp_path: Path) -> None:
    with Upstream(completion(tagged("A coat protects."))) as server, pytest.raises(LimitError):
        live(tmp_path, server, "--limit-requests", 2, "--parallel", 1, "--partial")
    assert len(written(tmp_path)) == 2
    assert json.loads((tmp_path / "rows.parquet.generation.json").read_text())["unfinished"] == 4


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}',
        b'{"choices": [{"message": "text"}]}',
        b"[1]",
        b"\xff\xfe",
    ],
)
@pytest.mark.usefixtures("_key")
def test_replies_that_make_no_sense_are_listed_and_not_asked_for_again(tmp_path: Path, body: bytes) -> None:
    with Upstream(Reply(chunks=(body,))) as server:
        live(tmp_path, server)
        assert len(server.seen) == 6
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert len(record["unusable"]) == 6


@pytest.mark.usefixtures("_key")
def test_a_reply_that_was_cut_says_so_in_its_row(tmp_path: Path) -> None:
    choice = {"message": {"content": "[HYPOTHESIS]\nA coat\n[MECHANISM]\nit"}, "finish_reason": "length"}
    with Upstream(Reply(chunks=(json.dumps({"choices": [choice]}).encode(),))) as server:
        live(tmp_path, server)
    assert written(tmp_path)[0]["generation_notes"].startswith("1 replies cut at the longest length; missing: ")


@pytest.mark.usefixtures("_key")
def test_one_row_that_the_provider_chokes_on_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    failing = Reply(status=500, headers={"x-should-retry": "false"}, chunks=(b'{"error": {"message": "choked"}}',))
    good = completion(tagged("A coat protects."))
    with Upstream(good, failing, good) as server:
        with pytest.raises(InfrastructureError, match=r"500: choked\): 5 of 6 rows are done"):
            live(tmp_path, server, "--parallel", 1)
        live(tmp_path, server)
        assert len(server.seen) == 7
    assert len(written(tmp_path)) == 6
