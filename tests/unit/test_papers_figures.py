"""Figures without a model: found by what is drawn and by their captions, written as files, their text kept apart."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pixels
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.charts.lineplots import LinePlot
from reportlab.graphics.shapes import Drawing, Rect, String
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Image, PageBreak, Paragraph, SimpleDocTemplate, Table

from matproof.claims.payload import copy_payload, package
from matproof.core.errors import InputError
from matproof.papers.drawn import png
from matproof.papers.markers import FIGURE_NAME
from matproof.papers.parse import parse_claim
from matproof.papers.reading import read_pdf

STYLES = getSampleStyleSheet()
BODY = STYLES["BodyText"]
TALK = "The diffusion coefficient of the glass comes from the mean square displacement at 300 K in a long run. " * 3


def text(words: str) -> Paragraph:
    return Paragraph(words, BODY)


def plot(label: str = "time (ps)") -> Drawing:
    drawing, lines = Drawing(300, 170), LinePlot()
    lines.x, lines.y, lines.width, lines.height = 40, 40, 220, 110
    lines.data = [[(x, x * x) for x in range(10)]]
    drawing.add(lines)
    drawing.add(String(130, 8, label))
    return drawing


def bars() -> Drawing:
    drawing, chart = Drawing(300, 160), VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 40, 30, 220, 110
    chart.data = [[3, 5, 9]]
    chart.categoryAxis.categoryNames = ["Cu", "Ni", "Al"]
    drawing.add(chart)
    return drawing


def photograph(folder: Path) -> Image:
    path = folder / "red.png"
    Pixels.new("RGB", (200, 100), (200, 30, 30)).save(path)
    return Image(str(path), width=200, height=100)


def parsed(folder: Path, *story: Any) -> tuple[str, dict[str, Path]]:
    """The Markdown of a PDF made of `story`, and its pictures by name."""
    SimpleDocTemplate(str(folder / "a.pdf"), pagesize=A4).build(list(story))
    pictures = folder / "pictures"
    pictures.mkdir()
    markdown = read_pdf(folder / "a.pdf", figures=pictures)
    return markdown, {path.name: path for path in sorted(pictures.iterdir())}


def test_each_figure_is_a_file_before_its_caption(tmp_path: Path) -> None:
    markdown, pictures = parsed(
        tmp_path,
        *(text(TALK), photograph(tmp_path), text("Figure 1. A red thing at 10<super>-4</super> K."), text(TALK)),
        *(plot(), text("Fig. 2: A parabola."), text(TALK), PageBreak()),
        *(text(TALK), bars(), text("Figure 3. Bars of three metals."), text(TALK)),
    )
    assert list(pictures) == ["page-1-figure-1.png", "page-1-figure-2.png", "page-2-figure-3.png"]
    assert "![Figure 1 (page 1)](figures/page-1-figure-1.png)\n\nFigure 1. A red thing at 10^-4 K.\n\n" in markdown
    assert re.search(
        r"!\[Figure 2 \(page 1\)\]\(figures/page-1-figure-2\.png\)\n\n"
        r"In the figure: [^\n]*80[^\n]*time \(ps\)\n\nFig\. 2: A parabola\.\n",
        markdown,
    )
    assert re.search(r"In the figure: [^\n]*Cu · Ni · Al\n\nFigure 3\. Bars", markdown)
    assert "|" not in markdown
    assert markdown.count(TALK.strip()) == 5


def test_a_picture_shows_what_is_on_the_page(tmp_path: Path) -> None:
    _, pictures = parsed(tmp_path, text(TALK), photograph(tmp_path), text("Figure 1. Red."), text(TALK))
    with Pixels.open(pictures["page-1-figure-1.png"]) as picture:
        assert picture.size == pytest.approx((204 * 150 / 72, 104 * 150 / 72), abs=12)
        middle = picture.getpixel((picture.width // 2, picture.height // 2))
        assert middle == (200, 30, 30)


def test_a_table_is_no_figure_though_it_has_rules(tmp_path: Path) -> None:
    rows = [["Potential", "a", "E"], ["EAM", "3.615", "-3.54"], ["MEAM", "3.62", "-3.54"]]
    grid = Table(rows, colWidths=90, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])
    markdown, pictures = parsed(tmp_path, text(TALK), grid, text("Table 1. Potentials."), text(TALK))
    assert pictures == {}
    assert "| EAM | 3.615 | -3.54 |" in markdown


def test_a_frame_around_text_is_no_figure(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.roundRect(60, 640, 470, 100, 10)
    for line in range(5):
        canvas.drawString(72, 720 - 14 * line, f"Line {line} of a text that stands in a frame with round corners.")
    canvas.save()
    (tmp_path / "pictures").mkdir()
    markdown = read_pdf(tmp_path / "a.pdf", figures=tmp_path / "pictures")
    assert "Line 4 of a text" in markdown
    assert list((tmp_path / "pictures").iterdir()) == []


def test_a_sentence_that_begins_like_a_caption_is_none(tmp_path: Path) -> None:
    markdown, pictures = parsed(
        tmp_path, text("Figure 7 shows it well."), plot(), text("Figure 1. A parabola."), text(TALK)
    )
    assert list(pictures) == ["page-1-figure-1.png"]
    assert markdown.index("Figure 7 shows") < markdown.index("![Figure 1")


def test_panels_side_by_side_are_one_figure(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    red = ImageReader(Pixels.new("RGB", (10, 10), (200, 30, 30)))
    canvas.drawImage(red, 80, 600, 180, 120)
    canvas.drawImage(red, 300, 600, 180, 120)
    canvas.drawString(80, 580, "Figure 4. Two panels.")
    canvas.save()
    (tmp_path / "pictures").mkdir()
    read_pdf(tmp_path / "a.pdf", figures=tmp_path / "pictures")
    (picture,) = (tmp_path / "pictures").iterdir()
    with Pixels.open(picture) as pixels:
        assert pixels.width > 390 * 150 / 72


def test_figures_of_two_columns_stay_apart(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    for number, (x, colour) in enumerate(((60, (200, 30, 30)), (310, (30, 30, 200))), start=1):
        canvas.drawImage(ImageReader(Pixels.new("RGB", (10, 10), colour)), x, 600, 220, 120)
        canvas.drawString(x, 580, f"Figure {number}. One of two in its column.")
    canvas.save()
    (tmp_path / "pictures").mkdir()
    read_pdf(tmp_path / "a.pdf", figures=tmp_path / "pictures")
    colours = []
    for path in sorted((tmp_path / "pictures").iterdir()):
        with Pixels.open(path) as picture:
            colours.append(picture.getpixel((picture.width // 2, picture.height // 2)))
    assert colours == [(200, 30, 30), (30, 30, 200)]


def test_rows_of_panels_are_one_figure(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    for x, y in ((80, 600), (310, 600), (80, 430), (310, 430)):
        canvas.bezier(x, y, x + 60, y + 110, x + 120, y + 10, x + 180, y + 120)
        canvas.rect(x, y, 180, 120)
        canvas.drawString(x + 80, y - 15, "q (1/A)")
    canvas.drawString(80, 390, "Figure 2. Four panels.")
    canvas.save()
    (tmp_path / "pictures").mkdir()
    markdown = read_pdf(tmp_path / "a.pdf", figures=tmp_path / "pictures")
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["page-1-figure-2.png"]
    assert "In the figure: q (1/A) · q (1/A) · q (1/A) · q (1/A)\n" in markdown


def test_a_picture_without_a_caption_is_kept_at_the_end_of_its_page(tmp_path: Path) -> None:
    markdown, pictures = parsed(tmp_path, photograph(tmp_path), text(TALK))
    assert list(pictures) == ["page-1-picture.png"]
    assert markdown.endswith("![Picture (page 1)](figures/page-1-picture.png)\n")


def test_without_a_place_for_pictures_the_texts_remain(tmp_path: Path) -> None:
    story = [text(TALK), plot(), text("Fig. 2: A parabola."), text(TALK)]
    SimpleDocTemplate(str(tmp_path / "a.pdf"), pagesize=A4).build(story)
    markdown = read_pdf(tmp_path / "a.pdf")
    assert "In the figure: " in markdown
    assert "![" not in markdown


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB"), (4, "RGB")])
def test_pixels_become_a_png(tmp_path: Path, channels: int, mode: str) -> None:
    row = bytes(range(1, 1 + 2 * channels)) + b"\xff\xff"
    (tmp_path / "a.png").write_bytes(png(row * 3, 2, 3, len(row), channels))
    with Pixels.open(tmp_path / "a.png") as picture:
        assert (picture.size, picture.mode) == ((2, 3), mode)
        assert picture.tobytes()[: 2 * min(channels, 3)] == bytes(
            value for pixel in range(2) for value in row[pixel * channels : pixel * channels + min(channels, 3)]
        )


# The way to the agent


def claim(root: Path, *stories: Sequence[Any]) -> Path:
    view = root / "tasks" / "C-1_x" / "agent_view"
    view.mkdir(parents=True)
    for name, story in zip(("main.pdf", "more.pdf"), stories, strict=False):
        SimpleDocTemplate(str(view / name), pagesize=A4).build(list(story))
    (view / "claim.txt").write_text("A claim.\n")
    (view.parent / "meta").mkdir()
    (view.parent / "meta/claim.yaml").write_text("id: C-1\ntitle: x\n")
    (view.parent / "reference").mkdir()
    (view.parent / "reference/procedure.md").write_text("Step one.\n")
    return view.parent


def test_figures_lie_beside_the_paper_and_reach_the_payloads(tmp_path: Path) -> None:
    task = claim(tmp_path, [text(TALK), plot(), text("Figure 1. It."), text(TALK)])
    summary = parse_claim(task, tmp_path / "out/paper.md", tmp_path / "cache")
    assert summary.figures == 1
    assert "](paper.figures/page-1-figure-1.png)" in summary.out.read_text()
    for audience in ("agent", "judge"):
        manifest = tmp_path / "out" / f"{audience}.json"
        package(task, audience, summary.out, manifest)
        copy_payload(manifest, tmp_path / audience)
        assert (tmp_path / audience / "paper.figures/page-1-figure-1.png").read_bytes().startswith(b"\x89PNG")


def test_the_cache_keeps_the_figures(tmp_path: Path) -> None:
    task = claim(tmp_path, [text(TALK), plot(), text("Figure 1. It."), text(TALK)])
    first = parse_claim(task, tmp_path / "one/paper.md", tmp_path / "cache")
    second = parse_claim(task, tmp_path / "two/paper.md", tmp_path / "cache")
    assert (first.cached, second.cached) == (0, 1)
    assert first.out.read_text() == second.out.read_text()
    pictures = [path / "paper.figures/page-1-figure-1.png" for path in (tmp_path / "one", tmp_path / "two")]
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_figures_of_several_pdfs_do_not_meet(tmp_path: Path) -> None:
    story = [text(TALK), plot(), text("Figure 1. It."), text(TALK)]
    task = claim(tmp_path, story, [text(TALK), bars(), text("Figure 1. Bars."), text(TALK)])
    summary = parse_claim(task, tmp_path / "paper.md")
    names = sorted(path.name for path in (tmp_path / "paper.figures").iterdir())
    assert names == ["1-page-1-figure-1.png", "2-page-1-figure-1.png"]
    assert all(f"](paper.figures/{name})" in summary.out.read_text() for name in names)


def test_a_figure_that_shows_a_link_is_left_out(tmp_path: Path) -> None:
    story = [text(TALK), plot("data at github.com/someone/code"), text("Figure 1. It."), text(TALK)]
    summary = parse_claim(claim(tmp_path, story), tmp_path / "paper.md", tmp_path / "cache")
    markdown = summary.out.read_text()
    assert (summary.figures, (tmp_path / "paper.figures").exists()) == (0, False)
    assert "[figure left out: it shows a link]\n\nIn the figure: " in markdown
    assert "github" not in markdown


def test_a_link_is_found_wherever_it_stands_in_a_figure(tmp_path: Path) -> None:
    def full(last: str) -> Drawing:
        drawing = plot(last)
        for number in range(60):
            drawing.add(String(42, 147 - 1.7 * number, f"sample {number} of the series, annealed", fontSize=1.5))
        return drawing

    story = [
        text(TALK),
        full("github.com/someone/code"),
        text("Figure 1. It."),
        full("time (ps)"),
        text("Figure 2. It."),
    ]
    summary = parse_claim(claim(tmp_path, story), tmp_path / "paper.md", tmp_path / "cache")
    assert [path.name for path in (tmp_path / "paper.figures").iterdir()] == ["page-1-figure-2.png"]
    markdown = summary.out.read_text()
    assert "github" not in markdown
    assert markdown.count(" …\n") == 1


def test_old_figures_go_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    task = claim(tmp_path, [text(TALK)])
    old = tmp_path / "paper.figures"
    old.mkdir()
    (old / "page-9-figure-9.png").write_bytes(b"")
    parse_claim(task, tmp_path / "paper.md")
    assert not old.exists()
    old.mkdir()
    (old / "thesis.png").write_bytes(b"mine")
    with pytest.raises(InputError, match="no directory of figures"):
        parse_claim(task, tmp_path / "paper.md")
    assert (old / "thesis.png").read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["../x.png", "page-1-figure-1.svg", "page--figure-1.png", "page-1-figure-1.png/../x"])
def test_a_picture_of_another_name_is_not_taken(name: str) -> None:
    assert not FIGURE_NAME.fullmatch(name)


def test_a_page_may_be_turned_or_its_box_moved(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(400, 400))
    canvas.setCropBox((50, 50, 350, 350))
    drawing = Drawing(100, 100)
    drawing.add(Rect(0, 0, 100, 100, fillColor=None))
    canvas.drawImage(ImageReader(Pixels.new("RGB", (10, 10), (30, 30, 200))), 100, 200, 120, 100)
    canvas.drawString(100, 180, "Figure 1. Blue.")
    canvas.save()
    (tmp_path / "pictures").mkdir()
    read_pdf(tmp_path / "a.pdf", figures=tmp_path / "pictures")
    with Pixels.open(tmp_path / "pictures/page-1-figure-1.png") as picture:
        assert picture.getpixel((picture.width // 2, picture.height // 2)) == (30, 30, 200)
