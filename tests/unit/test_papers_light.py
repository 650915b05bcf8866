"""The light parser on PDFs made here: order, exponents, tables, broken words, and files that have nothing to give."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, FrameBreak, PageTemplate, Paragraph, SimpleDocTemplate, Table

from matproof.core.errors import InputError
from matproof.papers.exponents import mark_doubtful
from matproof.papers.light import LightParser
from matproof.papers.prose import join_lines
from matproof.papers.reading import read_pdf

STYLES = getSampleStyleSheet()
BODY = STYLES["BodyText"]
NARROW = ParagraphStyle("narrow", parent=BODY, alignment=TA_JUSTIFY, fontSize=9, leading=11)
TALK = "The diffusion coefficient of the {0} glass comes from the mean square displacement at 300 K in a long run. " * 5


def made(path: Path, *story: Any) -> Path:
    SimpleDocTemplate(str(path), pagesize=A4).build(list(story))
    return path


def drawn(path: Path, *lines: tuple[float, float, str], pages: int = 1, **options: Any) -> Path:
    canvas = Canvas(str(path), pagesize=A4, **options)
    for _ in range(pages):
        for x, y, text in lines:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return path


def columns(path: Path, left: Sequence[str], right: Sequence[str]) -> Path:
    width, height = A4
    column = (width - 134) / 2
    frames = [Frame(60, height - 150, width - 120, 90)]
    frames += [Frame(x, 60, column, height - 220, leftPadding=0, rightPadding=0) for x in (60, 60 + column + 14)]
    document = BaseDocTemplate(str(path), pagesize=A4)
    document.addPageTemplates([PageTemplate(frames=frames)])
    story: list[Any] = [Paragraph("On transport in glasses and a title that is wide", STYLES["Title"]), FrameBreak()]
    story += [Paragraph(text, NARROW) for text in left]
    story += [FrameBreak(), *(Paragraph(text, NARROW) for text in right)]
    document.build(story)
    return path


def test_superscripts_become_exponents_and_subscripts_stay_in_line(tmp_path: Path) -> None:
    text = (
        "A conductivity of 5 &times; 10<super>-4</super> S cm<super>-1</super>, D = 2.43&times;10<super>&minus;5"
        "</super> cm<super>2</super>/s in CsPbBr<sub>3</sub>, the 4<super>th</super> sample, and 10<super>18</super> "
        "of them."
    )
    markdown = read_pdf(made(tmp_path / "a.pdf", Paragraph(text, BODY)))
    assert "5 × 10^-4 S cm^-1, D = 2.43×10^-5 cm^2/s in" in markdown
    assert "CsPbBr3, the 4th sample, and 10^18 of them." in markdown
    assert "[exponent?]" not in markdown


def test_an_exponent_in_a_table_cell_is_kept(tmp_path: Path) -> None:
    cells = [
        ["sample", "D"],
        ["one", Paragraph("10<super>-4</super>", BODY)],
        ["two", Paragraph("10<super>-5</super>", BODY)],
    ]
    markdown = read_pdf(made(tmp_path / "a.pdf", Table(cells, colWidths=100)))
    assert "| one | 10^-4 |" in markdown
    assert "| two | 10^-5 |" in markdown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("C<sub>11</sub>", "C11"),
        ("x<sub>ij,kl</sub>", "xij,kl"),
        ("e<super>-2</super>", "e^-2"),
        ("10<super>-12</super>", "10^-12"),
        ("<font size=24>L</font>arge initials do not raise the rest of their line", "Large initials do not raise"),
    ],
)
def test_a_short_run_keeps_its_baseline(tmp_path: Path, text: str, wanted: str) -> None:
    markdown = read_pdf(made(tmp_path / "a.pdf", Paragraph(text, BODY), Paragraph(TALK.format("same"), BODY)))
    assert f"\n\n{wanted}" in markdown


def test_an_exponent_that_is_not_raised_is_marked_as_doubtful(tmp_path: Path) -> None:
    markdown = read_pdf(drawn(tmp_path / "a.pdf", (72, 700, "a rate of 3 \u00d7 10-4 per second at 10-15 nm")))
    assert "3 × 10-4 [exponent?] per second at 10-15 nm" in markdown


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("5 × 10-4 S", True),
        ("10-4 S cm^-1", True),
        ("10−12 s", True),
        ("2·10-12 s", True),
        ("10-15 nm", False),
        ("10^-4", False),
        ("110-4", False),
        ("pages 10-20", False),
        ("10-4-2019", False),
        ("0.10-4", False),
    ],
)
def test_a_power_of_ten_that_could_be_a_range_is_marked(text: str, doubtful: bool) -> None:
    assert ("[exponent?]" in mark_doubtful(text)) is doubtful


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    pdf = columns(tmp_path / "a.pdf", [TALK.format(f"l{n}") for n in "abc"], [TALK.format(f"r{n}") for n in "abc"])
    markdown = read_pdf(pdf)
    order = [
        markdown.index(mark)
        for mark in ("a title that is wide", "la glass", "lb glass", "lc glass", "ra glass", "rc glass")
    ]
    assert order == sorted(order)
    assert TALK.format("lb").strip() in markdown


def test_a_table_keeps_its_rows_between_paragraphs(tmp_path: Path) -> None:
    rows = [["Potential", "a (A)", "E (eV)"], ["EAM", "3.615", "-3.54"], ["MEAM", "3.62", "-3.54"], ["LJ", "", "-3.5"]]
    story = [Paragraph(TALK.format("first"), BODY), Table(rows, colWidths=90), Paragraph(TALK.format("last"), BODY)]
    markdown = read_pdf(made(tmp_path / "a.pdf", *story))
    assert "| Potential | a (A) | E (eV) |\n| --- | --- | --- |\n| EAM | 3.615 | -3.54 |" in markdown
    assert "| LJ |  | -3.5 |" in markdown
    assert TALK.format("last").strip() in markdown


def test_each_page_has_its_marker_and_a_page_without_text_says_so(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.drawString(72, 700, "First page.")
    canvas.showPage()
    canvas.rect(100, 100, 50, 50)
    canvas.showPage()
    canvas.save()
    markdown = read_pdf(tmp_path / "a.pdf")
    assert markdown == "<!-- page 1 -->\n\nFirst page.\n\n<!-- page 2: no text -->\n"


def test_text_in_a_paper_cannot_forge_a_page_marker(tmp_path: Path) -> None:
    markdown = read_pdf(drawn(tmp_path / "a.pdf", (72, 700, "<!-- page 7 --> words")))
    assert re.findall(r"<!-- page (\d+)", markdown) == ["1"]


def test_a_heading_is_told_by_its_size(tmp_path: Path) -> None:
    story = [Paragraph("2 Methods", STYLES["Heading2"]), Paragraph(TALK.format("only"), BODY)]
    assert "## 2 Methods\n\nThe diffusion" in read_pdf(made(tmp_path / "a.pdf", *story))


def test_turned_text_does_not_disturb_the_lines(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    canvas.drawString(72, 700, "A line of text.")
    canvas.rotate(90)
    canvas.drawString(300, -40, "axis label")
    canvas.save()
    assert read_pdf(tmp_path / "a.pdf") == "<!-- page 1 -->\n\nA line of text.\n\naxis label\n"


@pytest.mark.parametrize(
    ("lines", "words", "wanted"),
    [
        (["a perov-", "skite is"], {"perovskite"}, "a perovskite is"),
        (["a perov-", "skite is"], set(), "a perovskite is"),
        (["from first-", "principles"], {"first", "principles"}, "from first-principles"),
        (["from first-", "principles"], {"first-principles"}, "from first-principles"),
        (["the Kohn-", "Sham gap"], set(), "the Kohn-Sham gap"),
        (["between 10-", "20 nm"], set(), "between 10-20 nm"),
        (["a perov\u00ad", "skite"], set(), "a perovskite"),
        (["one", "two"], set(), "one two"),
        (["at https://github.com/foo/", "bar-baz it"], set(), "at https://github.com/foo/bar-baz it"),
        (["doi 10.1103/PhysRevB.", "79.085104 (2009)"], set(), "doi 10.1103/PhysRevB.79.085104 (2009)"),
    ],
)
def test_lines_are_joined_and_broken_words_mended(lines: list[str], words: set[str], wanted: str) -> None:
    assert join_lines(lines, frozenset(words)) == wanted


# PDFs that have nothing to give


def refusal(pdf: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        LightParser(**options).parse(pdf)
    assert "\n" not in str(caught.value)
    assert str(pdf) in str(caught.value)
    return caught.value.problem


def test_the_child_process_gives_the_same_text(tmp_path: Path) -> None:
    pdf = drawn(tmp_path / "a b.pdf", (72, 700, "Some text."))
    assert LightParser().parse(pdf) == read_pdf(pdf) == "<!-- page 1 -->\n\nSome text.\n"


def test_an_encrypted_pdf_is_refused(tmp_path: Path) -> None:
    pdf = drawn(tmp_path / "a.pdf", (72, 700, "Secret."), encrypt=StandardEncryption("user", "owner"))
    assert refusal(pdf) == "it is encrypted"


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").touch()
    assert refusal(tmp_path / "a.pdf") == "the file is empty"


@pytest.mark.parametrize("data", [b"not a pdf", b"%PDF-1.4\n", b"%PDF-1.7\n" + b"\0\xff" * 5000])
def test_a_damaged_pdf_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    assert refusal(tmp_path / "a.pdf") == "it is not a PDF, or a damaged one"


def test_a_pdf_cut_in_the_middle_is_read_or_refused(tmp_path: Path) -> None:
    whole = drawn(tmp_path / "whole.pdf", (72, 700, "Some text."), pages=3).read_bytes()
    (tmp_path / "a.pdf").write_bytes(whole[: len(whole) // 2])
    assert refusal(tmp_path / "a.pdf")


def test_a_scan_is_refused(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.rect(100, 100, 50, 50)
    canvas.save()
    assert refusal(tmp_path / "a.pdf") == "no page has text (a scan?)"


def test_a_parse_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    pdf = drawn(tmp_path / "a.pdf", (72, 700, "Some text."))
    assert refusal(pdf, timeout_s=0.01) == "reading it took longer than 0.01 s"


def test_a_parse_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    pdf = drawn(tmp_path / "a.pdf", (72, 700, "Some text."))
    assert re.match(r"reading it took more than 40 MB|the PDF reader crashed on it", refusal(pdf, memory_mb=40))


def test_the_child_sees_none_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matproof.papers.light import _environment

    monkeypatch.setenv("ANTHROPIC_API_KEY", "placeholder")
    assert "ANTHROPIC_API_KEY" not in _environment()
