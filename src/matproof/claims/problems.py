"""What is wrong with a package: one line each, whatever a file name or a value holds."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

WHOLE = "(whole file)"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one file, in plain words."""

    path: Path
    field: str
    problem: str
    remedy: str

    def line(self) -> str:
        """`path: field: problem; remedy`, control characters made visible so that it stays one line."""
        return one_line(f"{self.path}: {self.field}: {self.problem}; {self.remedy}")

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {key: one_line(str(value)) for key, value in asdict(self).items()}


def one_line(text: str) -> str:
    """`text` with control characters and undecodable bytes escaped, so that it prints as exactly one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)
