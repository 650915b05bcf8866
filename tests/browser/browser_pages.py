"""What the tests of pages share: a page that remembers what it did, and a trace."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matproof.core.files import append_json

START = "2026-01-31T12:00:00.000Z"


@dataclass
class Watched:
    """A page, and what it did that it should not."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path, place: str = "") -> Any:
        """Go to a file of the site."""
        self.page.goto(f"file://{path}{place}")
        return self.page


def events(attempt: Any, *texts: str) -> None:
    """A trace with one tool call and its result for each text."""
    for number, text in enumerate(texts):
        shared = {"schema_version": 1, "time": START, "phase": "plan", "call_id": f"c{number}"}
        append_json(attempt.trace, shared | {"kind": "tool_call", "tool": "Bash", "data": {"command": text}})
        append_json(attempt.trace, shared | {"kind": "tool_result", "text": f"{text} done"})
