"""Replaying a recorded script: which of its conversations a request belongs to, and how far the run has drifted.

A conversation is recognised by its API, by whether tools are offered, and by what the user said first, normalised.
Raw requests are never compared: system prompt, tools, dates, ids and ports differ with every version of a client and
in every run. What is compared is what the run itself brought forth: the tool results that are new at each turn.
"""

from dataclasses import dataclass

from matproof.models.base import ModelRequest, Rejection
from matproof.models.conversation import Conversation, offered_tools
from matproof.models.scripts import Script, ScriptedConversation, ScriptedTurn
from matproof.models.volatile import difference, expected

_LONGEST = 500


class DriftError(Rejection):
    """A replayed run does not do what the recorded one did. `drift` says at which turn and in which ways."""

    def __init__(self, session: str, drift: tuple[str, ...]) -> None:
        message = f"replay drift in session {session}: {'; '.join(drift)}"
        super().__init__(400, "invalid_request_error", message, retry=False)
        self.drift = drift


@dataclass(frozen=True, slots=True)
class Found:
    """A recorded conversation that a request was found to continue."""

    number: int
    """Its place among those of its session."""
    turns: list[ScriptedTurn]
    drift: tuple[str, ...]
    """How it begins otherwise; empty where it does not."""


class Replaying:
    """The conversations of one script and who continues which; for as long as a gateway lives.

    Conversations that begin alike are given to the sessions that begin so in the order in which they come. `strict`:
    drift ends the conversation; else it is only reported.
    """

    def __init__(self, script: Script, *, strict: bool) -> None:
        self._script = script
        self._strict = strict
        self._given: dict[tuple[str, str, str, bool, str], int] = {}

    def find(self, request: ModelRequest, talk: Conversation) -> Found | None:
        """The conversation that `request` continues; None where nothing is recorded of its session.

        Raises DriftError where none fits: in strict mode by how it begins, else by API and tools.
        """
        recorded = list(enumerate(self._script.recorded(request.session)))
        if not recorded:
            return None
        tools, begins = bool(offered_tools(request.body)), expected(talk.opening, talk.cwd)
        alike = [(at, one) for at, one in recorded if (one.api, one.tools) == (request.api, tools)]
        fitting = [at for at, one in alike if one.begins == begins]
        if fitting:
            number = self._choose(request, tools, begins, fitting)
            return Found(number, recorded[number][1].turns, ())
        told = f"turn {talk.turn}: {_told(alike[0][1] if alike else None, request, begins, tools)}"
        if self._strict or not alike:
            raise DriftError(request.session, (told,))
        return Found(alike[0][0], alike[0][1].turns, (told,) if talk.turn == 0 else ())

    def compare(self, request: ModelRequest, talk: Conversation, found: Found) -> tuple[str, ...]:
        """What differs from the recording at this turn. Raises DriftError in strict mode, and beyond the last turn."""
        where = f"conversation {found.number}, turn {talk.turn}" if found.number else f"turn {talk.turn}"
        if talk.turn >= len(found.turns):
            raise DriftError(request.session, (f"{where}: only {len(found.turns)} turns are recorded",))
        drift = (*found.drift, *_differences(found.turns[talk.turn].expect, talk, where))
        if drift and self._strict:
            raise DriftError(request.session, drift)
        return drift

    def _choose(self, request: ModelRequest, tools: bool, begins: str, fitting: list[int]) -> int:
        """Of conversations that begin alike, one for each session of the name; the last for all that come later."""
        key = (request.label, request.session, request.api, tools, begins)
        if key not in self._given:
            others = sum(other[1:] == key[1:] for other in self._given)
            self._given[key] = fitting[min(others, len(fitting) - 1)]
        return self._given[key]


def _differences(expect: list[str] | None, talk: Conversation, where: str) -> tuple[str, ...]:
    if expect is None:
        return ()
    results = talk.tool_results[len(talk.tool_results) - talk.fresh :]
    found = [expected(result, talk.cwd) for result in results]
    if len(found) != len(expect):
        return (f"{where}: {len(expect)} new tool results were recorded, {len(found)} came",)
    return tuple(
        f"{where}, tool result {number}: {difference(then, now)}"[:_LONGEST]
        for number, (then, now) in enumerate(zip(expect, found, strict=True))
        if then != now
    )


def _told(nearest: ScriptedConversation | None, request: ModelRequest, begins: str, tools: bool) -> str:
    if nearest is None:
        return f"no recorded conversation speaks the {request.api} API {'with' if tools else 'without'} tools"
    return f"no recorded conversation begins like this; of the nearest, {difference(nearest.begins, begins)}"[:_LONGEST]
