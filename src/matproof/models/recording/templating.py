"""What a model said, as templates: everything literal, but for volatile values that it had read before.

What a model or a tool wrote is data. Braces of theirs are written so that jinja2 gives them back as they are, and an
object that looks like an expression becomes an expression that gives that object.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from matproof.models.templates import EXPRESSION
from matproof.models.volatile import SOURCES, finds, readable

_SHORTEST = 4
"""Values with fewer characters are not looked for: `1` may be anything."""
_MARKUP = re.compile(r"\{(?=[{%#\r]|\Z)|\r")
_NUMBERS = {"id", "epoch", "port"}
"""Kinds that a model also writes as a number."""


class Sources:
    """The volatile values that one conversation has shown to its model so far, and how a template gets at each."""

    def __init__(self, opening: str, cwd: str | None) -> None:
        self._cwd = cwd if cwd and cwd != "/" else None
        self._known: dict[str, tuple[str, str]] = {}
        self.results = 0
        """Tool results taken so far."""
        self.used: Counter[str] = Counter()
        """Kind → how many templates were written."""
        self._read("opening", opening)

    def add(self, results: tuple[str, ...]) -> None:
        """Take the tool results that come next."""
        for text in results:
            self._read(f"tool_results[{self.results}]", text)
            self.results += 1

    def templated(self, value: Any) -> Any:
        """`value`, plain data that the model wrote, with every string as a template that gives it."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            kind, expression = self._known.get(str(value), ("", ""))
            return {EXPRESSION: f"{self._use(kind, expression)} | int"} if kind in _NUMBERS else value
        if isinstance(value, dict) and set(value) == {EXPRESSION} and isinstance(value[EXPRESSION], str):
            return {EXPRESSION: f"{{{_quoted(EXPRESSION)}: {_quoted(value[EXPRESSION])}}}"}
        if isinstance(value, dict):
            return {key: self.templated(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.templated(inner) for inner in value]
        return value

    def _read(self, name: str, text: str) -> None:
        """Values of a later text come before those of an earlier one, and the first of equal ones before the others."""
        text, counts = readable(text), Counter[str]()
        new: dict[str, tuple[str, str]] = {}
        for find in finds(text, self._cwd):
            if find.kind in SOURCES:
                value = text[find.start : find.end]
                expression = f"{name} | volatile('{find.kind}', {counts[find.kind]})"
                counts[find.kind] += 1
                if len(value) >= _SHORTEST:
                    new.setdefault(value, (find.kind, expression))
        self._known |= new

    def _text(self, text: str) -> str:
        parts, at = [], 0
        for start, end, kind, expression in self._occurrences(text):
            parts += [literal(text[at:start]), f"{{{{ {self._use(kind, expression)} }}}}"]
            at = end
        return "".join([*parts, literal(text[at:])])

    def _occurrences(self, text: str) -> Iterator[tuple[int, int, str, str]]:
        known = {value: place for value, place in self._known.items() if value in text}
        if self._cwd is not None and self._cwd in text:
            known[self._cwd] = ("cwd", "cwd")
        if not known:
            return
        values = "|".join(re.escape(value) for value in sorted(known, key=len, reverse=True))
        for found in re.finditer(rf"(?<!\w)(?:{values})(?!\w)", text):
            yield found.start(), found.end(), *known[found.group()]

    def _use(self, kind: str, expression: str) -> str:
        if kind:
            self.used[kind] += 1
        return expression


def literal(text: str) -> str:
    """`text` so that a template gives it back as it is: jinja2 would also make one newline of each kind of them."""
    return _MARKUP.sub(lambda found: "{{ '{' }}" if found.group() == "{" else "{{ '\\r' }}", text)


def _quoted(text: str) -> str:
    """A literal of jinja2's expressions."""
    return json.dumps(text, ensure_ascii=False)
