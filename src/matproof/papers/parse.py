"""The station `parse`: a claim's paper as Markdown without links to released code.

A `paper.md` is taken as it is; else each PDF of `agent_view/` is parsed, once for its content, parser and parser
version, and kept in the cache with its links. Links are cut afterwards, so a better rule for links needs no new parse.
"""

from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import read_text, sha256_of, write_json, write_text
from matproof.papers.links import RemovedLink, remove_links
from matproof.papers.markers import file_marker
from matproof.papers.parsers import Parser, parser_named
from matproof.records.base import Record


class LinksRecord(Record):
    """`paper.links.json`: what was cut out of `paper.md`, for people; no agent sees it."""

    claim: str
    """Name of the claim's directory."""
    sources: dict[str, str]
    """File below `agent_view/` → SHA-256 of its bytes."""
    parser: str | None
    """Parser and its version; null where the claim brings `paper.md`."""
    links: list[RemovedLink]
    """Every link, by line of the text before removal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseSummary:
    """What one call did."""

    out: Path
    """The Markdown it wrote."""
    links_file: Path
    """The list of removed links beside it."""
    sources: tuple[str, ...]
    """Files below `agent_view/` that the text comes from."""
    parser: str | None
    """Parser and its version; None where the claim brings `paper.md`."""
    cached: int
    """PDFs whose text was in the cache."""
    links: int
    """Links cut out."""
    characters: int
    """Length of the text written."""


def parse_claim(
    claim_dir: Path, out: Path, cache: Path | None = None, parser: str = "light", *, timeout_s: float = 120.0
) -> ParseSummary:
    """Write the claim's paper to `out` and the links cut from it to `paper.links.json` beside it.

    `cache` is a directory that may be shared by processes; None parses anew. `timeout_s` is seconds for one PDF.
    Raises InputError for a claim without a paper, an empty one, and a PDF without text.
    """
    view = claim_dir / "agent_view"
    written = view / "paper.md"
    cached = 0
    label: str | None = None
    if written.exists():
        sources = [written]
        text = read_text(_inside(claim_dir, written))
        if not text.strip():
            raise InputError(written, "", "the paper is empty", "write its text there, or remove it and give a PDF")
    else:
        sources = sorted(path for path in view.glob("*") if path.suffix.lower() == ".pdf")
        if not sources:
            raise InputError(view, "", "no paper", "put paper.md or the paper's PDF there")
        reader = parser_named(parser, timeout_s=timeout_s)
        label = f"{reader.name} {reader.version}"
        parsed = [(pdf, *_parsed(_inside(claim_dir, pdf), reader, cache)) for pdf in sources]
        cached = sum(hit for _, _, hit in parsed)
        text = _together([(pdf.name, markdown) for pdf, markdown, _ in parsed])
    clean, links = remove_links(text)
    record = LinksRecord(
        claim=claim_dir.resolve().name,
        sources={path.name: sha256_of(path) for path in sources},
        parser=label,
        links=links,
    )
    links_file = out.with_suffix(".links.json")
    write_text(out, clean)
    write_json(links_file, record)
    return ParseSummary(
        out=out,
        links_file=links_file,
        sources=tuple(path.name for path in sources),
        parser=label,
        cached=cached,
        links=len(links),
        characters=len(clean),
    )


def _together(papers: list[tuple[str, str]]) -> str:
    if len(papers) == 1:
        return papers[0][1]
    return "\n".join(f"{file_marker(name)}\n\n# {name}\n\n{markdown}" for name, markdown in papers)


def _parsed(pdf: Path, parser: Parser, cache: Path | None) -> tuple[str, bool]:
    """The PDF's Markdown, and whether the cache had it."""
    if cache is None:
        return parser.parse(pdf), False
    kept = cache / f"{sha256_of(pdf)}.{parser.name}-{parser.version}.md"
    if kept.is_file():
        return kept.read_text(encoding="utf-8"), True
    markdown = parser.parse(pdf)
    write_text(kept, markdown)
    return markdown, False


def _inside(claim_dir: Path, path: Path) -> Path:
    """`path`, unless a link leads it out of the claim."""
    if not path.resolve().is_relative_to(claim_dir.resolve()):
        raise InputError(path, "", "a link that leaves the claim", "put the file itself there")
    if not path.is_file():
        raise InputError(path, "", "not a plain file", "put the paper there")
    return path
