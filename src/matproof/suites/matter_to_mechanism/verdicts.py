"""Verdicts of a model that compares two texts, read strictly: what can't be read is no verdict."""

import re
from dataclasses import dataclass
from typing import Literal

MAX_REASON_CHARS = 4000

_VERDICT = re.compile(
    r"^[ \t>*_#`-]{0,8}verdict[*_`]{0,3}[ \t]*:[ \t*_`\"'\[(]{0,6}(a|b|tie)\b[ \t*_`\"'\])}.!]{0,8}$", re.I | re.M
)
_PART = re.compile(r"^[ \t>*_#]{0,8}\[[ \t]*(critique[_ ]?1|critique[_ ]?2|winner)[ \t]*\][*_:]{0,3}", re.I | re.M)
_WINNER = re.compile(r"[\s*_`\"'(]{0,8}(?:hypothesis[ \t]*)?([12])\b", re.I)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge decided: one of the two as it saw them, or a tie, and why."""

    choice: Literal["A", "B", "TIE"]
    reason: str


@dataclass(frozen=True, slots=True)
class Match:
    """One comparison of a tournament; `winner` is 1, 2 or None where none can be read."""

    winner: int | None
    critiques: tuple[str, str]


def parse_verdict(reply: str) -> Verdict | str:
    """The verdict in `reply`, or why there is none. Several that differ are none."""
    found = list(_VERDICT.finditer(reply))
    choices = {match[1].upper() for match in found}
    if not choices:
        return "no line with VERDICT: A, B or TIE"
    if len(choices) > 1:
        return f"verdicts that differ: {', '.join(sorted(choices))}"
    choice = choices.pop()
    reason = (reply[: found[0].start()] + reply[found[-1].end() :]).strip(" \t\n*_`\"')]")[:MAX_REASON_CHARS]
    return Verdict("A" if choice == "A" else "B" if choice == "B" else "TIE", reason)


def parse_match(reply: str) -> Match:
    """Winner and critiques of a tournament's comparison, each as far as it can be read."""
    marks = list(_PART.finditer(reply))
    ends = [*(mark.start() for mark in marks[1:]), len(reply)]
    parts = {mark[1].lower()[-1]: reply[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)}
    named = _WINNER.match(parts.get("r", ""))
    critiques = (parts.get("1", "")[:MAX_REASON_CHARS], parts.get("2", "")[:MAX_REASON_CHARS])
    return Match(int(named[1]) if named is not None else None, critiques)
