"""The station `parse` and what the agent's ParsePDF tool answers."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from reportlab.pdfgen.canvas import Canvas

from matproof.commands.parse import command
from matproof.core.errors import InputError
from matproof.papers.links import PLACEHOLDER
from matproof.papers.parse import LinksRecord, parse_claim
from matproof.papers.parsers import parser_named
from matproof.papers.tool import parse_pdf_tool


def pdf(path: Path, *pages: str) -> Path:
    canvas = Canvas(str(path))
    for text in pages:
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    (tmp_path / "tasks" / "C-1_x" / "agent_view").mkdir(parents=True)
    return tmp_path / "tasks" / "C-1_x"


def test_a_written_paper_is_used_as_it_is_but_for_its_links(claim: Path, tmp_path: Path) -> None:
    (claim / "agent_view" / "paper.md").write_text("# Title\n\nCode: https://github.com/a/b.\n\n  odd   spacing \n")
    pdf(claim / "agent_view" / "a.pdf", "Not read.")
    summary = parse_claim(claim, tmp_path / "out" / "paper.md")
    assert summary.out.read_text() == f"# Title\n\nCode: {PLACEHOLDER}.\n\n  odd   spacing \n"
    assert (summary.parser, summary.sources, summary.links) == (None, ("paper.md",), 1)
    record = LinksRecord.read(summary.links_file)
    assert [(link.kind, link.text, link.line) for link in record.links] == [("url", "https://github.com/a/b", 3)]
    assert (record.claim, record.parser) == ("C-1_x", None)


def test_a_pdf_is_parsed_once_for_its_content(claim: Path, tmp_path: Path) -> None:
    pdf(claim / "agent_view" / "a.pdf", "See zenodo.org/record/1 for code.")
    cache = tmp_path / "cache"
    first = parse_claim(claim, tmp_path / "paper.md", cache)
    assert (first.cached, first.parser) == (0, "light 3")
    (kept,) = cache.iterdir()
    (kept / "paper.md").write_text("<!-- page 1 -->\n\nFrom the cache.\n")
    os.utime(claim / "agent_view" / "a.pdf")
    second = parse_claim(claim, tmp_path / "paper.md", cache)
    assert (second.cached, second.out.read_text()) == (1, "<!-- page 1 -->\n\nFrom the cache.\n")
    pdf(claim / "agent_view" / "a.pdf", "Another paper.")
    third = parse_claim(claim, tmp_path / "paper.md", cache)
    assert (third.cached, len(list(cache.iterdir()))) == (0, 2)
    assert "Another paper." in third.out.read_text()


def test_links_are_cut_after_the_cache(claim: Path, tmp_path: Path) -> None:
    pdf(claim / "agent_view" / "a.pdf", "See zenodo.org/record/1 for code.")
    summary = parse_claim(claim, tmp_path / "paper.md", tmp_path / "cache")
    assert summary.out.read_text() == f"<!-- page 1 -->\n\nSee {PLACEHOLDER} for code.\n"
    assert "zenodo" in (next((tmp_path / "cache").iterdir()) / "paper.md").read_text()


def test_several_pdfs_become_sections_by_name(claim: Path, tmp_path: Path) -> None:
    pdf(claim / "agent_view" / "b.PDF", "Supplement.")
    pdf(claim / "agent_view" / "a.pdf", "Main text.")
    text = parse_claim(claim, tmp_path / "paper.md").out.read_text()
    assert text.index("# a.pdf") < text.index("Main text.") < text.index("# b.PDF") < text.index("Supplement.")


def test_a_claim_without_a_paper_is_one_clear_line(claim: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"agent_view: no paper; put paper\.md"):
        parse_claim(claim, tmp_path / "paper.md")
    assert not (tmp_path / "paper.md").exists()


def test_an_empty_paper_is_refused(claim: Path, tmp_path: Path) -> None:
    (claim / "agent_view" / "paper.md").write_text(" \n")
    with pytest.raises(InputError, match="the paper is empty"):
        parse_claim(claim, tmp_path / "paper.md")


@pytest.mark.parametrize("name", ["paper.md", "a.pdf"])
def test_a_paper_that_is_a_link_out_of_the_claim_is_refused(claim: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret")
    (claim / "agent_view" / name).symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="leaves the claim"):
        parse_claim(claim, tmp_path / "paper.md")


def test_an_unknown_parser_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="use one of light, docling"):
        parser_named("word")


def test_the_command_says_what_it_did(claim: Path, tmp_path: Path) -> None:
    pdf(claim / "agent_view" / "a.pdf", "See zenodo.org/record/1 for code.")
    arguments = [str(claim), "--out", str(tmp_path / "paper.md"), "--cache", str(tmp_path / "cache")]
    first = CliRunner().invoke(command, arguments, catch_exceptions=False)
    second = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert "a.pdf by light 3; " in first.output
    assert "a.pdf by light 3, 1 of 1 from the cache; " in second.output
    assert "1 links removed (paper.links.json)" in second.output
    assert json.loads((tmp_path / "paper.links.json").read_text())["schema_version"] == 1


def test_the_environment_can_choose_the_parser_of_a_campaign(claim: Path, tmp_path: Path) -> None:
    pdf(claim / "agent_view" / "a.pdf", "Text.")
    result = CliRunner().invoke(command, [str(claim), "--out", str(tmp_path / "p.md")], env={"MATPROOF_PARSER": "word"})
    assert isinstance(result.exception, InputError)
    assert result.exception.problem == "no parser 'word'"


# The agent's ParsePDF tool


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    folder = tmp_path / "payload"
    folder.mkdir()
    pdf(folder / "main.pdf", "x")
    pdf(folder / "more.pdf", "x")
    (folder / "claim.txt").write_text("claim")
    (tmp_path / "secret.pdf").write_text("secret")
    return folder


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("claim")
    (folder / "agent_view").mkdir()
    pdf(folder / "agent_view" / "main.pdf", "Main one.", "Main two.", "Main three.")
    pdf(folder / "agent_view" / "more.pdf", "More one.")
    return parse_claim(folder, folder / "paper.md").out


@pytest.mark.parametrize(
    "path", ["/work/payload/main.pdf", "main.pdf", "../payload/main.pdf", "/work/payload//./main.pdf", " main.pdf "]
)
def test_the_tool_serves_the_paper_under_each_of_its_names(payload: Path, paper: Path, path: str) -> None:
    text = parse_pdf_tool(path, payload, paper)
    assert "Main three." in text
    assert "More one." not in text


def test_the_tool_serves_one_section_or_the_whole(payload: Path, paper: Path) -> None:
    assert "Main one." not in parse_pdf_tool("/work/payload/more.pdf", payload, paper)
    assert "Main one." in parse_pdf_tool("/work/payload/paper.md", payload, paper)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/work/payload/../reference/expected.yaml",
        "/work/reference/procedure.md",
        "../../secret.pdf",
        "/work/payload/../secret.pdf",
        "/work/payloadx/main.pdf",
        "/work/artifacts/main.pdf/../../reference/main.pdf",
        "",
        "\0",
        "/work/payload",
    ],
)
def test_the_tool_refuses_what_is_outside_the_payload(payload: Path, paper: Path, path: str) -> None:
    assert parse_pdf_tool(path, payload, paper).startswith("Refused: ")


@pytest.mark.parametrize(
    "path", ["claim.txt", "/work/payload/claim.txt", "none.pdf", "/work/payload/inputs/x.pdf", "secret.pdf"]
)
def test_the_tool_names_what_is_parsed_where_the_path_is_not(payload: Path, paper: Path, path: str) -> None:
    answer = parse_pdf_tool(path, payload, paper)
    assert answer.startswith("No parsed text of ")
    assert "/work/payload/main.pdf" in answer


@pytest.mark.parametrize(
    ("pages", "there", "absent"),
    [("2", ["two"], ["one", "three"]), ("2-3", ["two", "three"], ["one"]), ("2-", ["two", "three"], ["one"])],
)
def test_the_tool_serves_the_pages_asked_for(
    payload: Path, paper: Path, pages: str, there: list[str], absent: list[str]
) -> None:
    answer = parse_pdf_tool("main.pdf", payload, paper, pages=pages)
    assert all(f"Main {word}." in answer for word in there)
    assert not any(f"Main {word}." in answer for word in absent)


@pytest.mark.parametrize("pages", ["x", "1;2", "-1-", "9" * 50])
def test_the_tool_refuses_pages_that_are_no_pages(payload: Path, paper: Path, pages: str) -> None:
    assert parse_pdf_tool("main.pdf", payload, paper, pages=pages).startswith("Refused: pages")


def test_the_tool_says_where_the_paper_ends(payload: Path, paper: Path) -> None:
    assert parse_pdf_tool("main.pdf", payload, paper, pages="9") == "There is no page 9; the paper has pages 1 to 3."


def test_a_long_paper_is_cut_at_a_page_and_the_rest_can_be_asked_for(payload: Path, paper: Path) -> None:
    first = parse_pdf_tool("main.pdf", payload, paper, limit=120)
    assert "Main one." in first
    assert first.endswith("[cut here: ask again with pages='3-', or read /work/payload/paper.md]\n")
    assert "Main three." in parse_pdf_tool("main.pdf", payload, paper, pages="3-", limit=120)


def test_a_long_paper_without_pages_is_cut_and_says_where_the_rest_is(payload: Path, tmp_path: Path) -> None:
    paper = tmp_path / "paper.md"
    paper.write_text("word " * 100)
    answer = parse_pdf_tool("main.pdf", payload, paper, limit=50)
    assert answer.endswith("[cut here: 450 more characters; read /work/payload/paper.md]\n")
