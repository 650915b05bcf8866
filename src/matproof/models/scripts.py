"""Scripts of the scripted gateway: what the file holds, and reading it. The format is told in docs/gateway.md.

A person writes `sessions`, one list of turns each; `matproof record` writes `conversations`, because a live session may
hold several (subagents, helper calls), each recognised by how it begins.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from matproof.config.base import HandWritten
from matproof.core.errors import InputError
from matproof.core.files import read_model
from matproof.models.base import WireApi
from matproof.models.templates import Templates

SESSION_PATTERN = r"[a-z0-9_:-]{1,60}"
"""What a session may be called, in scripts and in paths."""

SessionName = Annotated[str, StringConstraints(pattern=f"^{SESSION_PATTERN}$")]


class ScriptedTool(HandWritten):
    """One tool call."""

    name: str = Field(min_length=1)
    """Name of the tool as the client offers it, or what follows `mcp__<server>__` in it."""
    input: dict[str, Any] | str
    """Its input: an object, or a text for a custom tool of the Responses API."""


class ScriptedUsage(HandWritten):
    """Tokens that the reply says it used."""

    input_tokens: int = Field(ge=0)
    """Tokens read, cached and newly cached ones included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Of those, read from the cache."""
    cache_write_tokens: int = Field(default=0, ge=0)
    """Of those, written to the cache; only the Messages API tells it."""
    output_tokens: int = Field(ge=0)
    """Tokens written."""

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.cached_tokens + self.cache_write_tokens > self.input_tokens:
            raise ValueError("more tokens are cached than were read")
        return self


class ScriptedError(HandWritten):
    """An error in place of the answer."""

    status: int = Field(ge=400, le=599)
    """HTTP status."""
    type: str = "api_error"
    """Type of the error, such as `overloaded_error` or `rate_limit_error`."""
    message: str = "the script asks for this error"
    """What the client is told."""
    retry_after: float | None = Field(default=None, ge=0)
    """Seconds, sent as `retry-after`."""
    times: int | None = Field(default=None, ge=1)
    """How often a conversation meets it before the turn is answered; null is always."""


class ScriptedTurn(HandWritten):
    """One answer of the assistant. Every string but those of `expect` is a template, `{$: …}` an expression."""

    expect: list[str] | None = None
    """What the tool results that are new at this turn were when it was recorded, normalised; null compares nothing."""
    thinking: str | None = None
    """A thinking block."""
    text: str | None = None
    """A text block."""
    tools: list[ScriptedTool] = []
    """Tool calls, all in one message."""
    usage: ScriptedUsage | None = None
    """Null: unknown in every record, and zero in the reply, where the API wants a number."""
    stop: str | None = Field(default=None, min_length=1)
    """Why the answer stopped short, in the API's word, such as `max_tokens`; null: it is done, or calls tools."""
    delay_s: float = Field(default=0, ge=0, le=3600)
    """Seconds before the answer begins."""
    error: ScriptedError | None = None
    """An error first."""
    cut: bool | Annotated[int, Field(ge=0)] = False
    """How often a conversation's answer breaks off half way before it comes whole; true is once."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        silent = self.thinking is None and self.text is None and not self.tools
        if silent and not (self.error is not None and self.error.times is None):
            raise ValueError("a turn needs text, thinking, tools, or an error without `times`")
        return self


class ScriptedConversation(HandWritten):
    """One conversation of a recorded session: the main one, a subagent's, or a client's helper call."""

    api: WireApi
    """Which API it spoke."""
    tools: bool
    """Whether the client offered tools."""
    begins: str
    """What the user said first, normalised."""
    turns: list[ScriptedTurn] = Field(min_length=1)
    """The assistant's answers in order."""


class Script(HandWritten):
    """The whole file."""

    version: Literal[1]
    """Version of the format."""
    conversations: dict[SessionName, list[ScriptedConversation]] = {}
    """Session → its conversations as they were recorded. Those that begin alike are answered in their order."""
    sessions: dict[SessionName, list[ScriptedTurn]] = Field(default={}, validate_default=True)
    """Session → its turns in order. `diagnose:relax` is looked up under its whole name, then under `diagnose`."""

    @field_validator("sessions")
    @classmethod
    def _something_is_said(cls, sessions: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if not sessions and not info.data.get("conversations", True):
            raise ValueError("at least 1 session is needed, here or under `conversations`")
        return sessions

    def turns(self, session: str) -> list[ScriptedTurn] | None:
        """The turns of `session`; None where the script has none for it."""
        turns = self.sessions.get(session)
        return turns if turns is not None else self.sessions.get(session.partition(":")[0])

    def recorded(self, session: str) -> list[ScriptedConversation]:
        """The recorded conversations of `session`, looked up in the same way."""
        return self.conversations.get(session) or self.conversations.get(session.partition(":")[0]) or []


def read_script(path: Path, templates: Templates) -> Script:
    """The script at `path`, each of its templates compiled once. Raises InputError naming the field that is wrong."""
    script = read_model(Script, path)
    for where, value in _templated(script):
        if (problem := templates.check(value, where)) is not None:
            raise InputError(path, problem[0], problem[1], "correct the template ({% raw %} keeps braces as they are)")
    return script


def _templated(script: Script) -> Iterator[tuple[str, Any]]:
    lists = {f"sessions.{session}": turns for session, turns in script.sessions.items()}
    for session, conversations in script.conversations.items():
        lists |= {f"conversations.{session}.{at}.turns": it.turns for at, it in enumerate(conversations)}
    for list_, turns in lists.items():
        for index, turn in enumerate(turns):
            where = f"{list_}.{index}"
            yield f"{where}.thinking", turn.thinking
            yield f"{where}.text", turn.text
            for at, tool in enumerate(turn.tools):
                yield f"{where}.tools.{at}.name", tool.name
                yield f"{where}.tools.{at}.input", tool.input
            if turn.error is not None:
                yield f"{where}.error.message", turn.error.message
