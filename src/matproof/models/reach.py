"""What a request must not ask for: anything that makes the provider reach out for the agent.

The sandbox has no network, and the model endpoint must not lend it one. Tools that run at the provider (web search,
code execution, remote MCP servers, file stores) and content that the provider would fetch from an address are
refused; tools that the client runs, and content that comes in the request, pass. Unknown tool types are refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from matproof.models.base import ModelRequest, Rejection

_CLIENT_TOOLS = re.compile(
    r"custom|function|(bash|text_editor|computer|memory)_[0-9]{8}|tool_search_tool_(bm25|regex)(_[0-9]{8})?|tool_search"
    r"|local_shell|apply_patch|computer_use_preview"
)
_FIELDS = ("mcp_servers", "container", "background", "prompt", "conversation", "web_search_options", "plugins")


def reaching_out(request: ModelRequest) -> str | None:
    """The first thing in the request that would reach out, in words; None where nothing does."""
    for field in _FIELDS:
        if request.body.get(field):
            return f"the field {field}"
    items = [item for key in ("messages", "input") for item in _dicts(request.body.get(key))]
    for tools in (request.body.get("tools"), *(item.get("tools") for item in items)):
        for kind in _tool_kinds(tools, depth=0):
            if not _CLIENT_TOOLS.fullmatch(kind):
                return f"the provider's own tool {kind[:60]}"
    contents = [request.body.get("system"), *(item.get(key) for item in items for key in ("content", "output"))]
    return next((found for content in contents if (found := _fetched(content)) is not None), None)


def check_reach(request: ModelRequest) -> None:
    """Raises Rejection where the request would reach out."""
    if (found := reaching_out(request)) is not None:
        message = f"matproof: {found} is not part of a run: it has no network but the model"
        raise Rejection(400, "invalid_request_error", message, retry=False)


def _tool_kinds(tools: Any, *, depth: int) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else []:
        kind = tool.get("type", "custom") if isinstance(tool, dict) else tool
        if kind == "namespace" and depth == 0:  # a named group of client tools in the Responses API
            yield from _tool_kinds(tool.get("tools"), depth=1)
        else:
            yield str(kind)


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The mappings in `value`, a list or a single one."""
    given = value if isinstance(value, list) else [value]
    return [item for item in given if isinstance(item, dict)]


def _fetched(content: Any) -> str | None:
    """The first block that the provider would fetch, in words. Tool inputs are not content: they may hold anything."""
    for block in _dicts(content):
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") in ("url", "file"):
            return f"a {block.get('type')} that the provider would fetch"
        for key in ("image_url", "file_url", "video_url", "audio_url"):
            place = block.get(key)
            address = place.get("url") if isinstance(place, dict) else place
            if isinstance(address, str) and not address.startswith("data:"):
                return f"an {key} that the provider would fetch"
        for inner in (block.get("content"), source.get("content") if isinstance(source, dict) else None):
            if (found := _fetched(inner)) is not None:
                return found
    return None
