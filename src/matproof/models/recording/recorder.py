"""From `exchanges.jsonl` to a script: conversations, their turns, and what each turn expects.

The record is read line by line, each exchange turned into at most one turn: the requests of a long session repeat all
that went before, and a record may hold gigabytes. A retry takes the place of what it repeats. What can't become a
script (a body that was left out, two conversations that can't be told apart) is an InputError, one clear line; what
is only lost on the way (a block that scripts don't have) is a note.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from matproof.core.errors import InputError
from matproof.core.files import explain, read_json_lines
from matproof.models import wire
from matproof.models.base import Json, Rejection, WireApi
from matproof.models.conversation import Conversation, offered_tools
from matproof.models.exchanges import Exchange
from matproof.models.recording.saying import Saying, saying
from matproof.models.recording.templating import Sources, literal
from matproof.models.responses import KeptResponses
from matproof.models.volatile import expected

_MOST_DEPTH = 60
_REMEDY = "give an exchanges.jsonl as the gateway wrote it"


@dataclass(slots=True)
class _Turn:
    """One turn so far: the answer, or the error that stands for it as long as none came."""

    exchange: int
    said: Json
    calls: list[str] | None
    """Ids of its tool calls; None for an error."""


@dataclass(slots=True)
class _Recorded:
    """One conversation so far."""

    api: WireApi
    tools: bool
    begins: str
    sources: Sources
    turns: list[_Turn] = field(default_factory=list)
    broken: int | None = None
    """Exchange that broke off last, where none took its place."""

    def follows(self, turn: int, body: Json) -> bool:
        """Whether a request at `turn` continues this: it answers the calls of the turn before."""
        if not len(self.turns) - 1 <= turn <= len(self.turns):
            return False
        calls = self.turns[turn - 1].calls if turn else []
        return calls is not None and (not calls or set(calls) <= set(_ids(body)))

    def put(self, turn: int, new: _Turn) -> int | None:
        """`new` becomes `turn`; gives the exchange of another answer whose place it takes, if there was one."""
        if turn == len(self.turns):
            self.turns.append(new)
            return None
        old = self.turns[turn]
        if new.calls is not None or old.calls is None:
            self.turns[turn] = new
        again = old.calls is not None and new.calls is not None and old.said != new.said
        return old.exchange if again else None


@dataclass(frozen=True, slots=True)
class Recording:
    """What came of a record."""

    script: Json
    """The script as plain data."""
    templates: dict[str, int]
    """Kind of value → how many templates stand for one."""
    notes: list[str]
    """What the script does not hold, a line each."""


def record(file: Path, sessions: frozenset[str] = frozenset()) -> Recording:
    """The script of the record `file`, of all its sessions or of those named. Raises InputError."""
    recorder = _Recorder(file, sessions)
    for number, line in enumerate(_lines(file), 1):
        try:
            exchange = Exchange.model_validate(line)
        except ValidationError as error:
            where, problem, _ = explain(error)[0]
            raise InputError(file, f"line {number}", f"{where}: {problem}", _REMEDY) from error
        recorder.take(exchange)
    return recorder.recording()


def _lines(file: Path) -> Iterator[Any]:
    try:
        yield from read_json_lines(file)
    except FileNotFoundError as error:
        raise InputError(file, "", "no such file", "give a run, an attempt or its exchanges.jsonl") from error
    except ValueError as error:
        raise InputError(file, "", "not lines of JSON", _REMEDY) from error


class _Recorder:
    """Takes exchanges in the order in which they ended."""

    def __init__(self, file: Path, sessions: frozenset[str]) -> None:
        self._file = file
        self._wanted = sessions
        self._found: dict[tuple[Any, ...], _Recorded] = {}
        self._by_session: dict[str, list[_Recorded]] = {}
        self._responses = KeptResponses()
        self._notes: list[str] = []

    def take(self, exchange: Exchange) -> None:
        """Take the next exchange. Raises InputError."""
        unwanted = self._wanted and exchange.session not in self._wanted
        if unwanted or exchange.refused or exchange.api == "count_tokens":
            return
        for what, text in (("request", exchange.request), ("reply", exchange.reply)):
            if text.omitted is not None:
                raise self._wrong(exchange, f"its {what} is not in the record: {text.omitted}")
        body = exchange.request.body
        try:
            talk = self._responses.joined(body, wire.conversation(exchange.api, body))
        except (Rejection, AttributeError) as error:
            raise self._wrong(exchange, f"its request is none of the {exchange.api} API") from error
        recorded = self._conversation(exchange, talk)
        if not recorded.follows(talk.turn, body):
            problem = "it continues no conversation of the record, or one of several that begin alike"
            raise self._wrong(exchange, problem, "give conversations of one session different prompts")
        recorded.sources.add(talk.tool_results[recorded.sources.results :])
        turn = self._turn(exchange, talk, recorded)
        if turn is None:
            recorded.broken = exchange.number
            return
        recorded.broken = None
        if (former := recorded.put(talk.turn, turn)) is not None:
            self._note(exchange, f"it was asked the same as exchange {former}; only the later answer is kept")

    def recording(self) -> Recording:
        """The script of all that was taken. Raises InputError where nothing was."""
        conversations: Json = {}
        templates: Counter[str] = Counter()
        for session, found in self._by_session.items():
            self._notes += [
                f"exchange {one.broken}: its answer broke off, and the script ends before it"
                for one in found
                if one.broken is not None
            ]
            whole = [one for one in found if one.turns]
            for one in whole:
                templates += one.sources.used
                told = {"api": one.api, "tools": one.tools, "begins": one.begins}
                turns = [turn.said for turn in one.turns]
                conversations.setdefault(session, []).append({**told, "turns": turns})
        if not conversations:
            wanted = f" of {', '.join(sorted(self._wanted))}" if self._wanted else ""
            raise InputError(self._file, "", f"holds no answered exchange{wanted}", "give the record of a run")
        return Recording({"version": 1, "conversations": conversations}, dict(templates), self._notes)

    def _conversation(self, exchange: Exchange, talk: Conversation) -> _Recorded:
        tools, begins = bool(offered_tools(exchange.request.body)), expected(talk.opening, talk.cwd)
        key = (exchange.session, exchange.session_number, exchange.api, tools, begins)
        if key not in self._found:
            new = _Recorded(exchange.api, tools, begins, Sources(talk.opening, talk.cwd))
            self._found[key] = new
            self._by_session.setdefault(exchange.session, []).append(new)
        return self._found[key]

    def _turn(self, exchange: Exchange, talk: Conversation, recorded: _Recorded) -> _Turn | None:
        """The turn that this exchange makes; None where its answer broke off."""
        if exchange.status >= 400:
            return _Turn(exchange.number, {"error": _error(exchange, recorded.sources)}, None)
        if not exchange.complete:
            return None
        try:
            said = saying(exchange.api, exchange.reply.body)
        except ValueError as error:
            raise self._wrong(exchange, str(error)) from error
        if any(_depth(tool.input) > _MOST_DEPTH for tool in said.tools):
            raise self._wrong(exchange, "the input of a tool that it calls is nested too deeply")
        for kind in said.left_out:
            self._note(exchange, f"a part of type {kind} is left out, because scripts have none")
        if exchange.api == "responses":
            self._responses.keep(str(exchange.reply.body.get("id")), talk)
        new = talk.tool_results[len(talk.tool_results) - talk.fresh :]
        expect = [expected(result, talk.cwd) for result in new] if talk.turn else None
        turn = {"expect": expect, **_said(said, recorded.sources), "usage": _usage(exchange), "stop": said.stop}
        return _Turn(exchange.number, {key: value for key, value in turn.items() if value is not None}, said.calls)

    def _note(self, exchange: Exchange, text: str) -> None:
        self._notes.append(f"exchange {exchange.number}: {text}")

    def _wrong(self, exchange: Exchange, problem: str, remedy: str | None = None) -> InputError:
        other = f"name the other sessions with --session, or record a run without it ({exchange.session})"
        return InputError(self._file, f"exchange {exchange.number}", problem, remedy or other)


def _said(said: Saying, sources: Sources) -> Json:
    """The turn's own words as templates; an empty text where it said nothing at all."""
    thinking = "\n\n".join(said.thinking) if said.thinking else None
    text = "\n".join(said.text) if said.text else None
    if thinking is None and text is None and not said.tools:
        text = ""
    return {
        "thinking": None if thinking is None else sources.templated(thinking),
        "text": None if text is None else sources.templated(text),
        "tools": [{"name": literal(tool.name), "input": sources.templated(tool.input)} for tool in said.tools] or None,
    }


