"""The backend that answers from a script, so that real agents run without a provider.

Stateless where it can be: the turn is counted in the request, so retries, resumed sessions and parallel ones need no
bookkeeping. Three things have a memory, for as long as the gateway lives: how often a fault was met (by session, turn
and first prompt), what stands behind a `previous_response_id`, and which of the recorded conversations that begin
alike a session was given.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from matproof.models import anthropic_api, openai_chat, openai_responses, wire
from matproof.models.base import NO_TOKENS, Answer, BrokenStreamError, Json, ModelRequest, Rejection, Tokens
from matproof.models.conversation import Conversation, Reply, ToolCall, offered_tools, tool_called, tool_groups
from matproof.models.replaying import Replaying
from matproof.models.responses import KeptResponses
from matproof.models.scripts import ScriptedTurn, read_script
from matproof.models.templates import TemplateFailedError, Templates

_JSON = {"content-type": "application/json"}
_SSE = {"content-type": "text/event-stream", "cache-control": "no-cache"}


class ScriptedBackend:
    """Answers from the script at `script`. Raises InputError where it is wrong.

    `files` are the directories that `file()` may read below: the claim's, and the script's own. `strict`: a run that
    drifts from a recorded script is stopped there; else its exchanges say so.
    """

    scripted = True
    secrets: tuple[str, ...] = ()

    def __init__(self, script: Path, *, files: tuple[Path, ...], strict: bool = True) -> None:
        self._templates = Templates(files)
        self._script = read_script(script, self._templates)
        self._replaying = Replaying(self._script, strict=strict)
        self._met: dict[tuple[str, int, str, str], int] = {}
        self._responses = KeptResponses()

    async def close(self) -> None:
        """Nothing is held."""

    async def answer(self, request: ModelRequest) -> Answer:
        """The script's answer. Raises Rejection for a turn that the script lacks, and where it asks for an error."""
        talk = self._responses.joined(request.body, wire.conversation(request.api, request.body))
        if request.api == "count_tokens":
            # An honest count needs the model's tokenizer; four characters a token is the usual rule of thumb.
            count = {"input_tokens": max(1, len(request.raw) // 4)}
            return Answer(status=200, chunks=_one(_encoded(count)), headers=_JSON, tokens=NO_TOKENS)
        found = self._replaying.find(request, talk)
        drift = None if found is None else self._replaying.compare(request, talk, found)
        turns = self._script.turns(request.session) if found is None else found.turns
        if turns is None or talk.turn >= len(turns):
            message = f"the script has no turn {talk.turn} for session {request.session}"
            raise Rejection(400, "invalid_request_error", message, retry=False)
        turn = turns[talk.turn]
        met = _Met(
            self._met, (request.session, talk.turn, hashlib.sha256(talk.prompt.encode(errors="replace")).hexdigest())
        )
        if turn.delay_s:
            await asyncio.sleep(turn.delay_s)
        names = self._names(request, talk)
        if turn.error is not None and met.again("error", turn.error.times):
            error = turn.error
            message = self._render(request, talk, error.message, names)
            raise Rejection(error.status, error.type, message, retry_after_s=error.retry_after)
        reply = self._plain(request, talk, turn, names, 0 if found is None else found.number)
        data, headers = self._body(request, reply)
        cut = bool(turn.cut) and met.again("cut", int(turn.cut))
        chunks = _half(data) if cut else _pieces(data)
        tokens = Tokens() if turn.usage is None else _tokens(turn)
        return Answer(status=200, chunks=chunks, headers=headers, tokens=tokens, drift=drift)

    def _names(self, request: ModelRequest, talk: Conversation) -> dict[str, Any]:
        names = {
            "tool_results": list(talk.tool_results),
            "turn": talk.turn,
            "model": request.model,
            "session": request.session,
            "prompt": talk.prompt,
            "opening": talk.opening,
            "cwd": talk.cwd,
        }
        return {name: value for name, value in names.items() if value is not None}

    def _render(self, request: ModelRequest, talk: Conversation, value: Any, names: dict[str, Any]) -> Any:
        try:
            return self._templates.render(value, names)
        except TemplateFailedError as problem:
            message = f"turn {talk.turn} of the script for session {request.session} can't be rendered: {problem}"
            raise Rejection(400, "invalid_request_error", message, retry=False) from problem

    def _plain(
        self, request: ModelRequest, talk: Conversation, turn: ScriptedTurn, names: dict[str, Any], number: int
    ) -> Json:
        tools = self._render(request, talk, [{"name": tool.name, "input": tool.input} for tool in turn.tools], names)
        if wrong := next((tool["name"] for tool in tools if not isinstance(tool["input"], dict | str)), None):
            raise Rejection(400, "invalid_request_error", f"tool {wrong}: its input gives neither an object nor a text")
        offered = offered_tools(request.body)
        reply = Reply(
            id=_reply_id(request, talk, number),
            model=request.model,
            thinking=self._render(request, talk, turn.thinking, names),
            text=self._render(request, talk, turn.text, names),
            tools=tuple(ToolCall(name=tool_called(tool["name"], offered), input=tool["input"]) for tool in tools),
            tokens=_tokens(turn),
            stop=turn.stop,
        )
        if request.api == "messages":
            return anthropic_api.plain(reply)
        if request.api == "chat":
            return openai_chat.plain(reply)
        plain = openai_responses.plain(
            reply, previous=request.body.get("previous_response_id"), groups=tool_groups(request.body)
        )
        self._responses.keep(plain["id"], talk)
        return plain

    @staticmethod
    def _body(request: ModelRequest, reply: Json) -> tuple[list[bytes], dict[str, str]]:
        if not request.stream:
            return [_encoded(reply)], _JSON
        return [event.encode() for event in wire.events(request.api, reply, request.body)], _SSE


class _Met:
    """How often one conversation met each fault of one turn."""

    def __init__(self, counts: dict[tuple[str, int, str, str], int], key: tuple[str, int, str]) -> None:
        self._counts = counts
        self._key = key

    def again(self, fault: str, times: int | None) -> bool:
        """Whether the fault is due once more; counts it where it is."""
        key = (*self._key, fault)
        count = self._counts.get(key, 0)
        if times is not None and count >= times:
            return False
        self._counts[key] = count + 1
        return True


def _reply_id(request: ModelRequest, talk: Conversation, number: int) -> str:
    """The same for the same session, conversation, turn and, where the API keeps conversations, the same request."""
    seed = f"{request.session}/{talk.turn}" + (f"/{number}" if number else "")
    if request.api == "responses":
        asked = [request.body.get("previous_response_id"), request.body.get("input")]
        seed += "/" + json.dumps(asked, sort_keys=True)
    return hashlib.sha256(seed.encode()).hexdigest()[:24]


def _tokens(turn: ScriptedTurn) -> Tokens:
    if turn.usage is None:
        return Tokens()
    used = turn.usage
    cached, written = used.cached_tokens, used.cache_write_tokens
    return Tokens(
        input=used.input_tokens, cached=cached, cache_write=written, cache_write_1h=0, output=used.output_tokens
    )


def _encoded(data: Json) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


async def _one(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _pieces(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def _half(parts: list[bytes]) -> AsyncIterator[bytes]:
    """The first half of the parts and half of the next, then nothing: a lost connection."""
    middle = len(parts) // 2
    for part in parts[:middle]:
        yield part
    yield parts[middle][: len(parts[middle]) // 2]
    raise BrokenStreamError("the script cuts this answer", upstream=False)
