"""Tool calls in a form in which two accounts of them can be compared.

The Claude client reports a call as the model made it. Codex reports what it did: a command with the shell it ran in,
the files that a patch changed. So its reports are looked for in the inputs of the calls that the model made.
"""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from matproof.core.clock import elapsed
from matproof.traces.codex_exec import COMMAND, PATCH
from matproof.traces.events import Event

_ENTERING = re.compile(r"^cd \S+ && ")
_BARE = re.compile(r"\\+[nrt]|[\s'\"\\`]+")
"""What shells, programs and reports write differently: space, quotes, escapes."""
_COMMANDS = frozenset({"exec_command", "shell", "shell_command", "local_shell"})
"""Tools of Codex that run one command."""
_APPLY = "apply_patch"
_PROGRAM = "exec"
"""Tool of Codex that runs a program, which calls tools; some models get no other."""
_MOST_SHELL = 200_000
"""Longest reported command that is split into words: that takes time by the square, and no system runs a longer one."""
LONGEST_S = 30.0
"""For looking for what was reported: a hostile account could make it take hours, which no walltime ends."""
_RAN = ("Wall time", "Exit code", "exit code", "exited with code")
"""One of these stands in the result of a command that Codex did run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call."""

    tool: str
    given: str
    """Its input without what clients change: order of keys, defaults, space, the directory that a command enters."""
    call_id: str | None
    cut: bool
    exchange: int = 0
    must: bool = True
    """Whether a client that tells the whole truth has it."""


def call_of(event: Event, *, exchange: int = 0, must: bool = True) -> Call:
    """A call as an event tells it."""
    return Call(
        tool=event.tool or "",
        given=_normal(event.text),
        call_id=event.call_id,
        cut=event.cut is not None,
        exchange=exchange,
        must=must,
    )


def _normal(text: str) -> str:
    try:
        given = json.loads(text)
        if isinstance(given, dict) and isinstance(given.get("command"), str):
            given["command"] = _ENTERING.sub("", given["command"].strip())
        return json.dumps(_common(given), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return " ".join(text.split())


def _common(value: Any) -> Any:
    """`value` without what a client corrects: space, numbers and truths as text, arguments that say no or nothing."""
    if isinstance(value, dict):
        return {key: _common(each) for key, each in value.items() if each is not None and each is not False}
    if isinstance(value, list):
        return [_common(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value) if isinstance(value, bool) else " ".join(str(value).split())


@dataclass(slots=True)
class Codex:
    """What Codex reports that it did, against what the model asked for."""

    _ran: set[str] = field(default_factory=set)

    def met(self, result: Event) -> None:
        """Remember whether a call ran."""
        if result.call_id is not None and any(word in result.text[:2000] for word in _RAN):
            self._ran.add(result.call_id)

    def without_known(self, reported: list[Call], made: list[Call]) -> tuple[list[Call], list[Call]]:
        """The calls of `reported` that stand in no call of `made`, and those of `made` that were not reported.

        What Codex never reports is not among the latter: other tools than commands, and commands that never ran.
        Raises TimeoutError after `LONGEST_S` seconds.
        """
        until = elapsed() + LONGEST_S
        asked = {_bare(text) for call in made if call.tool in _COMMANDS for text in _strings(call.given)}
        # A model that writes programs which call tools computes its commands: nobody can look for them.
        computed = any(call.tool == _PROGRAM for call in made)
        everything = [text for call in made for text in _strings(call.given)]
        strange: list[Call] = []
        done: set[str] = set()
        patched: set[str] = set()
        for call in reported:
            _check(until)
            script = _script(call.given) if call.tool == COMMAND else ""
            names = _changed(call.given) if call.tool == PATCH else []
            if script in asked or (computed and call.tool in (COMMAND, PATCH)):
                done.add(script)
            elif names and all(_found(name, everything, until) for name in names):
                patched.update(names)
            else:
                strange.append(call)
        return strange, [call for call in made if self._untold(call, done, patched)]

    def _untold(self, call: Call, done: set[str], patched: set[str]) -> bool:
        """Whether Codex should have reported `call` and did not."""
        if call.tool not in _COMMANDS:
            return call.tool.startswith("mcp__")
        # A command `apply_patch` is reported as the change of files that it made.
        if call.call_id not in self._ran or (_APPLY in call.given and any(name in call.given for name in patched)):
            return False
        return not {_bare(text) for text in _strings(call.given)} & done


def _found(name: str, texts: list[str], until: float) -> bool:
    _check(until)
    return any(name in text for text in texts)


def _check(until: float) -> None:
    if elapsed() > until:
        raise TimeoutError(f"comparing it with the record takes longer than {LONGEST_S:g} s")


def _strings(given: str) -> list[str]:
    """Every text in a call's input; the input itself where it is one."""
    try:
        data = json.loads(given)
    except (ValueError, RecursionError):
        return [given]
    found: list[str] = []
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return found


def _script(given: str) -> str:
    """What a reported command runs: `/bin/bash -lc 'ls'` runs `ls`."""
    command = next(iter(_strings(given)), "")
    if len(command) > _MOST_SHELL:
        return _bare(command)
    try:
        words = shlex.split(command)
    except ValueError:
        return _bare(command)
    return _bare(words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else command)


def _bare(text: str) -> str:
    """A command without space and quoting, which shells and reports write differently."""
    return _BARE.sub("", text)


def _changed(given: str) -> list[str]:
    """Names of the files that a reported change touches."""
    data = json.loads(given) if given.startswith("{") else {}
    changes = data.get("changes") if isinstance(data, dict) else None
    entries = [each for each in changes if isinstance(each, dict)] if isinstance(changes, list) else []
    return [PurePosixPath(str(each.get("path"))).name for each in entries]
