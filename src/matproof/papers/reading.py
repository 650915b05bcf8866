"""A PDF's pages into Markdown and pictures, in this process and without limits: `light` calls it in a child."""

from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.files import write_bytes
from matproof.papers.drawn import drawn_on, picture
from matproof.papers.figures import Figure, figures_of
from matproof.papers.glyphs import TooManyGlyphsError, read_glyphs
from matproof.papers.layout import Row, lines_of, rows_in_order
from matproof.papers.markers import figure_block
from matproof.papers.prose import to_markdown

MAX_PAGES = 1000
MAX_FIGURES = 200
"""Most pictures of one PDF."""
MAX_DRAWING_S = 40.0
"""Most seconds spent on pictures of one PDF; what comes later keeps its caption and text."""


class UnreadableError(Exception):
    """The PDF has no text to give."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class _Pictures:
    """The pictures of one PDF, as far as there is a folder for them and time."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._names: list[str] = []
        self._spent = 0.0

    def block(self, page: Any, number: int, figure: Figure) -> str:
        """What stands for the figure in the text of page `number`; its picture is written."""
        name = None
        if self._folder is not None and len(self._names) < MAX_FIGURES and self._spent < MAX_DRAWING_S:
            name = figure.name(number, self._names)
            self._names.append(name)
            began = elapsed()
            write_bytes(self._folder / name, picture(page, figure.box))
            self._spent += elapsed() - began
        return figure_block(name, figure.number, number, figure.text)


def read_pdf(pdf: Path, max_pages: int = MAX_PAGES, figures: Path | None = None) -> str:
    """The PDF's Markdown; pictures of its figures go into the directory `figures`. Raises UnreadableError."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise UnreadableError("it is encrypted", "save it without a password, or give paper.md") from error
        raise UnreadableError("it is not a PDF, or a damaged one", "fetch it again, or give paper.md") from error
    pages: list[list[Row | str]] = []
    extras: list[str] = []
    pictures = _Pictures(figures)
    try:
        if not 0 < len(document) <= max_pages:
            raise UnreadableError(f"it has {len(document)} pages", f"give 1 to {max_pages} pages, or paper.md")
        for number in range(len(document)):
            rows, turned = _page(document, number, pictures)
            pages.append(rows)
            extras.append(turned)
    finally:
        document.close()
    if not any(isinstance(row, Row) for rows in pages for row in rows) and not any(extras):
        raise UnreadableError("no page has text (a scan?)", "run it through OCR first, or give paper.md")
    return to_markdown(pages, extras)


def _page(document: Any, number: int, pictures: "_Pictures") -> tuple[list[Row | str], str]:
    """A page's rows with its figures between them, and its turned text that stands in none."""
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"page {number + 1} is damaged", "fetch it again, or give paper.md") from error
    try:
        upright, turned = read_glyphs(page)
        found = figures_of(drawn_on(page), upright, turned)
        blocks = [pictures.block(page, number + 1, figure) for figure in found]
    except TooManyGlyphsError as error:
        raise UnreadableError(f"page {number + 1} has too many characters", "give paper.md") from error
    finally:
        page.close()
    taken = {id(glyph) for figure in found for glyph in figure.glyphs}
    rows = rows_in_order(lines_of([glyph for glyph in upright if id(glyph) not in taken]))
    loose = (f" {glyph.char}" if glyph.spaced else glyph.char for glyph in turned if id(glyph) not in taken)
    return _with_figures(rows, found, blocks), " ".join("".join(loose).split())


def _with_figures(rows: list[Row], figures: list[Figure], blocks: list[str]) -> list[Row | str]:
    """Each figure before its caption; those without one at the end."""
    placed: list[Row | str] = list(rows)
    for figure, block in zip(figures, blocks, strict=True):
        first = None if figure.caption is None else figure.caption.glyphs[0]
        at = (
            index
            for index, row in enumerate(placed)
            if isinstance(row, Row) and any(segment.glyphs[0] is first for segment in row.segments)
        )
        if block:
            placed.insert(next(at, len(placed)), block)
    return placed
