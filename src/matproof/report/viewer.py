"""Pages that show a file of a run as text, line by line, so that a citation can lead to its line.

Whatever the file is, it is shown as text: a page or a picture with a program inside becomes its own source. Only a
PNG, JPEG or GIF (by its first bytes) is shown as the picture it is, from within the page. Names of pages are hashes of
the file's path: they stay the same, and a hostile name names nothing.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within, stat_within
from matproof.report.pages import Frame, render
from matproof.tables.words import clean

MOST_BYTES = 300_000
"""Of a text file that its page shows."""
MOST_PICTURE_BYTES = 1_500_000
MOST_FILES = 60
"""Files of a run that have a page."""
MOST_TOGETHER = 3_000_000
"""Bytes of all of them."""
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage:
    """A page of a file."""

    path: str
    """Of the file, below the attempt."""
    name: str
    """Of the page, below the directory of the run's parts."""
    lines: tuple[str, ...]
    """Of the text; none for a picture."""
    picture: str | None
    """A `data:` URL."""
    size: int
    cut: bool
    """Whether the file has more than the page shows."""


@dataclass(slots=True)
class FilePages:
    """The pages of one attempt's files, made as they are asked for, within the limits of a run."""

    attempt: Path
    pages: dict[str, FilePage | None] = field(default_factory=dict)
    bytes_used: int = 0

    def page(self, path: str) -> FilePage | None:
        """The page of the file `path` below the attempt; None where it isn't shown."""
        if path not in self.pages:
            full = len(self.pages) >= 4 * MOST_FILES or len(self.made()) >= MOST_FILES
            self.pages[path] = None if full else self._read(path)
        return self.pages[path]

    def made(self) -> list[FilePage]:
        """Every page so far."""
        return [page for page in self.pages.values() if page is not None]

    def _read(self, path: str) -> FilePage | None:
        status = stat_within(self.attempt, path)
        if status is None or not status.st_size or self.bytes_used >= MOST_TOGETHER:
            return None
        try:
            data = read_within(self.attempt, path, limit=MOST_PICTURE_BYTES + 1)
        except (FileNotFoundError, UnsafePathError, OSError, ValueError):
            return None
        picture = _picture(data)
        if picture is None and b"\0" in data[:8000]:
            return None
        cut = picture is None and status.st_size > MOST_BYTES
        self.bytes_used += len(data if picture else data[:MOST_BYTES])
        text = "" if picture else clean(data[:MOST_BYTES].decode("utf-8", "replace"), MOST_BYTES)
        return FilePage(
            path=path,
            name=f"file-{hashlib.sha256(path.encode(errors='surrogateescape')).hexdigest()[:16]}.html",
            lines=tuple(text.removesuffix("\n").split("\n")) if not picture else (),
            picture=picture,
            size=status.st_size,
            cut=cut,
        )


def _picture(data: bytes) -> str | None:
    kind = next((kind for start, kind in _PICTURES.items() if data.startswith(start)), None)
    if kind is None or len(data) > MOST_PICTURE_BYTES:
        return None
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def file_html(page: FilePage, title: str, run_href: str, frame: Frame) -> str:
    """HTML of a file's page. `run_href` leads back to the run."""
    from markupsafe import Markup, escape

    # Escaped as a whole, then cut into lines: a line can't end inside an element, since there is none.
    lines = str(escape("\n".join(page.lines))).split("\n") if page.lines else []
    numbered = "".join([f'<span id="L{number}">{line}</span>' for number, line in enumerate(lines, 1)])
    return render(
        "file.html",
        frame=frame,
        script="text",
        page=page,
        title=title,
        run_href=run_href,
        lines=Markup(numbered),  # noqa: S704 - escaped above
    )


def line_of(page: FilePage, quote: str) -> int | None:
    """The line where `quote` begins, spaces aside; None where it isn't there."""
    wanted = _squeezed(next((line for line in quote.splitlines() if line.strip()), ""))
    if not wanted:
        return None
    for number, line in enumerate(page.lines, 1):
        if wanted in line or wanted in _squeezed(line):
            return number
    return None


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text[:5000]).strip()
