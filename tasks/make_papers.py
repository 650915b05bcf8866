"""Builds `agent_view/paper.pdf` from `agent_view/paper.md`, for one claim or for all.

    python tasks/make_papers.py [CLAIM_DIRECTORY...]

`paper.md` is the source and the PDF its print: the same bytes come out of the same text, figures and versions of
reportlab and matplotlib (whose DejaVu fonts are embedded, so that Greek letters and minus signs survive extraction).
What is understood of Markdown: `#` headings (the first is the title; a paragraph in *italics* right after it is the
byline), paragraphs, `-` and `1.` lists, pipe tables (a paragraph that starts with `**Table` is their caption),
`![caption](figures/x.png)` (the path is relative to `paper.md`), formulas (lines indented by four spaces), fenced
code, and inside text `**bold**`, `*italic*`, `` `code` ``, `<sup>`, `<sub>`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib import get_data_path
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    Image,
    KeepTogether,
    ListFlowable,
    PageTemplate,
    Paragraph,
    Preformatted,
    Spacer,
)
from reportlab.platypus import Table as PdfTable

TASKS = Path(__file__).resolve().parent
WIDTH = A4[0] - 2 * 24 * mm
FACES = {
    "Serif": "DejaVuSerif.ttf",
    "Serif-Bold": "DejaVuSerif-Bold.ttf",
    "Serif-Italic": "DejaVuSerif-Italic.ttf",
    "Serif-BoldItalic": "DejaVuSerif-BoldItalic.ttf",
    "Mono": "DejaVuSansMono.ttf",
}
BODY = ParagraphStyle("body", fontName="Serif", fontSize=9.2, leading=13, alignment=TA_JUSTIFY, spaceAfter=6)
STYLES = {
    "title": ParagraphStyle("title", BODY, fontName="Serif-Bold", fontSize=15, leading=19, alignment=TA_CENTER),
    "byline": ParagraphStyle("byline", BODY, fontName="Serif-Italic", alignment=TA_CENTER, spaceAfter=12),
    "h2": ParagraphStyle(
        "h2", BODY, fontName="Serif-Bold", fontSize=11, leading=14, spaceBefore=8, spaceAfter=4, keepWithNext=1
    ),
    "h3": ParagraphStyle(
        "h3", BODY, fontName="Serif-BoldItalic", fontSize=9.6, spaceBefore=4, spaceAfter=3, keepWithNext=1
    ),
    "formula": ParagraphStyle("formula", BODY, alignment=TA_CENTER, spaceBefore=2, spaceAfter=8),
    "caption": ParagraphStyle("caption", BODY, fontSize=8.2, leading=11, spaceBefore=3, spaceAfter=8),
    "cell": ParagraphStyle("cell", BODY, fontSize=8.4, leading=11, alignment=TA_CENTER, spaceAfter=0),
    "code": ParagraphStyle("code", BODY, fontName="Mono", fontSize=7.6, leading=10, spaceAfter=8),
}
IMAGE = re.compile(r"!\[(?P<caption>[^\]]*)\]\((?P<path>[^)]+)\)$")


def register_fonts() -> None:
    """Embeds the DejaVu faces that matplotlib carries."""
    directory = Path(get_data_path()) / "fonts" / "ttf"
    for name, file in FACES.items():
        pdfmetrics.registerFont(TTFont(name, str(directory / file)))
    pdfmetrics.registerFontFamily(
        "Serif", normal="Serif", bold="Serif-Bold", italic="Serif-Italic", boldItalic="Serif-BoldItalic"
    )


def inline(text: str) -> str:
    """Markdown inside a paragraph as reportlab's markup."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"&lt;(/?)(?:super|sup)&gt;", r"<\1super>", text)
    text = re.sub(r"&lt;(/?)sub&gt;", r"<\1sub>", text)
    text = re.sub(r"`([^`]+)`", r'<font name="Mono" size="8">\1</font>', text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])", r"<i>\1</i>", text)


