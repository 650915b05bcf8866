"""What a request must not ask of the provider: it would lend the sandbox a network."""

from pathlib import Path
from typing import Any

import pytest
from gateway_fixture import Reply, Upstream, opened, scripted

IMAGE = {"type": "image", "source": {"type": "url", "url": "https://elsewhere.example/a.png"}}
OUTSIDE: list[tuple[str, dict[str, Any]]] = [
    ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    ("messages", {"tools": [{"name": "Bash", "input_schema": {}}, {"type": "web_fetch_20250910", "name": "f"}]}),
    ("messages", {"tools": [{"type": "code_execution_20250825", "name": "c"}]}),
    ("messages", {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
    ("messages", {"mcp_servers": [{"type": "url", "url": "https://elsewhere.example", "name": "x"}]}),
    ("messages", {"container": "c_1"}),
    ("messages", {"messages": [{"role": "user", "content": [IMAGE]}]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [IMAGE]}]}]}),
    ("messages", {"messages": [{"role": "user", "content": [{**IMAGE, "type": "document"}]}]}),
    ("messages", {"system": [IMAGE]}),
    ("messages", {"tools": ["web_search"]}),
    ("messages/count_tokens", {"messages": [{"role": "user", "content": [IMAGE]}]}),
    ("responses", {"tools": [{"type": "web_search"}]}),
    ("responses", {"tools": [{"type": "mcp", "server_url": "https://elsewhere.example"}]}),
    ("responses", {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
    ("responses", {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]}),
    ("responses", {"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]}),
    (
        "responses",
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://e.example"}]}]},
    ),
    ("responses", {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://e.example"}]}]}),
    ("responses", {"input": [{"type": "function_call_output", "output": [{"image_url": "https://e.example"}]}]}),
    ("responses", {"input": [{"type": "computer_call_output", "output": {"image_url": "https://e.example"}}]}),
    ("responses", {"background": True}),
    ("responses", {"prompt": {"id": "pmpt_1"}}),
    ("chat/completions", {"messages": [{"role": "user", "content": [{"image_url": {"url": "http://e.example"}}]}]}),
    ("chat/completions", {"web_search_options": {"search_context_size": "low"}}),
    ("chat/completions", {"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]}),
]
INSIDE: list[tuple[str, dict[str, Any]]] = [
    ("messages", {"tools": [{"name": "Bash", "input_schema": {}}, {"type": "custom", "name": "x"}]}),
    ("messages", {"tools": [{"type": "bash_20250124", "name": "bash"}]}),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]}),
    (
        "messages",
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "input": {"image_url": "https://e"}}]}]},
    ),
    ("responses", {"tools": [{"type": "function", "name": "x"}, {"type": "custom", "name": "apply_patch"}]}),
    ("responses", {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;…"}]}]}),
    ("chat/completions", {"tools": [{"type": "function", "function": {"name": "x"}}], "messages": []}),
]


def whole(path: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", **({"input": "go"} if path == "responses" else {"messages": []}), **part}


@pytest.mark.parametrize(("path", "part"), OUTSIDE)
def test_nothing_makes_the_provider_reach_out(path: str, part: dict[str, Any]) -> None:
    api = "anthropic" if path.startswith("messages") else "openai"
    with Upstream(Reply(chunks=(b"{}",))) as upstream, opened(upstream.backend(api=api)) as here:
        answer = here.post(f"/s/x/v1/{path}", **whole(path, part))
        assert answer.status_code == 400
        assert "it has no network but the model" in answer.json()["error"]["message"]
        assert upstream.seen == []
        assert [exchange.refused for exchange in here.exchanges()] == [True]
        assert here.gateway.refusal is None


@pytest.mark.parametrize(("path", "part"), INSIDE)
def test_tools_and_content_of_the_client_pass(tmp_path: Path, path: str, part: dict[str, Any]) -> None:
    with opened(scripted(tmp_path, "x:\n- text: hi\n- text: hi\n")) as here:
        assert here.post(f"/s/x/v1/{path}", **whole(path, part)).status_code == 200