def _usage(exchange: Exchange) -> Json | None:
    """What the gateway metered; None where any of it is unknown."""
    if exchange.input_tokens is None or exchange.output_tokens is None:
        return None
    cached = {"cached_tokens": exchange.cached_tokens, "cache_write_tokens": exchange.cache_write_tokens}
    known = {key: value for key, value in cached.items() if value}
    return {"input_tokens": exchange.input_tokens, **known, "output_tokens": exchange.output_tokens}


def _error(exchange: Exchange, sources: Sources) -> Json:
    """An answer that was an error, and stayed one."""
    reply = exchange.reply.body if isinstance(exchange.reply.body, dict) else {}
    error = reply.get("error")
    told = error if isinstance(error, dict) else {}
    message = str(told.get("message") or exchange.error or "the provider answered with an error")[:2000]
    return {
        "status": exchange.status,
        "type": str(told.get("type") or "api_error")[:100],
        "message": sources.templated(message),
    }


def _ids(value: Any) -> Iterator[str]:
    """Every id of a call in a request."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            for key in ("id", "call_id", "tool_use_id", "tool_call_id"):
                if isinstance(item.get(key), str):
                    yield item[key]
            stack += [inner for inner in item.values() if isinstance(inner, dict | list)]
        elif isinstance(item, list):
            stack += [inner for inner in item if isinstance(inner, dict | list)]


def _depth(value: Any) -> int:
    """How deep plain data is nested, as far as it matters."""
    level, depth = [value], 0
    while level and depth <= _MOST_DEPTH:
        held = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level, depth = [inner for items in held for inner in items], depth + 1
    return depth
