"""What an agent left, read for a page. All of it is hostile.

Files are opened without following links, at most so many bytes and entries of them, and whatever has the wrong shape
becomes a sentence saying so. A file is linked to only where a browser shows it as text or as a picture that can't
run anything: a page that an agent wrote must not open with one click from a page that people trust.
"""

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within
from matproof.records.analysis import AnalysisResult
from matproof.tables.words import clean

LINKED = frozenset(
    {".txt", ".log", ".out", ".err", ".json", ".csv", ".dat", ".md", ".yaml", ".yml", ".py", ".png", ".jpg"}
)
"""Endings of files that are linked to."""
MOST_FILES = 300
"""Artifacts that a page lists."""
MOST_UNREAD = 50
"""Unreadable directories that a page names."""
TAIL = 6_000
"""Characters of a log that a page shows."""
_MOST_BYTES = 25_000_000
_MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """A step as the plan says it."""

    id: str
    purpose: str
    proves: str
    command: str
    depends_on: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision and its reason."""

    by: str
    step: str
    decision: str
    explanation: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestration:
    """What `orchestration.json` says; `problem` where it could not be read."""

    approach: str = ""
    steps: tuple[PlannedStep, ...] = ()
    decisions: tuple[Decision, ...] = ()
    setup_summary: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftFile:
    """A file among the artifacts."""

    name: str
    """Path below the artifacts, fit to be shown."""
    size: int | None
    """Bytes; None where it isn't a plain file."""
    kind: str
    """`file`, `link` or `special`."""
    path: str | None
    """Path below the attempt as it is; None where it can't be opened by name."""
    href: str | None
    """Path below the attempt, quoted for a URL; None where it is not linked to."""


@dataclass(slots=True)
class Listing:
    """Artifacts of an attempt, at most `MOST_FILES`."""

    files: list[LeftFile] = field(default_factory=list)
    cut: bool = False
    unread: list[str] = field(default_factory=list)
    """Directories that can't be listed, each with why, at most `MOST_UNREAD`."""


def orchestration(attempt: Path) -> Orchestration | None:
    """The plan and decisions of an attempt; None where there is no such file."""
    try:
        data = json.loads(read_within(attempt, "orchestration.json", limit=_MOST_BYTES))
    except FileNotFoundError:
        return None
    except (UnsafePathError, OSError, ValueError, RecursionError) as error:
        return Orchestration(problem=f"orchestration.json can't be read: {clean(str(error), 200)}")
    data = _mapping(data)
    plan = _mapping(data.get("plan"))
    return Orchestration(
        approach=_text(plan, "approach"),
        steps=tuple(_planned(step) for step in _mappings(plan.get("steps"), 200)),
        decisions=tuple(_decision(item) for item in _mappings(data.get("decisions"), 500)),
        setup_summary=_text(data, "setup_summary"),
    )


def findings(artifacts: Path) -> AnalysisResult | str | None:
    """`analysis_result.json`, or what is wrong with it, or None where there is none."""
    try:
        return AnalysisResult.model_validate_json(read_within(artifacts, "analysis_result.json", limit=_MOST_BYTES))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        return f"analysis_result.json has the wrong shape: {clean(str(error).splitlines()[0], 200)}"
    except (UnsafePathError, OSError, ValueError, RecursionError) as error:
        return f"analysis_result.json can't be read: {clean(str(error), 200)}"


def log_tail(attempt: Path, relative: str) -> str:
    """The last lines of a log, or a sentence in brackets where there are none to show."""
    try:
        data = read_within(attempt, relative, limit=_MOST_BYTES)
    except FileNotFoundError:
        return "[no such log]"
    except (UnsafePathError, OSError, ValueError) as error:
        return f"[not shown: {clean(str(error), 200)}]"
    text = clean(data[-4 * TAIL :].decode("utf-8", "replace"), 4 * TAIL)
    cut = len(data) > 4 * TAIL or len(text) > TAIL
    return f"[…] {text[-TAIL:]}" if cut else text


