"""Where a planned command line would work: found by reading it, before anything runs.

Changes of directory, redirections and the targets of commands that write are followed through the line. What a shell
works out only at run time (variables, substitutions, programs' own arguments) can't be read here; the sandbox, in
which everything but the artifact directory is read-only or private, bounds that.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SCRATCH = ("/tmp", "/dev")  # noqa: S108 - the sandbox's own
"""Places outside the artifacts that a command may write to: they end with it."""
_REDIRECTIONS = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_TAKES_A_WORD = _REDIRECTIONS | {"<", "<<<", ">&", "<&"}
_ALL_ARE_TARGETS = frozenset({"mkdir", "touch", "tee", "rm", "rmdir", "truncate"})
_LAST_IS_TARGET = frozenset({"cp", "mv", "ln", "install", "rsync"})
_SHELLS = frozenset({"bash", "sh", "dash", "zsh"})
_BEFORE_A_COMMAND = frozenset({"do", "then", "else", "elif", "if", "while", "until", "{", "!", "time", "exec", "nohup"})
_REPLACED_BY_THE_SHELL = re.compile(r"[$`*?\[~{]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?^\t*\2$", re.DOTALL | re.MULTILINE)

Place = PurePosixPath | None
"""A directory; None once a line went somewhere that only the shell knows."""


@dataclass(slots=True)
class _Simple:
    """One simple command: its words, where its output is sent, and the operator that ends it."""

    words: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    ends_with: str = ";"


def departure(command: str, workdir: str | None, artifacts: str) -> str | None:
    """How `command`, run in `workdir` below `artifacts`, would work outside `artifacts`; None where it would not.

    Without a `workdir` only absolute paths can be told. A line that can't be taken apart is not held against the
    plan: bash may still understand it.
    """
    home = PurePosixPath(artifacts)
    try:
        return next(_departures(command, None if workdir is None else home / workdir, home), None)
    except ValueError:
        return None


def _departures(line: str, place: Place, home: PurePosixPath) -> Iterator[str]:
    outer: list[Place] = []
    for simple in _commands(line):
        for target in simple.written:
            if _is_outside(path := _path(target, place), home, scratch=True):
                yield f"writes to {path}"
        words = _bare(simple.words)
        name = PurePosixPath(words[0]).name if words else ""
        arguments = [word for word in words[1:] if not word.startswith("-")]
        if name in ("cd", "pushd"):
            place = _path(arguments[0], place) if arguments else None
            if _is_outside(place, home):
                yield f"changes to {place}"
        elif name in _SHELLS and "-c" in words and arguments:
            yield from _departures(arguments[0], place, home)
        elif name in _ALL_ARE_TARGETS or name in _LAST_IS_TARGET:
            for target in arguments if name in _ALL_ARE_TARGETS else arguments[-1:]:
                if _is_outside(path := _path(target, place), home, scratch=True):
                    yield f"{name} writes to {path}"
        if simple.ends_with == "(":
            outer.append(place)
        elif simple.ends_with == ")" and outer:
            place = outer.pop()


def _commands(line: str) -> Iterator[_Simple]:
    """The simple commands of `line`, in order. Raises ValueError where quotes don't close."""
    lexer = shlex.shlex(_HERE_DOCUMENT.sub(r"\3", line.replace("\\\n", " ")), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    simple, sent = _Simple(), ""
    for word in lexer:
        if not set(word) <= set("();<>|&\n"):
            if sent in _REDIRECTIONS:
                simple.written.append(word)
            elif sent not in _TAKES_A_WORD:
                simple.words.append(word)
            sent = ""
            continue
        for sign in [word] if set(word) <= set("<>&|") else word:
            sent = sign
            if sign not in _TAKES_A_WORD:
                simple.ends_with = sign
                yield simple
                simple = _Simple()
    yield simple


def _bare(words: list[str]) -> list[str]:
    """The command and its arguments, without keywords, assignments and the number of a redirected stream."""
    start = 0
    while start < len(words) and (words[start] in _BEFORE_A_COMMAND or _ASSIGNMENT.match(words[start])):
        start += 1
    return [word for word in words[start:] if not word.isdecimal()]


def _path(word: str, place: Place) -> Place:
    if place is None and not word.startswith("/"):
        return None
    if _REPLACED_BY_THE_SHELL.search(word):
        return None
    return PurePosixPath(posixpath.normpath(posixpath.join(str(place or "/"), word)))


def _is_outside(path: Place, home: PurePosixPath, *, scratch: bool = False) -> bool:
    if path is None or path.is_relative_to(home):
        return False
    return not (scratch and any(path.is_relative_to(allowed) for allowed in SCRATCH))
