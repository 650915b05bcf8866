"""What an agent's ParsePDF tool answers: the parsed paper, links already removed, page by page where it is long.

The path comes from a model. It is made plain without looking at any file; whatever is then not below the payload or the
artifacts is refused. The parsed paper is served from its file; every other PDF is handed to `other`, which opens it
without following links and reads it in a sandbox.
"""

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matproof.papers.markers import PAGE, file_marker, file_names

NAME = "ParsePDF"
DESCRIPTION = (
    "The text of the claim's paper, or of another PDF, as Markdown. `path` as you see it: the paper is "
    "/work/payload/paper.md; other PDFs lie below /work/payload or /work/artifacts. `pages` such as 3, 3-5 or 3- gives "
    "a part of it. Powers of ten are written 10^-4; `10-4 [exponent?]` marks one that may be a range."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "PDF below /work/payload or /work/artifacts, or paper.md"},
        "pages": {"type": "string", "description": "3, 3-5 or 3-; the whole file if not given"},
    },
    "required": ["path"],
}
"""JSON Schema of the tool's input."""
AGENT_PAYLOAD = "/work/payload"
"""Where the agent sees its payload."""
AGENT_WORKDIR = "/work/artifacts"
"""Where a relative path of the agent's begins."""
PAPER = "paper.md"
"""Name of the parsed paper in the payload."""
_ORIGINAL = "paper.pdf"
"""What a model calls the paper where it has not looked; the original is never in the payload."""
MOST_CHARACTERS = 60_000
"""Longest answer, about."""
_PAGES = re.compile(r"\s*(\d{1,5})?\s*(?:(-)\s*(\d{1,5})?)?\s*")


class NotParsedError(Exception):
    """A PDF gave no text; the message is the sentence that the agent gets."""


def parse_pdf_tool(
    path: str,
    payload: Path,
    paper: Path,
    *,
    pages: str | None = None,
    limit: int = MOST_CHARACTERS,
    other: Callable[[str], str] | None = None,
) -> str:
    """The text of the PDF at `path` as the agent names it, or one sentence saying why there is none.

    `payload` is the agent's payload and `paper` the parsed paper, both as this process sees them. `pages` is `3`, `3-5`
    or `3-`; an answer holds at most about `limit` characters and says how to ask for the rest. `other` gets the path,
    as the agent sees it, of a PDF that is not the paper, and returns its Markdown or raises NotParsedError; without it
    only the paper is served. Nothing that an agent writes here makes this raise.
    """
    inside = _plain_path(path)
    if inside is None:
        where = f"{AGENT_PAYLOAD} or {AGENT_WORKDIR}" if other is not None else AGENT_PAYLOAD
        return f"Refused: only PDF files below {where} can be parsed, and {path[:200]!r} is not there."
    text = paper.read_text(encoding="utf-8")
    parsed = {*(entry.name for entry in payload.iterdir() if entry.suffix.lower() == ".pdf"), *file_names(text), PAPER}
    bare = path.strip() if "/" not in path.strip() else inside.removeprefix(f"{AGENT_PAYLOAD}/")
    if bare == _ORIGINAL and bare not in parsed:
        bare = PAPER
    if bare in parsed:
        return _chosen(_section(text, bare), pages, limit, f"{AGENT_PAYLOAD}/{PAPER}")
    if other is None or not inside.lower().endswith(".pdf"):
        offered = ", ".join(f"{AGENT_PAYLOAD}/{one}" for one in sorted(parsed))
        return f"No parsed text of {path[:200]!r}. Parsed: {offered}."
    try:
        return _chosen(other(inside), pages, limit, None)
    except NotParsedError as error:
        return str(error)


def _plain_path(path: str) -> str | None:
    """The path inside, without dots; None where it is below neither the payload nor the artifacts."""
    if "\0" in path or not path.strip():
        return None
    whole = posixpath.normpath(posixpath.join(AGENT_WORKDIR, path.strip()))
    return whole if whole.startswith((f"{AGENT_PAYLOAD}/", f"{AGENT_WORKDIR}/")) else None


def _section(text: str, name: str) -> str:
    """The part of several papers' text that belongs to `name`; all of it where it isn't divided."""
    start = text.find(f"{file_marker(name)}\n")
    if start < 0:
        return text
    end = text.find("\n<!-- file ", start)
    return text[start : end if end >= 0 else len(text)]


def _chosen(text: str, pages: str | None, limit: int, whole: str | None) -> str:
    """The pages asked for, as far as `limit`; `whole` is a file in which all of it can be read."""
    marks = [(int(mark[1]), mark.start()) for mark in PAGE.finditer(text)]
    first, last = 1, 10**6
    if pages is not None and pages.strip():
        asked = _PAGES.fullmatch(pages)
        if asked is None:
            return f"Refused: pages must look like 3, 3-5 or 3-, not {pages[:40]!r}."
        if not marks:
            return _cut(text, limit, "This paper has no page numbers; the whole text follows.\n\n", whole)
        first = int(asked[1] or 1)
        last = int(asked[3] or (10**6 if asked[2] else first))
        kept = [start for number, start in marks if first <= number <= last]
        if not kept:
            return f"There is no page {pages.strip()}; the paper has pages {marks[0][0]} to {marks[-1][0]}."
        ends = [start for number, start in marks if start > kept[-1]]
        text = text[kept[0] : ends[0] if ends else len(text)]
    if len(text) <= limit:
        return text
    fitting = [(int(mark[1]), mark.start()) for mark in PAGE.finditer(text) if 0 < mark.start() <= limit]
    if not fitting:
        return _cut(text, limit, "", whole)
    number, start = fitting[-1]
    upto = "" if last == 10**6 else str(last)
    or_read = f", or read {whole}" if whole else ""
    return f"{text[:start]}[cut here: ask again with pages='{number}-{upto}'{or_read}]\n"


def _cut(text: str, limit: int, before: str, whole: str | None) -> str:
    if len(text) <= limit:
        return before + text
    read = f"; read {whole}" if whole else ""
    return f"{before}{text[:limit]}\n[cut here: {len(text) - limit} more characters{read}]\n"
