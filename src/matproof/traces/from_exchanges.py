"""Events from the gateway's own record, whichever client spoke and whichever API it used.

Every request repeats the conversation so far, so what is new in it is what its lane has not said yet. A lane is one
thread of a session: the main one, a subagent, a helper call; it is known by its first prompt. Answers count as said
once they came whole; of one that broke off, the error keeps what there was, and what the client took over all the same
is new in its next request. An assistant's words that a request holds and no answer held are the client's own: their
`data` says `from: request`.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from matproof.models.base import Json, WireApi
from matproof.models.conversation import offered_tools, text_of, without_reminders
from matproof.models.exchanges import Exchange
from matproof.traces.blocks import block_event, key_of, said_in_reply, said_in_request
from matproof.traces.events import Event, TokenCounts, as_text

_LIMIT = "matproof limit:"


class _Lane:
    """What one thread has said: for each block's key, how often. A hundred bytes a block."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.told_system = False
        self.lost = False
        """Whether an answer is not in the record, so that nobody can tell what it held."""
        self.broken: set[Any] = set()
        """Keys of what answers held that broke off."""
        self._said: Counter[Any] = Counter()

    def new(self, request: Iterator[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
        """The blocks of a request that were not said before."""
        here: Counter[Any] = Counter()
        for role, block in request:
            key = key_of(role, block)
            here[key] += 1
            if here[key] > self._said[key]:
                self._said[key] = here[key]
                yield role, block

    def say(self, role: str, block: Json) -> None:
        """Remember a block of an answer."""
        self._said[key_of(role, block)] += 1


class ExchangeEvents:
    """Reads `exchanges.jsonl` while it grows."""

    def __init__(self, path: Path, *, agent: str, phase: str | None = None) -> None:
        """`agent` names who speaks; without `phase` the session's name is the phase of its events."""
        self.unknown: Counter[str] = Counter()
        """Blocks that no kind of event fits, by their type; they are events all the same."""
        self._path = path
        self._agent = agent
        self._phase = phase
        self._offset = 0
        self._lanes: dict[tuple[Any, ...], _Lane] = {}
        self._sessions: Counter[str] = Counter()
        self._latest: dict[str, _Lane] = {}
        self._responses: dict[str, _Lane] = {}

    def new(self) -> Iterator[Event]:
        """Events of the lines that were completed since the last call; nothing where there is no file yet."""
        try:
            stream = self._path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            stream.seek(self._offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                try:
                    exchange = Exchange.model_validate(from_json(line))
                except ValueError:
                    # Two lines run together after a crash: the rest of the record is still worth reading.
                    self.unknown["unreadable line"] += 1
                    yield Event(kind="other", text=line.decode(errors="replace"), agent=self._agent)
                    continue
                try:
                    yield from self._events(exchange)
                except Exception as error:
                    # An agent wrote the request: what nobody foresaw in it must not cost the run, or buy it another.
                    self.unknown["exchange that can't be told"] += 1
                    said = f"exchange {exchange.number} can't be told: {type(error).__name__}: {error}"
                    yield Event(kind="other", text=said, agent=self._agent)

    def _events(self, exchange: Exchange) -> Iterator[Event]:
        lane, known = self._lane(exchange), {"exchange": exchange.number}
        common = {"phase": self._phase if self._phase is not None else exchange.session, "agent": lane.agent}
        ended = {**common, "time": _end(exchange), "model": exchange.model or None}
        if exchange.api != "count_tokens":
            if isinstance(exchange.request.body, dict):
                yield from self._asked(lane, exchange.api, exchange.request.body, known, time=exchange.time, **common)
            elif not exchange.refused:
                yield _left_out("request", exchange, known, time=exchange.time, **common)
        whole = exchange.status < 300 and exchange.complete
        reply = exchange.reply.body if isinstance(exchange.reply.body, dict) else None
        if whole and exchange.api != "count_tokens":
            if reply is None:
                lane.lost = True
                yield _left_out("answer", exchange, known, **ended)
            else:
                yield from self._answered(lane, exchange.api, reply, known, **ended)
        if exchange.api != "count_tokens" and (whole or exchange.input_tokens):
            yield _usage(exchange, reply or {}, known, **ended)
        if not whole and reply is not None:
            lane.broken.update(key_of(role, block) for role, block in said_in_reply(exchange.api, reply))
        if not whole or exchange.error is not None:
            yield _failure(exchange, reply, known, **ended)

    def _asked(self, lane: _Lane, api: WireApi, body: Json, known: Json, **common: Any) -> Iterator[Event]:
        for role, block in lane.new(said_in_request(api, body)):
            data = known
            if role == "system" and not lane.told_system:
                lane.told_system = True
                data = {**known, "tools": list(offered_tools(body))}
            elif role == "assistant":
                data = {**known, "from": self._origin(lane, role, block)}
            yield block_event(block, role, self.unknown, data, **common)

    @staticmethod
    def _origin(lane: _Lane, role: str, block: Json) -> str:
        """Where an assistant's block comes from that no whole answer of the lane held."""
        if key_of(role, block) in lane.broken:
            return "an answer that broke off"
        return "an answer that is not in the record" if lane.lost else "request"

    def _answered(self, lane: _Lane, api: WireApi, reply: Json, known: Json, **common: Any) -> Iterator[Event]:
        for role, block in said_in_reply(api, reply):
            lane.say(role, block)
            yield block_event(block, role, self.unknown, known, **common)
        if api == "responses" and isinstance(reply.get("id"), str):
            self._responses[reply["id"]] = lane

    def _lane(self, exchange: Exchange) -> _Lane:
        body = exchange.request.body
        if exchange.api == "count_tokens" or not isinstance(body, dict):
            return self._latest.get(exchange.session) or _Lane(self._agent)
        previous = body.get("previous_response_id")
        lane = self._responses.get(previous) if isinstance(previous, str) else None
        if lane is None:
            key = (exchange.session, exchange.api, bool(offered_tools(body)), hash(_first_prompt(exchange.api, body)))
            lane = self._lanes.get(key)
            if lane is None:
                self._sessions[exchange.session] += 1
                number = self._sessions[exchange.session]
                lane = self._lanes[key] = _Lane(self._agent if number == 1 else f"{self._agent}/{number}")
        self._latest[exchange.session] = lane
        return lane


def _first_prompt(api: WireApi, body: Json) -> str:
    """What the first user message says, the client's reminders removed."""
    given = body.get("input" if api == "responses" else "messages")
    if isinstance(given, str):
        return given
    for message in given if isinstance(given, list) else []:
        if isinstance(message, dict) and message.get("role") == "user":
            return without_reminders(text_of(message.get("content"))).strip()
    return ""


def _usage(exchange: Exchange, reply: Json, known: Json, **common: Any) -> Event:
    counts = TokenCounts(
        input=exchange.input_tokens,
        cached=exchange.cached_tokens,
        cache_write=exchange.cache_write_tokens,
        output=exchange.output_tokens,
    )
    data = {**known, "seconds": round(exchange.seconds, 3), "stop": _stop(reply), "cost_reason": exchange.cost_reason}
    told = {key: value for key, value in data.items() if value is not None}
    tokens = counts if counts != TokenCounts() else None
    return Event(kind="usage", tokens=tokens, cost_usd=exchange.cost_usd, data=told, **common)


def _stop(reply: Json) -> str | None:
    """Why the model stopped, in its API's own word."""
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    for word in (reply.get("stop_reason"), first.get("finish_reason"), reply.get("status")):
        if isinstance(word, str):
            return word[:100]
    return None


def _failure(exchange: Exchange, reply: Json | None, known: Json, **common: Any) -> Event:
    error = (reply or {}).get("error")
    said = error.get("message") if isinstance(error, dict) else None
    text = exchange.error or (as_text(said) if said else f"status {exchange.status}")
    if exchange.status < 300 and not exchange.complete:
        held = [as_text(block) for _, block in said_in_reply(exchange.api, reply or {})]
        text = "\n".join([f"the answer broke off: {text}" if exchange.error else "the answer broke off", *held])
    limit = exchange.refused and text.startswith(_LIMIT)
    data = {**known, "status": exchange.status, **({"refused": True} if exchange.refused else {})}
    return Event(kind="limit" if limit else "error", text=text, data=data, **common)


def _left_out(what: str, exchange: Exchange, known: Json, **common: Any) -> Event:
    part = exchange.request if what == "request" else exchange.reply
    why = part.omitted or "it is not a JSON object"
    data = {**known, "bytes": part.bytes, "sha256": part.sha256}
    return Event(kind="other", text=f"the {what} is not in the record: {why}", data=data, **common)


def _end(exchange: Exchange) -> str:
    ended = datetime.fromisoformat(exchange.time) + timedelta(seconds=exchange.seconds)
    return ended.isoformat(timespec="milliseconds").replace("+00:00", "Z")
