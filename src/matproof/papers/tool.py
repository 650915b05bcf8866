"""What an agent's ParsePDF tool answers: the parsed paper, links already removed, page by page where it is long.

The path comes from a model. It is only compared with names of files in the payload; the one file whose text is served
is the parsed paper, so no path, however written, can reach another.
"""

import posixpath
import re
from pathlib import Path

from matproof.papers.parse import file_marker

AGENT_PAYLOAD = "/work/payload"
"""Where the agent sees its payload."""
AGENT_WORKDIR = "/work/artifacts"
"""Where a relative path of the agent's begins."""
_PAGE = re.compile(r"^<!-- page (\d+)(?:: no text)? -->$", re.MULTILINE)
_PAGES = re.compile(r"\s*(\d{1,5})?\s*(?:(-)\s*(\d{1,5})?)?\s*")


def parse_pdf_tool(path: str, payload: Path, paper: Path, *, pages: str | None = None, limit: int = 60_000) -> str:
    """The text of the paper at `path` as the agent names it, or one sentence saying why there is none.

    `payload` is the host's copy of the agent's payload and `paper` the parsed paper. `pages` is `3`, `3-5` or `3-`;
    an answer holds at most about `limit` characters and says how to ask for the rest. Nothing that an agent writes here
    makes it raise.
    """
    name = _name_in_payload(path)
    if name is None:
        return f"Refused: only PDF files below {AGENT_PAYLOAD} can be parsed, and {path[:200]!r} is not there."
    offered = [*sorted(entry.name for entry in payload.iterdir() if entry.suffix.lower() == ".pdf"), "paper.md"]
    if name not in offered:
        return f"No parsed text of {path[:200]!r}. Parsed: {', '.join(f'{AGENT_PAYLOAD}/{one}' for one in offered)}."
    text = _section(paper.read_text(encoding="utf-8"), name)
    return _chosen(text, pages, limit)


def _name_in_payload(path: str) -> str | None:
    """The file's path below the payload; None for any path that is not below it."""
    if "\0" in path or not path.strip():
        return None
    whole = posixpath.normpath(posixpath.join(AGENT_WORKDIR, path.strip()))
    inside = whole.startswith(f"{AGENT_PAYLOAD}/")
    if not inside and "/" not in path.strip():
        return path.strip()
    return whole[len(AGENT_PAYLOAD) + 1 :] if inside else None


def _section(text: str, name: str) -> str:
    """The part of several papers' text that belongs to `name`; all of it where it isn't divided."""
    start = text.find(f"{file_marker(name)}\n")
    if start < 0:
        return text
    end = text.find("\n<!-- file ", start)
    return text[start : end if end >= 0 else len(text)]


def _chosen(text: str, pages: str | None, limit: int) -> str:
    marks = [(int(mark[1]), mark.start()) for mark in _PAGE.finditer(text)]
    first, last = 1, 10**6
    if pages is not None and pages.strip():
        asked = _PAGES.fullmatch(pages)
        if asked is None:
            return f"Refused: pages must look like 3, 3-5 or 3-, not {pages[:40]!r}."
        if not marks:
            return _cut(text, limit, "This paper has no page numbers; the whole text follows.\n\n")
        first = int(asked[1] or 1)
        last = int(asked[3] or (10**6 if asked[2] else first))
        kept = [start for number, start in marks if first <= number <= last]
        if not kept:
            return f"There is no page {pages.strip()}; the paper has pages {marks[0][0]} to {marks[-1][0]}."
        ends = [start for number, start in marks if start > kept[-1]]
        text = text[kept[0] : ends[0] if ends else len(text)]
    if len(text) <= limit:
        return text
    fitting = [(int(mark[1]), mark.start()) for mark in _PAGE.finditer(text) if 0 < mark.start() <= limit]
    if not fitting:
        return _cut(text, limit, "")
    number, start = fitting[-1]
    upto = "" if last == 10**6 else str(last)
    return f"{text[:start]}[cut here: ask again with pages='{number}-{upto}', or read {AGENT_PAYLOAD}/paper.md]\n"


def _cut(text: str, limit: int, before: str) -> str:
    if len(text) <= limit:
        return before + text
    return f"{before}{text[:limit]}\n[cut here: {len(text) - limit} more characters; read {AGENT_PAYLOAD}/paper.md]\n"
