"""Where a client's own account and the gateway's record differ.

The record is the reference: nothing inside the sandbox can write it. Compared are the tool calls by name and input,
what the assistant said, and the tokens of whole sessions. Not a difference: ids, space, reminders, the order of keys,
arguments that a client corrects or adds, bodies that a trace cut, the last answer (the client may have been stopped
before it told of it), words that the client puts in the assistant's mouth when its provider fails, and subagents and
helper calls that it keeps to itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from matproof.models.conversation import total, without_reminders
from matproof.traces.called import Call, Codex, call_of
from matproof.traces.codex_exec import AGENT as CODEX
from matproof.traces.events import Event, TokenCounts, as_text

MOST = 20
"""Sentences, the last of which may count the rest."""
_SHOWN = 120
_SYNTHETIC = "<synthetic>"
_CLIENTS_WORDS = ("API Error", "(no content)", "No response requested", "[Request interrupted")
_STARTS = frozenset({"system init", "thread.started"})


@dataclass(slots=True)
class _Seen:
    """What the gateway saw."""

    calls: dict[str, list[Call]] = field(default_factory=dict)
    """Id → its calls: one, unless a script answers two threads with the same words."""
    texts: dict[int, tuple[str, int, bool]] = field(default_factory=dict)
    """Hash of a text → its beginning, its exchange, and whether the client must tell of it."""
    joined: dict[int, str] = field(default_factory=dict)
    """Exchange → all that its answer said: clients join and split blocks."""
    last: dict[str, int] = field(default_factory=dict)
    """Lane → its last exchange."""
    claimed: list[str] = field(default_factory=list)
    tokens: list[TokenCounts | None] = field(default_factory=list)
    broken: bool = False
    """Whether an answer broke off: the sides count what it used differently."""
    codex: Codex = field(default_factory=Codex)


@dataclass(slots=True)
class _Told:
    """What the client tells."""

    calls: list[Call] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    totals: dict[str, TokenCounts | None] = field(default_factory=dict)
    """Session → its tokens so far, told again after each turn."""
    codex: bool = False
    begun: int = 0
    ended: int = 0


def disagreements(client: Iterable[Event], gateway: Iterable[Event]) -> list[str]:
    """What the client's account says that the gateway's record does not, and the other way round, a sentence each.

    Both are events of one run: the client's from its own output, the gateway's from `ExchangeEvents`. Holds the inputs
    of all calls and a hash of each text.
    """
    seen, told = _seen(gateway), _told(client)
    found = [f"the client's requests hold words of the assistant that no answer held: {text}" for text in seen.claimed]
    found += [*_calls(told, seen), *_texts(told, seen), *_tokens(told, seen)]
    return found if len(found) <= MOST else [*found[: MOST - 1], f"and {len(found) - MOST + 1} more of the kind"]


def _seen(events: Iterable[Event]) -> _Seen:
    seen = _Seen()
    for event in events:
        data = event.data or {}
        exchange, lane = int(data.get("exchange", 0)), event.agent or ""
        seen.last[lane] = exchange
        origin = data.get("from")
        spoken = event.kind == "message" and data.get("role") == "assistant"
        if origin == "request" and (spoken or event.kind == "tool_call"):
            if not event.text.startswith(_CLIENTS_WORDS) and not _answered(event, seen):
                seen.claimed.append(f"{event.tool} {_quoted(event.text)}" if event.tool else _quoted(event.text))
        elif spoken:
            must = "/" not in lane and origin is None
            seen.texts[_key(event.text)] = (_quoted(event.text), exchange, must)
            seen.joined[exchange] = seen.joined.get(exchange, "") + event.text
        elif event.kind == "tool_call" and event.call_id is not None:
            must = "/" not in lane and origin is None
            seen.calls.setdefault(event.call_id, []).append(call_of(event, exchange=exchange, must=must))
        elif event.kind == "tool_result":
            seen.codex.met(event)
        elif event.kind == "usage":
            seen.tokens.append(event.tokens)
        elif event.kind == "error" and int(data.get("status", 0)) < 300:
            seen.broken = True
    return seen


def _answered(event: Event, seen: _Seen) -> bool:
    """Whether an answer of another lane held it: where Codex has its history summed up, it offers no tools."""
    if event.kind == "tool_call":
        return any(call.given == call_of(event).given for call in seen.calls.get(event.call_id or "", ()))
    return _key(event.text) in seen.texts


def _told(events: Iterable[Event]) -> _Told:
    told = _Told()
    for event in events:
        data = event.data or {}
        told.codex = told.codex or event.agent == CODEX
        if event.kind == "message" and data.get("role") == "assistant" and event.model != _SYNTHETIC:
            if not event.cut and not event.text.startswith(_CLIENTS_WORDS):
                told.texts[_key(event.text)] = _quoted(event.text)
        elif event.kind == "tool_call":
            told.calls.append(call_of(event))
        elif event.kind == "usage" and data.get("scope") == "session":
            told.totals[as_text(data.get("session_id"))] = event.tokens
            told.ended += 1
        elif event.kind == "other" and event.text in _STARTS:
            told.begun += 1
    return told


def _calls(told: _Told, seen: _Seen) -> Iterator[str]:
    waiting = {call_id: list(calls) for call_id, calls in seen.calls.items()}
    strange: list[Call] = []
    for call in told.calls:
        made = _taken(waiting.get(call.call_id or "", []), call)
        if made is None:
            strange.append(call)
        elif made.tool != call.tool:
            yield f"the client reports as {call.tool} a call that the model made of {made.tool}: {_quoted(made.given)}"
        elif made.given != call.given and not (made.cut or call.cut):
            yield (
                f"the client reports other arguments of a call of {call.tool}: {_quoted(call.given)}; "
                f"the model gave {_quoted(made.given)}"
            )
    left = [call for calls in waiting.values() for call in calls]
    if told.codex:
        strange, left = seen.codex.without_known(strange, left)
    same = Counter((call.tool, call.given) for call in left)
    for call in strange:
        if same[call.tool, call.given] > 0:
            same[call.tool, call.given] -= 1
        else:
            yield f"the client reports a call of {call.tool} that no answer held: {_quoted(call.given)}"
    for made in left:
        if same[made.tool, made.given] > 0 and made.must and made.exchange < _last(seen):
            same[made.tool, made.given] -= 1
            yield f"the client does not report a call of {made.tool} that the model made: {_quoted(made.given)}"


def _taken(calls: list[Call], like: Call) -> Call | None:
    """The one of `calls` that is most `like`, taken out."""
    if not calls:
        return None
    same = (place for place, call in enumerate(calls) if (call.tool, call.given) == (like.tool, like.given))
    return calls.pop(next(same, 0))


def _texts(told: _Told, seen: _Seen) -> Iterator[str]:
    joined = {_key(text): exchange for exchange, text in seen.joined.items()}
    whole = {joined[key] for key in told.texts if key in joined}
    for key, quoted in told.texts.items():
        if key not in seen.texts and key not in joined:
            yield f"the client reports words of the assistant that no answer held: {quoted}"
    for key, (quoted, exchange, must) in seen.texts.items():
        if must and key not in told.texts and exchange not in whole and exchange < _last(seen):
            yield f"the client does not report what the assistant said: {quoted}"


def _last(seen: _Seen) -> int:
    """The last exchange of the main thread."""
    return max((exchange for lane, exchange in seen.last.items() if "/" not in lane), default=0)


def _tokens(told: _Told, seen: _Seen) -> Iterator[str]:
    """Only for sessions that all told their totals."""
    if told.begun > told.ended or not told.ended or seen.broken:
        return
    ours, theirs = _sum(seen.tokens), _sum(list(told.totals.values()))
    if None in (*ours, *theirs) or ours == theirs:
        return
    yield (
        f"the client reports {theirs[0]:,} tokens read and {theirs[1]:,} written, "
        f"the gateway counted {ours[0]:,} and {ours[1]:,}"
    )


def _sum(counts: list[TokenCounts | None]) -> tuple[int | None, int | None]:
    known = [each or TokenCounts() for each in counts]
    return total(*(each.input for each in known)), total(*(each.output for each in known))


def _key(text: str) -> int:
    return hash("".join(without_reminders(text).split()))


def _quoted(text: str) -> str:
    shown = " ".join(text[: 4 * _SHOWN].split())
    return f"“{shown[:_SHOWN]}…”" if len(shown) > _SHOWN or len(text) > 4 * _SHOWN else f"“{shown}”"
