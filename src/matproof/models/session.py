"""One conversation with the Claude client, held inside a sandbox.

The client is the real one that the Claude Agent SDK brings. It is started through `launcher`, a program that enters
the sandbox first; nothing of this process's environment reaches it. Two properties are deliberate: the prompt goes by
standard input and the system prompt by file, never by argument list; and a structured answer counts only once our own
pydantic model takes it (`hearing`).
"""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from matproof.core.errors import InfrastructureError
from matproof.models.hearing import Hearing, Review

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage
    from claude_agent_sdk.types import Message

_LONGEST_CALL_MS = 72 * 3600 * 1000
_LONGEST_LINE_BYTES = 64_000_000
"""The SDK's own limit, 1 MB, is less than a plot that the model looks at."""
OnMessage = Callable[["Message"], None]


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool of ours answers."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of ours. It is called in a thread of its own, outside the client's sandbox."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of its input, an object."""
    answer: Callable[[dict[str, Any]], Said]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a conversation needs. Paths inside the sandbox are strings, paths outside are `Path`."""

    model: str
    system_prompt_file: str
    prompt: str
    launcher: Path
    workdir: Path
    """An existing directory outside, for the launcher; the sandbox has its own."""
    answer: type[BaseModel] | None
    """Shape of the structured answer; None for a session that only acts."""
    timeout_s: float
    review: Review | None = None
    """What is said, once, of an answer of the right shape; None is never anything."""
    builtin_tools: tuple[str, ...] = ("Read",)
    """Tools of the client itself. Never one that runs commands: what runs beside the client could speak in its name."""
    tools: tuple[Tool, ...] = ()
    effort: Literal["low", "medium", "high"] | None = None
    max_turns: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How a conversation ended. `answer` is None exactly where one was asked for and none was accepted."""

    answer: BaseModel | None
    ending: Literal["done", "timeout", "error"]
    problem: str | None = None
    refused: tuple[str, ...] = ()
    """Why each answer that was sent back was refused."""


def client_environment(session: str, model: str, url: str) -> dict[str, str]:
    """Environment of the client inside the sandbox: our gateway, a placeholder key, no side traffic."""
    models = (
        "ANTHROPIC_MODEL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "ANTHROPIC_DEFAULT_SONNET_MODEL",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "CLAUDE_CODE_SUBAGENT_MODEL",
    )
    return {
        "ANTHROPIC_BASE_URL": f"{url}/s/{session}",
        "ANTHROPIC_API_KEY": "no-key-inside-the-sandbox",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_TOOL_TIMEOUT": str(_LONGEST_CALL_MS),
        "IS_SANDBOX": "1",
        **dict.fromkeys(models, model),
    }


def client_program() -> str:
    """Path of the client that the SDK brings."""
    return str(_package() / "_bundled" / "claude")


def client_version() -> str:
    """Version of that client."""
    found = re.search(r'__cli_version__ = "([^"]+)"', (_package() / "_cli_version.py").read_text(encoding="utf-8"))
    return found[1] if found else "unknown"


def _package() -> Path:
    """Directory of the SDK, found without the import, which takes longer than a short session of the client."""
    found = find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        raise InfrastructureError("claude-agent-sdk is not installed")
    return Path(found.origin).parent


def hold(session: Session, on_message: OnMessage) -> Answered:
    """Hold the conversation to its end; every message of the client goes to `on_message` as it comes."""
    import anyio

    async def bounded() -> Answered:
        answered = Answered(answer=None, ending="timeout", problem=f"stopped after {session.timeout_s:.0f} s")
        with anyio.move_on_after(session.timeout_s):
            answered = await _converse(session, on_message)
        # The client's pipes are closed by callbacks of this loop: let them run before it ends.
        await anyio.sleep(0.05)
        return answered

    return anyio.run(bounded)


async def _converse(session: Session, on_message: OnMessage) -> Answered:
    from claude_agent_sdk import ClaudeSDKClient, ClaudeSDKError

    hearing = None if session.answer is None else Hearing(session.answer, session.review)
    try:
        async with ClaudeSDKClient(_options(session)) as client:
            prompt: str | None = session.prompt
            while prompt is not None:
                result = await _ask(client, prompt, on_message)
                if result is None or result.is_error:
                    return _ended("error", hearing, _why(result))
                if hearing is None:
                    return Answered(answer=None, ending="done")
                prompt = hearing.hear(result.structured_output)
    except ClaudeSDKError as error:
        return _ended("error", hearing, f"{type(error).__name__}: {error}"[:2000])
    return _ended("done", hearing, None)


def _ended(ending: Literal["done", "error"], hearing: Hearing | None, problem: str | None) -> Answered:
    refused = () if hearing is None else tuple(hearing.refused)
    answer = hearing.answer if hearing is not None and ending == "done" else None
    if ending == "done" and answer is None and refused:
        problem = refused[-1]
    return Answered(answer=answer, ending=ending, problem=problem, refused=refused)


async def _ask(client: "ClaudeSDKClient", prompt: str, on_message: OnMessage) -> "ResultMessage | None":
    from claude_agent_sdk import ResultMessage

    await client.query(prompt)
    result = None
    async for message in client.receive_response():
        on_message(message)
        if isinstance(message, ResultMessage):
            result = message
    return result


def _why(result: "ResultMessage | None") -> str:
    if result is None:
        return "the client ended without a result"
    text = result.result or "; ".join(result.errors or []) or result.subtype
    return f"{result.terminal_reason or result.subtype}: {text}"[:2000]


def _options(session: Session) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server
    from claude_agent_sdk.types import SystemPromptFile

    options = ClaudeAgentOptions(
        model=session.model,
        system_prompt=SystemPromptFile(type="file", path=session.system_prompt_file),
        tools=list(session.builtin_tools),
        permission_mode="bypassPermissions",
        setting_sources=[],
        strict_mcp_config=True,
        max_turns=session.max_turns,
        cwd=session.workdir,
        cli_path=session.launcher,
        effort=session.effort,
        max_buffer_size=_LONGEST_LINE_BYTES,
    )
    if session.tools:
        server = create_sdk_mcp_server("matproof", tools=[_as_sdk_tool(tool) for tool in session.tools])
        options.mcp_servers = {"matproof": server}
    if session.answer is not None:
        options.output_format = {"type": "json_schema", "schema": inlined_schema(session.answer)}
    return options


def _as_sdk_tool(tool: Tool) -> Any:
    import anyio.to_thread
    from claude_agent_sdk import tool as sdk_tool

    async def respond(arguments: dict[str, Any]) -> dict[str, Any]:
        said = await anyio.to_thread.run_sync(tool.answer, arguments, abandon_on_cancel=True)
        return {"content": [{"type": "text", "text": said.text}], "is_error": said.failed}

    handler: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] = respond
    return sdk_tool(tool.name, tool.description, tool.parameters)(handler)


def inlined_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of `model` without `$ref`, as some providers refuse references in tool schemas."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inline(node: Any) -> Any:
        if isinstance(node, dict):
            if "$ref" in node:
                name = str(node["$ref"]).rsplit("/", 1)[-1]
                return inline({**definitions[name], **{key: value for key, value in node.items() if key != "$ref"}})
            return {key: inline(value) for key, value in node.items()}
        if isinstance(node, list):
            return [inline(item) for item in node]
        return node

    return dict(json.loads(json.dumps(inline(schema))))
