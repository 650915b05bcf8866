"""The station `parse`: a claim's paper as Markdown without links to released code.

A `paper.md` is taken as it is; else each PDF of `agent_view/` is parsed, once for its content, parser and parser
version, and kept in the cache with its links and figures. Links are cut afterwards, so a better rule for links needs no
new parse; a figure in which one can be read is left out.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import read_text, sha256_of, write_bytes, write_json, write_text
from matproof.papers.links import RemovedLink, remove_links
from matproof.papers.markers import FIGURE_NAME, FIGURES, LONGEST_TEXT, figure_text, file_marker
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
    figures: int
    """Pictures of figures, in `<paper>.figures/` beside the text."""
    links: int
    """Links cut out, with the figures that showed one."""
    characters: int
    """Length of the text written."""


def parse_claim(
    claim_dir: Path,
    out: Path,
    cache: Path | None = None,
    parser: str = "light",
    *,
    timeout_s: float | None = None,
    warn: Callable[[str], None] | None = None,
) -> ParseSummary:
    """Write the claim's paper to `out`; beside it its figures and, in `paper.links.json`, the links cut from it.

    `cache` is a directory that may be shared by processes; None parses anew. `timeout_s` is seconds for one PDF, the
    parser's own if not given.
    `warn` gets a line where another parser than asked for is used. Raises InputError for a claim without a paper, an
    empty one, and a PDF without text.
    """
    view = claim_dir / "agent_view"
    written = view / "paper.md"
    cached = 0
    label: str | None = None
    shown = out.with_suffix(f".{FIGURES}")
    pictures: dict[str, bytes] = {}
    if written.exists():
        sources = [written]
        text = read_text(_inside(claim_dir, written))
        if not text.strip():
            raise InputError(written, "", "the paper is empty", "write its text there, or remove it and give a PDF")
    else:
        sources = sorted(path for path in view.glob("*") if path.suffix.lower() == ".pdf")
        if not sources:
            raise InputError(view, "", "no paper", "put paper.md or the paper's PDF there")
        reader = parser_named(parser, timeout_s=timeout_s, warn=warn)
        label = f"{reader.name} {reader.version}"
        papers: list[tuple[str, str]] = []
        for number, pdf in enumerate(sources, start=1):
            with _parsed(_inside(claim_dir, pdf), reader, cache) as (parsed, hit):
                cached += hit
                prefix = f"{number}-" if len(sources) > 1 else ""
                markdown = read_text(parsed / "paper.md")
                papers.append((pdf.name, _with_pictures(markdown, parsed / FIGURES, prefix, shown, pictures)))
        text = _together(papers)
    clean, links = remove_links(text)
    record = LinksRecord(
        claim=claim_dir.resolve().name,
        sources={path.name: sha256_of(path) for path in sources},
        parser=label,
        links=links,
    )
    links_file = out.with_suffix(".links.json")
    _write_pictures(shown, pictures)
    write_text(out, clean)
    write_json(links_file, record)
    return ParseSummary(
        out=out,
        links_file=links_file,
        sources=tuple(path.name for path in sources),
        parser=label,
        cached=cached,
        figures=len(pictures),
        links=len(links),
        characters=len(clean),
    )


def _together(papers: list[tuple[str, str]]) -> str:
    if len(papers) == 1:
        return papers[0][1]
    return "\n".join(f"{file_marker(name)}\n\n# {name}\n\n{markdown}" for name, markdown in papers)


@contextmanager
def _parsed(pdf: Path, parser: Parser, cache: Path | None) -> Iterator[tuple[Path, bool]]:
    """A directory of the PDF's `paper.md` and `figures/`, and whether the cache had it."""
    kept = None if cache is None else cache / f"{sha256_of(pdf)}.{parser.name}-{parser.version}"
    if kept is not None and kept.is_dir():
        yield kept, True
        return
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".parse-") as scratch:
        made = Path(scratch, "parsed")
        (made / FIGURES).mkdir(parents=True)
        write_text(made / "paper.md", parser.parse(pdf, made / FIGURES))
        if kept is not None:
            try:
                made.rename(kept)
            except OSError:
                if not kept.is_dir():
                    raise
                # another process was faster; what it kept is the same
            made = kept
        yield made, False


def _with_pictures(markdown: str, figures: Path, prefix: str, shown: Path, pictures: dict[str, bytes]) -> str:
    """`markdown` with its pictures named as they will lie beside it; they are added to `pictures`."""
    for picture in sorted(figures.iterdir()):
        here = f"]({FIGURES}/{picture.name})"
        if not FIGURE_NAME.fullmatch(picture.name) or here not in markdown:
            continue
        written = figure_text(markdown, picture.name)
        _, found = remove_links(written)
        if found:
            start, _, end = markdown.partition(here)
            markdown = f"{start[: start.rindex('![')]}[figure left out: it shows a link]{end}"
            continue
        # Only now: the picture shows all of it.
        if len(written) > LONGEST_TEXT:
            markdown = markdown.replace(written, f"{written[:LONGEST_TEXT]} …", 1)
        pictures[prefix + picture.name] = picture.read_bytes()
        markdown = markdown.replace(here, f"]({shown.name}/{prefix}{picture.name})")
    return markdown


def _write_pictures(folder: Path, pictures: dict[str, bytes]) -> None:
    """Make `folder` hold just these; without any there is none. Raises InputError where something else has its name."""
    ours = folder.is_dir() and not folder.is_symlink()
    if folder.exists() and not (ours and all(FIGURE_NAME.search(each.name) for each in folder.iterdir())):
        raise InputError(folder, "", "exists and is no directory of figures", "move it away, or give another --out")
    if ours:
        shutil.rmtree(folder)
    for name, data in pictures.items():
        write_bytes(folder / name, data)


def _inside(claim_dir: Path, path: Path) -> Path:
    """`path`, unless a link leads it out of the claim."""
    if not path.resolve().is_relative_to(claim_dir.resolve()):
        raise InputError(path, "", "a link that leaves the claim", "put the file itself there")
    if not path.is_file():
        raise InputError(path, "", "not a plain file", "put the paper there")
    return path