def read_claim_text(*places: tuple[Path, str]) -> str | None:
    """The claim, from the first of `places` (root, relative path) that has it."""
    for root, relative in places:
        try:
            return clean(read_within(root, relative, limit=200_000).decode("utf-8", "replace")).strip()
        except (FileNotFoundError, UnsafePathError, OSError, ValueError):
            continue
    return None


def listing(attempt: Path) -> Listing:
    """The artifacts of an attempt by name, links not followed."""
    found, artifacts = Listing(), attempt / "artifacts"
    for path, status in _walk(artifacts):
        if len(found.files) == MOST_FILES or len(found.unread) == MOST_UNREAD:
            found.cut = True
            break
        if isinstance(status, OSError):
            name = "artifacts" if path == artifacts else clean(_below(artifacts, path), 300)
            found.unread.append(f"{status.strerror}: {name}")
            continue
        below = _below(attempt, path)
        plain, link = stat.S_ISREG(status.st_mode), stat.S_ISLNK(status.st_mode)
        found.files.append(
            LeftFile(
                name=clean(_below(artifacts, path), 300),
                size=status.st_size if plain else None,
                kind="file" if plain else "link" if link else "special",
                path=below if plain else None,
                href=quoted(below) if plain and path.suffix.lower() in LINKED else None,
            )
        )
    return found


def _below(root: Path, path: Path) -> str:
    """`path` without `root`, which it was made from; os.path.relpath would ask where we are, for each file."""
    return os.fspath(path).removeprefix(f"{root}/")


def cited_file(attempt: Path, cited: str) -> str | None:
    """The path below the attempt of a file that a judge cites; None where it is not a plain file there."""
    parts = Path(cited).parts
    if not parts or Path(cited).is_absolute() or ".." in parts or "\0" in cited:
        return None
    for prefix in ((), ("artifacts",)):
        here = attempt
        for part in (*prefix, *parts):
            here /= part
            try:
                mode = here.lstat().st_mode
            except (OSError, ValueError):
                break
            if stat.S_ISLNK(mode):
                break
        else:
            if stat.S_ISREG(mode):
                return os.path.relpath(here, attempt)
    return None


def _walk(directory: Path) -> Iterator[tuple[Path, os.stat_result | OSError]]:
    """Everything below `directory` that is no directory, by name, depth first, links not followed.

    A directory that can't be listed comes with its error.
    """
    stack = [directory] if directory.is_dir() and not directory.is_symlink() else []
    for _ in range(_MOST_ENTRIES):
        if not stack:
            return
        here = stack.pop()
        try:
            entries = sorted(islice(os.scandir(here), _MOST_ENTRIES), key=lambda entry: entry.name)
        except OSError as error:
            yield here, error
            continue
        below = []
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield Path(entry.path), error
                continue
            if stat.S_ISDIR(status.st_mode):
                below.append(Path(entry.path))
            else:
                yield Path(entry.path), status
        stack += reversed(below)


def quoted(relative: str) -> str:
    """A path as a part of a URL."""
    return quote(os.fsencode(relative))


def _planned(step: dict[str, Any]) -> PlannedStep:
    return PlannedStep(
        id=_text(step, "id"),
        purpose=_text(step, "purpose"),
        proves=_text(step, "proves"),
        command=_text(step, "command"),
        depends_on=_texts(step.get("depends_on")),
        outputs=_texts(step.get("outputs")),
    )


def _decision(item: dict[str, Any]) -> Decision:
    return Decision(
        by=_text(item, "by"),
        step=_text(item, "step"),
        decision=_text(item, "decision"),
        explanation=_text(item, "explanation") or _text(item, "reason"),
        command=_text(item, "command"),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any, most: int) -> list[dict[str, Any]]:
    return [item for item in value[:most] if isinstance(item, dict)] if isinstance(value, list) else []


def _text(mapping: dict[str, Any], key: str) -> str:
    value = mapping.get(key)
    return clean(value, 5_000) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(clean(item, 300) for item in value[:50] if isinstance(item, str)) if isinstance(value, list) else ()
