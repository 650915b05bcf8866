"""Where a judge's citations lead: to the line of the file that it names, on that file's page.

A citation names a file as the judge saw it, below the attempt or below its artifacts. Where it gives no line, the
quote is looked for; where nothing is found, the link leads to the file, and where there is no page, to the file itself.
"""

from dataclasses import dataclass, field
from pathlib import Path

from matproof.records.evaluation import EvaluationRecord
from matproof.records.judgement import CheckedCitation
from matproof.report import evidence
from matproof.report.viewer import FilePage, FilePages, line_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A citation as a page shows it."""

    file: str
    quote: str
    """Text or number as cited; empty where the file itself is."""
    shows: str
    href: str | None
    place: str
    """`line 12`, `row 3, column energy, line 4`, or nothing."""
    verified: bool | None
    """What the program that checks citations found; None where none did."""
    problem: str | None
    """Why it is not verified."""


@dataclass(slots=True)
class Citations:
    """The citations of one run's judgements."""

    pages: FilePages
    parts: str
    raw: str | None
    """Link to the attempt; None where pages don't link to files themselves."""
    _known: dict[str, str | None] = field(default_factory=dict)

    def prepare(self, evaluation: EvaluationRecord) -> None:
        """Make the pages of the files that `evaluation` cites, before others use up the limits."""
        for piece in cited_in(evaluation):
            self._page(piece.file)

    def view(self, piece: CheckedCitation) -> Cited:
        """`piece` with its link."""
        page = self._page(piece.file)
        first, last = piece.at or piece.lines or (None, None)
        if page is not None and first is None and piece.quote:
            first = last = line_of(page, piece.quote)
        return Cited(
            file=piece.file,
            quote=_said(piece),
            shows=piece.shows,
            href=self._href(piece.file, page, first, last),
            place=_place(piece, first, last),
            verified=piece.verified,
            problem=piece.problem,
        )

    def link(self, file: str, line: int | None) -> str | None:
        """Link to `line` of a file that a program names, or to the file; None where it can't be shown."""
        return self._href(file, self._page(file), line, None)

    def _page(self, cited: str) -> FilePage | None:
        path = self._path(cited)
        return self.pages.page(path) if path is not None else None

    def _path(self, cited: str) -> str | None:
        if cited not in self._known:
            self._known[cited] = evidence.cited_file(self.pages.attempt, cited)
        return self._known[cited]

    def _href(self, cited: str, page: FilePage | None, first: int | None, last: int | None) -> str | None:
        if page is not None:
            shown = first is not None and first <= len(page.lines)
            place = "" if not shown else f"#L{first}" if last in (None, first) else f"#L{first}-L{last}"
            return f"{self.parts}{page.name}{place}"
        path = self._path(cited)
        if self.raw is None or path is None or Path(path).suffix.lower() not in evidence.LINKED:
            return None
        return f"{self.raw}/{evidence.quoted(path)}"


def cited_in(evaluation: EvaluationRecord) -> list[CheckedCitation]:
    """Every citation of a judgement: of its dimensions, their parts and its failure labels."""
    pieces = [piece for dimension in evaluation.dimensions for piece in dimension.evidence]
    return pieces + [piece for failure in evaluation.failure_labels for piece in failure.citations]


def _said(piece: CheckedCitation) -> str:
    if piece.absent:
        return "(that there is no such file)"
    if piece.quote is not None:
        return piece.quote
    if piece.number is None:
        return "(the file as a whole)"
    near = "" if piece.precision is None else f" ± {piece.precision:g}"
    return f"{piece.number!r}{near} {piece.unit}".strip()


def _place(piece: CheckedCitation, first: int | None, last: int | None) -> str:
    cell = [f"{name} {value}" for name, value in (("row", piece.row), ("column", piece.column)) if value is not None]
    if first is not None:
        cell.append(f"line {first}" if last in (None, first) else f"lines {first}–{last}")
    return ", ".join(cell)
