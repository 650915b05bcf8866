"""Patterns of people, looked for in text of agents: `*` stands for any characters of one line, all else for itself.

Not regular expressions, on purpose: the parts between the stars are found one after the other, so that no pattern and
no text takes longer than reading the text once.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath


def fits(line: str, pattern: str) -> bool:
    """Whether `pattern` stands anywhere in `line`."""
    start = 0
    for part in pattern.split("*"):
        found = line.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return True


def first_line(text: str, patterns: Sequence[str]) -> tuple[int, str] | None:
    """Number (from 1) and text of the first line in which one of `patterns` stands."""
    wanted = [pattern for pattern in patterns if max(pattern.split("*"), key=len) in text]
    if not wanted:
        return None
    for number, line in enumerate(text.splitlines(), 1):
        if any(fits(line, pattern) for pattern in wanted):
            return number, line
    return None


def is_named(path: str, pattern: str) -> bool:
    """Whether the whole of `path` is of the form `pattern`: `*` within a part, a part `**` for any number of parts."""
    return _parts_fit(PurePosixPath(path).parts, PurePosixPath(pattern).parts)


def _parts_fit(path: Sequence[str], pattern: Sequence[str]) -> bool:
    # reached[i]: the patterns so far fit the first i parts.
    reached = [True] + [False] * len(path)
    for part in pattern:
        if part == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [index >= first for index in range(len(reached))]
        else:
            reached = [False] + [reached[index] and _part_fits(name, part) for index, name in enumerate(path)]
    return reached[-1]


def _part_fits(name: str, pattern: str) -> bool:
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    *middle, last = rest
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    return fits(name[len(first) : len(name) - len(last)], "*".join(middle))