def blocks(text: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines; a fenced block is one run, a heading a run of its own."""
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        heading = not fenced and line.startswith("#")
        if block and (heading or (not fenced and not line.strip())):
            yield block
            block = []
        if heading:
            yield [line]
        elif line.strip() or fenced:
            block.append(line)
    if block:
        yield block


def table(lines: list[str]) -> PdfTable:
    """A pipe table, ruled above, below the heading and below."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    head, *body = [[Paragraph(inline(cell), STYLES["cell"]) for cell in row] for row in rows]
    rules: list[tuple[Any, ...]] = [
        ("LINEABOVE", (0, 0), (-1, 0), 0.9, colors.black),
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 0.9, colors.black),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
    ]
    return PdfTable([head, *body], style=rules, spaceBefore=2, spaceAfter=8, repeatRows=1)


def figure(path: Path, caption: str) -> KeepTogether:
    """A picture as wide as the text at most, with its caption below."""
    width, height = ImageReader(str(path)).getSize()
    shown = min(WIDTH * 0.82, width * 72 / 150)
    image = Image(str(path), width=shown, height=shown * height / width)
    return KeepTogether([image, Paragraph(inline(caption), STYLES["caption"])])


def listing(lines: list[str]) -> ListFlowable:
    """A bulleted or numbered list; continuation lines are indented."""
    items: list[str] = []
    for line in lines:
        if match := re.match(r"(?:- |\d+\. )(.*)", line):
            items.append(match[1])
        else:
            items[-1] += " " + line.strip()
    kind = "bullet" if lines[0].startswith("- ") else "1"
    entries = [Paragraph(inline(item), BODY) for item in items]
    return ListFlowable(entries, bulletType=kind, start="•" if kind == "bullet" else 1, bulletFontSize=8)


def flowables(text: str, directory: Path) -> Iterator[Any]:
    """The paper's blocks as reportlab sees them. `directory` is where relative figure paths start."""
    waiting: Any = None
    for number, block in enumerate(blocks(text)):
        made: Any
        joined = " ".join(line.strip() for line in block)
        if block[0].startswith("#"):
            level = len(block[0]) - len(block[0].lstrip("#"))
            made = Paragraph(inline(block[0].lstrip("# ")), STYLES[{1: "title", 2: "h2"}.get(level, "h3")])
        elif block[0].startswith("```"):
            made = Preformatted("\n".join(line for line in block if not line.startswith("```")), STYLES["code"])
        elif block[0].startswith("|"):
            made = table(block)
        elif image := IMAGE.match(joined):
            made = figure(directory / image["path"], image["caption"])
        elif block[0].startswith("    "):
            made = Paragraph("<br/>".join(inline(line.strip()) for line in block), STYLES["formula"])
        elif re.match(r"- |\d+\. ", block[0]):
            made = listing(block)
        elif number == 1 and joined.startswith("*") and joined.endswith("*"):
            made = Paragraph(inline(joined), STYLES["byline"])
        elif joined.startswith("**Table"):
            waiting = Paragraph(inline(joined), STYLES["caption"])
            continue
        else:
            made = Paragraph(inline(joined), BODY)
        if waiting is not None:
            made, waiting = KeepTogether([waiting, made]), None
        yield made
    yield waiting if waiting is not None else Spacer(1, 1)


def build(source: Path, target: Path) -> None:
    """Prints `source` to `target`. Raises FileNotFoundError where a figure is missing."""
    text = source.read_text(encoding="utf-8")
    title = text.splitlines()[0].lstrip("# ")
    document = BaseDocTemplate(str(target), pagesize=A4, title=title, author="", invariant=1)

    def number(canvas: Any, page: Any) -> None:
        canvas.setFont("Serif", 8)
        canvas.drawCentredString(A4[0] / 2, 11 * mm, str(page.page))

    register_fonts()
    frame = Frame(24 * mm, 20 * mm, WIDTH, A4[1] - 40 * mm, leftPadding=0, rightPadding=0)
    # At a page's end, so that a reader of the text layer meets the title first.
    document.addPageTemplates(PageTemplate(frames=[frame], onPageEnd=number))
    document.build(list(flowables(text, source.parent)))


def main(names: list[str]) -> None:
    """Builds the named claims' papers, or all."""
    claims = [Path(name) for name in names] or sorted(path for path in TASKS.iterdir() if path.is_dir())
    for claim in claims:
        source = claim / "agent_view" / "paper.md"
        if not source.is_file():
            sys.exit(f"{source}: no such file; name a claim directory that holds agent_view/paper.md")
        target = source.with_suffix(".pdf")
        build(source, target)
        print(f"{target} ({target.stat().st_size} bytes)")


if __name__ == "__main__":
    main(sys.argv[1:])
