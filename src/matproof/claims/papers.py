"""Whether a package has a paper that an agent can read: `paper.md`, or a PDF with text in it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from matproof.claims.loading import paper_files
from matproof.claims.problems import WHOLE, Problem
from matproof.claims.texts import read_text
from matproof.claims.tree import entry_of, read_bytes
from matproof.core.errors import InputError

_LINK = re.compile(r"!?\[[^\]\n]{0,300}\]\(\s*<?([^)\s>]+)")
_PAGES = 20
"""Pages searched for text: a scan has none on any."""


def paper_problems(root: Path) -> Iterator[Problem]:
    """No paper, an unreadable one, an empty one. A blank `paper.md` is a problem of the text itself."""
    view = root / "agent_view"
    if not view.is_dir():
        return
    if not os.path.lexists(view / "paper.md") and not paper_files(root):
        wrong = [
            item.name for item in view.iterdir() if item.name.lower() in {"paper.md", "paper.txt", "paper.markdown"}
        ]
        remedy = f"rename {wrong[0]} to paper.md" if wrong else "add paper.md or a PDF"
        yield Problem(view / "paper.md", WHOLE, "no paper", remedy)
    yield from _markdown_problems(root)
    has_text = (view / "paper.md").is_file()
    for path in paper_files(root):
        if path.suffix.lower() == ".pdf":
            yield from _pdf_problems(root, path, has_text)


def _markdown_problems(root: Path) -> Iterator[Problem]:
    path = root / "agent_view/paper.md"
    if not path.is_file():
        return
    try:
        text = read_text(root, "agent_view/paper.md")
    except InputError:
        return  # reported with the texts
    for target in dict.fromkeys(match.group(1) for match in _LINK.finditer(text)):
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target, re.IGNORECASE) and not target.lower().startswith("file:"):
            continue
        if target.startswith(("/", "file:", "File:")) or os.path.normpath(target).split("/")[0] == "..":
            problem = f"refers to {target!r}, which is outside agent_view/"
            yield Problem(path, "(link)", problem, "put the file beside the paper, or remove the reference")


def _pdf_problems(root: Path, path: Path, has_text: bool) -> Iterator[Problem]:
    entry = entry_of(root, path)
    if entry is None or entry.kind != "file" or entry.real is None:
        return  # a link or an unreadable file, reported as such
    head = read_bytes(entry, 1024)
    if not head:
        yield Problem(path, WHOLE, "an empty paper (no bytes)", "put the PDF there, or add paper.md")
    elif b"%PDF-" not in head:
        yield Problem(path, WHOLE, "is not a PDF", "put the PDF there, or add paper.md")
    else:
        problem = _reading_problem(entry.real, has_text)
        if problem is not None:
            yield Problem(path, WHOLE, problem, "replace it, or add paper.md beside it with the text")


def _reading_problem(path: Path, has_text: bool) -> str | None:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return "a PDF that can't be opened (damaged, or locked by a password)"
    try:
        if has_text or any(_has_text(document, number) for number in range(min(len(document), _PAGES))):
            return None
    finally:
        document.close()
    return "an empty paper: a PDF without text (a scan?)"


def _has_text(document: "object", number: int) -> bool:
    import pypdfium2

    try:
        page = document[number]  # type: ignore[index]
        return any(character.isalnum() for character in page.get_textpage().get_text_range())
    except pypdfium2.PdfiumError:
        return False  # a damaged page has no text; the others may
