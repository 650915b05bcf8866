"""The real Claude client against the gateway: its own HOME, a placeholder key, nothing but loopback."""

import importlib.util
import json
import os
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest
from gateway_fixture import Open, Reply, Upstream, on_tcp, opened, scripted

SPEC = importlib.util.find_spec("claude_agent_sdk")
CLIENT = Path(SPEC.origin).parent / "_bundled" / "claude" if SPEC is not None and SPEC.origin else Path("none")
pytestmark = pytest.mark.skipif(not CLIENT.exists(), reason="claude-agent-sdk has no bundled client here")
SCRIPT = """
plan:
- thinking: "first look"
  text: "I look."
  tools: [{name: Bash, input: {command: "printf '{\\"a0\\": 5.4321}'"}}]
- tools: [{name: Write, input: {file_path: "{{ cwd }}/out.txt", content: "{{ (tool_results[-1] | from_json).a0 }}\\n"}}]
  cut: true
- error: {status: 529, type: overloaded_error, message: "busy", times: 1}
  tools:
    - {name: StructuredOutput, input: {a0: {$: "(tool_results[0] | from_json).a0"}, where: "{{ cwd }}"}}
- text: "never asked for"
"""
SCHEMA = {
    "type": "object",
    "properties": {"a0": {"type": "number"}, "where": {"type": "string"}},
    "required": ["a0", "where"],
}


def claude(here: Open, home: Path, *options: str, retries: int = 2) -> tuple[dict[str, Any], Path]:
    """Run the client once; its result and its working directory."""
    work = home / "work"
    work.mkdir(parents=True)
    with on_tcp(here.socket) as address:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": f"{address}/s/{here.labels['plan']}",
            "ANTHROPIC_API_KEY": "placeholder",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(retries),
            "ENABLE_TOOL_SEARCH": "false",
            "IS_SANDBOX": "1",
        }
        command = [str(CLIENT), "-p", "go", "--model", "priced", "--output-format", "json"]
        finished = subprocess.run(
            [*command, "--permission-mode", "bypassPermissions", *options],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
    result: dict[str, Any] = json.loads(finished.stdout)
    return result, work


def test_a_scripted_run_uses_real_tools_and_survives_a_cut_and_an_error(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, textwrap.dedent(SCRIPT))) as here:
        result, work = claude(here, tmp_path / "home", "--json-schema", json.dumps(SCHEMA))
        assert not result["is_error"], result
        assert (work / "out.txt").read_text() == "5.4321\n"
        assert result["structured_output"] == {"a0": 5.4321, "where": str(work)}
        statuses = [(exchange.status, exchange.complete) for exchange in here.exchanges()]
        assert statuses[:5] == [(200, True), (200, False), (200, True), (529, False), (200, True)]
        assert {exchange.session for exchange in here.exchanges()} == {"plan"}
        assert here.failure() is None
        assert here.gateway.refusal is None


def test_at_a_limit_the_client_stops_after_one_refused_request(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, textwrap.dedent(SCRIPT)), requests=1) as here:
        result, _ = claude(here, tmp_path / "home", retries=10)
        assert result["is_error"]
        assert result["api_error_status"] == 403
        assert "matproof limit: all of 1 requests are used" in result["result"]
        assert [exchange.refused for exchange in here.exchanges()] == [False, True]


def test_the_client_does_not_try_again_what_the_gateway_tried_already(tmp_path: Path) -> None:
    with Upstream(Reply(status=503)) as upstream, opened(upstream.backend(retries=1)) as here:
        result, _ = claude(here, tmp_path / "home", retries=10)
        assert result["is_error"]
        assert len(upstream.seen) == 2
        assert "503" in (here.failure() or "")
        assert b"placeholder" not in b"".join(str(seen.headers).encode() for seen in upstream.seen)


def test_a_script_that_ends_too_early_is_told_to_the_client(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, "plan:\n- tools: [{name: Bash, input: {command: 'true'}}]\n")) as here:
        result, _ = claude(here, tmp_path / "home", retries=10)
        assert "the script has no turn 1 for session plan" in result["result"]
