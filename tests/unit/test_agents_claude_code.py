"""What Claude Code is told: by files, standard input and environment, not by argument lists that others can read."""

import json
from dataclasses import replace

import pytest

from matproof.agents.claude_code.agent import ClaudeCode, Kimi
from matproof.agents.cli_client import Briefing

BRIEFING = Briefing(
    url="http://127.0.0.1:8080/s/session-1f9c03ab",
    model="a-model",
    session_id="3d0a3d9e-5f9c-4f3b-8a55-1a6d1a1b2c3d",
    servers={"matproof": ("python", "-c", "server")},
)


def value_of(option: str, arguments: list[str]) -> str:
    return arguments[arguments.index(option) + 1]


def test_a_session_begins_under_our_name_and_is_resumed_under_it() -> None:
    first = ClaudeCode().arguments(BRIEFING, resume=False)
    second = ClaudeCode().arguments(BRIEFING, resume=True)
    assert value_of("--session-id", first) == value_of("--resume", second) == BRIEFING.session_id
    assert "--resume" not in first
    assert "--session-id" not in second


def test_settings_of_people_projects_and_machines_are_left_out() -> None:
    arguments = ClaudeCode().arguments(BRIEFING, resume=False)
    assert "--setting-sources=" in arguments
    assert "--strict-mcp-config" in arguments


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_reasoning_effort_is_passed_on(effort: str) -> None:
    told = ClaudeCode().arguments(replace(BRIEFING, effort=effort), resume=False)  # type: ignore[arg-type]
    assert value_of("--effort", told) == effort
    assert "--effort" not in ClaudeCode().arguments(BRIEFING, resume=False)


def test_its_servers_are_a_file() -> None:
    (text,) = ClaudeCode().files(BRIEFING).values()
    server = {"type": "stdio", "command": "python", "args": ["-c", "server"]}
    assert json.loads(text) == {"mcpServers": {"matproof": server}}


def test_it_knows_the_gateway_and_no_key() -> None:
    variables = ClaudeCode().environment(BRIEFING)
    assert variables["ANTHROPIC_BASE_URL"] == BRIEFING.url
    assert variables["ANTHROPIC_API_KEY"] == "no-key-inside-the-sandbox"
    assert variables["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert variables["CLAUDE_CONFIG_DIR"] == "/work/client"


@pytest.mark.parametrize("client", [ClaudeCode(), Kimi()])
def test_every_variable_that_names_a_model_names_the_settings(client: ClaudeCode) -> None:
    variables = client.environment(BRIEFING)
    models = {name: value for name, value in variables.items() if "MODEL" in name}
    assert len(models) == 6
    assert set(models.values()) == {"a-model"}


def test_kimi_is_told_its_window_where_it_is_known() -> None:
    known = Kimi().environment(replace(BRIEFING, context_window=262144))
    assert known["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] == "262144"
    assert "CLAUDE_CODE_MAX_CONTEXT_TOKENS" not in Kimi().environment(BRIEFING)
    assert "CLAUDE_CODE_MAX_CONTEXT_TOKENS" not in ClaudeCode().environment(replace(BRIEFING, context_window=262144))
