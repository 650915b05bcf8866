"""What a packet shows of the files that an agent left, without what the agent concludes. All of it is hostile.

Withheld are the agent's `analysis_result.json`, copies of it, JSON that says `reproduced`, and prose by its name a
report, summary or verdict: experts are to judge the work, not the words about it. How many were withheld is told, their
names are not, since a name can say it all. Files are opened without following links and to a limit.
"""

import base64
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within
from matproof.records.analysis import ANALYSIS
from matproof.tables.words import clean

MOST_FILES = 300
"""Files that a packet lists."""
TEXT = 12_000
"""Characters of one file's text: its beginning and its end."""
ALL_TEXT = 1_500_000
"""Characters of all files' texts."""
IMAGE, ALL_IMAGES = 1_500_000, 12_000_000
"""Bytes of one picture, and of all."""
_READ = 4_000_000
_MOST_ENTRIES = 10_000
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_PROSE = frozenset({".md", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx", ".tex", ".ipynb", ""})
_CONCLUDES = re.compile(
    r"report|summar|conclusi|verdict|finding|assess|self[-_ ]?(eval|judg)|analysis[-_ ]?result|final|readme|answer",
    re.IGNORECASE,
)

Hide = Callable[[str], str]
"""Replaces names that give the agent away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """A file as a packet shows it."""

    name: str
    size: int
    """Bytes."""
    text: str | None = None
    image: str | None = None
    """A `data:` address of a PNG or JPEG."""
    note: str = ""
    """Why neither is there, or that the text was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The files of a run."""

    files: list[ShownFile]
    withheld: int
    more: bool
    """Whether there are more files than are listed."""


def shown_files(artifacts: Path, hide: Hide) -> Shown:
    """What is below `artifacts`, by name."""
    files: list[ShownFile] = []
    withheld, letters, pixels = 0, ALL_TEXT, ALL_IMAGES
    answer = _read(artifacts, ANALYSIS)
    for name, size in _walk(artifacts):
        if len(files) == MOST_FILES:
            return Shown(files=files, withheld=withheld, more=True)
        data = _read(artifacts, name)
        if _concludes(name, data, answer):
            withheld += 1
            continue
        shown = _shown(hide(clean(name, 300)), size, data, hide, letters, pixels)
        letters -= len(shown.text or "")
        pixels -= len(shown.image or "")
        files.append(shown)
    return Shown(files=files, withheld=withheld, more=False)


def ends_of(text: str, most: int = TEXT) -> str:
    """The beginning and the end of a text that is longer than `most` characters."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[… {len(text) - most} characters …]\n{text[-(most // 2) :]}"


def log_text(attempt: Path, relative: str, hide: Hide) -> str:
    """A log of a step, or a sentence in brackets where there is none to show."""
    data = _read(attempt, relative)
    return (
        "[no log that can be shown]" if data is None else hide(ends_of(clean(data.decode("utf-8", "replace"), _READ)))
    )


def concludes_of_itself(text: str) -> bool:
    """Whether a text is or names the file of the agent's conclusion, or says `reproduced` as its field."""
    return "analysis_result" in text or re.search(r"[\"']?reproduced[\"']?\s*[:=]", text, re.IGNORECASE) is not None


def _concludes(name: str, data: bytes | None, answer: bytes | None) -> bool:
    path = PurePosixPath(name)
    if path.name.startswith("analysis_result") or (data is not None and data and data == answer):
        return True
    if path.suffix.lower() == ".json" and data is not None:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return b'"reproduced"' in data
        return isinstance(found, dict) and "reproduced" in found
    return path.suffix.lower() in _PROSE and _CONCLUDES.search(path.name) is not None


def _shown(name: str, size: int, data: bytes | None, hide: Hide, letters: int, pixels: int) -> ShownFile:
    if data is None:
        return ShownFile(name=name, size=size, note="no plain file that can be read")
    kind = next((kind for head, kind in _SIGNATURES.items() if data.startswith(head)), None)
    if kind is not None:
        if size > min(IMAGE, pixels):
            return ShownFile(name=name, size=size, note="a picture too large to be shown")
        return ShownFile(name=name, size=size, image=f"data:{kind};base64,{base64.b64encode(data).decode()}")
    if b"\0" in data[:8000]:
        return ShownFile(name=name, size=size, note="not text")
    text = hide(ends_of(clean(data.decode("utf-8", "replace"), _READ)))
    if len(text) > letters:
        return ShownFile(name=name, size=size, note="not shown: the page would be too long")
    note = "" if size <= _READ else f"read to {_READ // 1_000_000} MB"
    return ShownFile(name=name, size=size, text=text, note=note)


def _read(root: Path, relative: str) -> bytes | None:
    try:
        return read_within(root, relative, limit=_READ)
    except (FileNotFoundError, UnsafePathError, OSError, ValueError):
        return None


def _walk(root: Path) -> Iterator[tuple[str, int]]:
    """(path below `root`, bytes) of everything that is no directory, by name, links not followed."""
    stack = [""] if root.is_dir() and not root.is_symlink() else []
    seen = 0
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        below = []
        for entry in entries:
            seen += 1
            if seen > _MOST_ENTRIES:
                return
            name = f"{folder}/{entry.name}" if folder else entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                below.append(name)
            else:
                yield name, status.st_size
        stack += reversed(below)
