"""Which of the tools that a request offers a script's tool name stands for."""

from pathlib import Path
from typing import Any

import pytest
from gateway_fixture import Open, opened, scripted

from matproof.models.conversation import offered_tools

GO: list[dict[str, Any]] = [{"role": "user", "content": "go"}]


def called(here: Open, api: str, *offered: str) -> str:
    """Name of the tool that the script's `Bash` calls where a request of `api` offers `offered`."""
    if api == "messages":
        body = {"messages": GO, "tools": [{"name": name, "input_schema": {}} for name in offered]}
        return str(here.post("/s/x/v1/messages", model="m", **body).json()["content"][0]["name"])
    if api == "responses":
        tools = [{"type": "function", "name": name, "parameters": {}} for name in offered]
        return str(here.post("/s/x/v1/responses", model="m", input="go", tools=tools).json()["output"][0]["name"])
    body = {"messages": GO, "tools": [{"type": "function", "function": {"name": it}} for it in offered]}
    reply = here.post("/s/x/v1/chat/completions", model="m", **body).json()
    return str(reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"])


@pytest.mark.parametrize("api", ["messages", "responses", "chat"])
def test_a_tool_of_an_mcp_server_answers_to_its_own_name(tmp_path: Path, api: str) -> None:
    with opened(scripted(tmp_path, "x:\n- tools: [{name: Bash, input: {command: 'true'}}]\n")) as here:
        assert called(here, api, "Read", "mcp__matproof__Bash") == "mcp__matproof__Bash"
        assert called(here, api, "mcp__matproof__Bash", "Bash") == "Bash"
        assert called(here, api, "mcp__one__Bash", "mcp__two__Bash") == "Bash"
        assert called(here, api, "mcp__matproof__NotBash", "Read") == "Bash"
        assert called(here, api) == "Bash"


@pytest.mark.parametrize(
    "tools", [None, "Bash", {"name": "Bash"}, [None, "x", {"name": 1}, {"function": "x"}, {"type": "namespace"}]]
)
def test_tools_that_make_no_sense_are_no_tools(tools: Any) -> None:
    assert offered_tools({"tools": tools}) == ()


def test_a_tool_of_a_named_group_is_called_in_it(tmp_path: Path) -> None:
    groups = [
        {"type": "namespace", "name": "mcp__papers", "tools": [{"type": "function", "name": "ParsePDF"}]},
        {"type": "namespace", "name": "mcp__other", "tools": []},
        {"type": "function", "name": "Read", "parameters": {}},
    ]
    with opened(scripted(tmp_path, "x:\n- tools: [{name: ParsePDF, input: {}}, {name: Read, input: {}}]\n")) as here:
        calls = here.post("/s/x/v1/responses", model="m", input="go", tools=groups).json()["output"]
    assert [(call.get("namespace"), call["name"]) for call in calls] == [("mcp__papers", "ParsePDF"), (None, "Read")]
