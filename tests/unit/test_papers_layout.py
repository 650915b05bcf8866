"""Where lines belong: three columns, and cells that are wrapped in a table."""

from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, FrameBreak, PageTemplate, Paragraph, SimpleDocTemplate, Table

from matproof.papers.reading import read_pdf

STYLES = getSampleStyleSheet()
BODY = STYLES["BodyText"]
NARROW = ParagraphStyle("narrow", parent=BODY, alignment=TA_JUSTIFY, fontSize=8, leading=10)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=10, leading=12)
TALK = "The diffusion coefficient of the {0} glass comes from the mean square displacement at 300 K in a long run. " * 5


@pytest.mark.parametrize("count", [2, 3])
def test_columns_are_read_one_after_the_other(tmp_path: Path, count: int) -> None:
    width, height = A4
    column = (width - 100 - 14 * (count - 1)) / count
    frames = [Frame(50, height - 130, width - 100, 80)]
    frames += [
        Frame(50 + at * (column + 14), 50, column, height - 200, leftPadding=0, rightPadding=0) for at in range(count)
    ]
    document = BaseDocTemplate(str(tmp_path / "a.pdf"), pagesize=A4)
    document.addPageTemplates([PageTemplate(frames=frames)])
    story: list[Any] = [Paragraph("On transport in glasses and a title that is wide", STYLES["Title"])]
    for at in range(count):
        story += [FrameBreak(), *(Paragraph(TALK.format(f"{at}{part}"), NARROW) for part in "abc")]
    document.build(story)
    markdown = read_pdf(tmp_path / "a.pdf")
    marks = ["a title that is wide", *(f"{at}{part} glass" for at in range(count) for part in "abc")]
    places = [markdown.index(mark) for mark in marks]
    assert places == sorted(places)
    assert all(TALK.format(f"{at}{part}").strip() in markdown for at in range(count) for part in "abc")


def table(path: Path, rows: list[list[Any]], **style: str) -> str:
    wrapped = [[Paragraph(cell, CELL) if len(cell) > 16 else cell for cell in row] for row in rows]
    commands = [("VALIGN", (0, 0), (-1, -1), style["valign"])]
    if style.get("grid"):
        commands.append(("GRID", (0, 0), (-1, -1), 0.5, "black"))  # type: ignore[arg-type]
    story = [Paragraph(TALK.format("one"), BODY), Table(wrapped, colWidths=[110, 80, 110], style=commands)]
    SimpleDocTemplate(str(path), pagesize=A4).build([*story, Paragraph(TALK.format("last"), BODY)])
    return read_pdf(path)


@pytest.mark.parametrize("valign", ["TOP", "MIDDLE"])
@pytest.mark.parametrize("grid", ["", "yes"])
def test_a_wrapped_cell_stays_in_its_row(tmp_path: Path, valign: str, grid: str) -> None:
    rows = [
        ["Potential", "a (A)", "Remark"],
        ["Embedded atom method of Mishin", "3.615", "fitted"],
        ["MEAM", "3.62", "from the data base of the authors"],
        ["LJ", "3.7", ""],
    ]
    markdown = table(tmp_path / "a.pdf", rows, valign=valign, grid=grid)
    assert "| Embedded atom method of Mishin | 3.615 | fitted |" in markdown
    assert "| MEAM | 3.62 | from the data base of the authors |" in markdown
    assert "| LJ | 3.7 |  |" in markdown
    assert markdown.count("\n| ") == 5


def test_rows_with_empty_cells_stay_rows(tmp_path: Path) -> None:
    rows = [["Metal", "a (A)", "E (eV)"], ["Cu", "3.615", "-3.54"], ["", "3.62", "-3.5"], ["Ni", "3.52", ""]]
    markdown = table(tmp_path / "a.pdf", rows, valign="TOP")
    assert "| Cu | 3.615 | -3.54 |\n|  | 3.62 | -3.5 |\n| Ni | 3.52 |  |" in markdown


def test_numbered_references_are_a_list_and_their_links_whole(tmp_path: Path) -> None:
    lines = [
        (72, 700, "1"),
        (95, 700, "A. Rahman, Correlations in the motion of atoms in liquid argon, Phys. Rev. 136, A405."),
        (72, 686, "2"),
        (95, 686, "S. Body, Data and programs of the present work, deposited at https://github.com/some/"),
        (95, 672, "one-else for all."),
    ]
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.setFont("Helvetica", 10)
    for x, y, words in lines:
        canvas.drawString(x, y, words)
    canvas.save()
    markdown = read_pdf(tmp_path / "a.pdf")
    assert "\n\n1 A. Rahman, Correlations" in markdown
    assert "\n\n2 S. Body, " in markdown
    assert "deposited at https://github.com/some/one-else for all.\n" in markdown
