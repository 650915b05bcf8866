"""Rows of a page into Markdown: paragraphs joined across line ends, headings, tables.

A word broken at a line's end is mended with the document's own words: `perov-` + `skite` becomes one word, `first-` +
`principles` keeps its hyphen where both halves or the hyphenated word occur elsewhere. A number such as `10-4` whose
exponent can't be told from a range is marked `[exponent?]`, never silently passed on.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from matproof.papers.exponents import mark_doubtful, written_out
from matproof.papers.layout import Row, text_of
from matproof.papers.link_patterns import continues, ends_in_link
from matproof.papers.markers import page_marker

_BULLET = re.compile(r"(?:[•◦▪‣–*-]\s|\(?\d{1,2}[.)]\s|\[\d{1,3}\]|(?:Table|Figure|Fig\.)\s\w{1,4}[.:])")
_NUMBERED_HEADING = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?\s+)?[A-Z]")
_LIST_MARK = re.compile(r"[\[(]?\d{1,3}[\])]?[.:]?|[•◦▪‣–-]")
_WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:-[A-Za-zÀ-ɏ]+)*")


@dataclass(slots=True)
class Paragraph:
    """Rows that belong together."""

    rows: list[Row] = field(default_factory=list)
    table: bool = False

    @property
    def size(self) -> float:
        """Font size of most of it."""
        return median(row.size for row in self.rows)


def to_markdown(pages: Sequence[Sequence[Row | str]], extras: Sequence[str]) -> str:
    """All pages, each after its marker. Strings among the rows are blocks of their own, such as figures.

    `extras` is turned text, one string a page, that follows the rest of it.
    """
    text = [[row for row in rows if isinstance(row, Row)] for rows in pages]
    body = _body_size(text)
    words = _vocabulary(text)
    parts: list[str] = []
    for number, (rows, extra) in enumerate(zip(pages, extras, strict=True), start=1):
        pieces = (each if isinstance(each, str) else _block(each, body, words) for each in _pieces(rows))
        blocks = [piece for piece in pieces if piece]
        blocks += [extra] if extra else []
        parts += [page_marker(number, empty=not blocks), *blocks]
    return "\n\n".join(parts) + "\n"


def join_lines(lines: Sequence[str], words: frozenset[str]) -> str:
    """One paragraph's lines as one, broken words mended."""
    text = ""
    for line in lines:
        text = _join(text, line, words) if text else line
    return text.replace("\u00ad", "")


def _join(text: str, line: str, words: frozenset[str]) -> str:
    if ends_in_link(text) and continues(text.rsplit(None, 1)[-1], line):
        return text + line
    if text[-1] not in "-\u00ad‐":
        return f"{text} {line}"
    stem = re.search(r"([A-Za-zÀ-ɏ]+)[-\u00ad‐]$", text)
    rest = re.match(r"[a-zà-ɏ]+", line)
    if text[-1] == "\u00ad" and rest is not None:
        return text[:-1] + line
    if stem is None or rest is None:
        return f"{text[:-1]}-{line}"
    first, second = stem[1].lower(), rest.group()
    compound = f"{first}-{second}" in words or (first in words and second in words and min(len(first), len(second)) > 3)
    if first + second not in words and compound:
        return f"{text[:-1]}-{line}"
    return text[:-1] + line


def _body_size(pages: Sequence[Sequence[Row]]) -> float:
    sizes = Counter(round(g.size * 2) / 2 for rows in pages for row in rows for s in row.segments for g in s.glyphs)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _vocabulary(pages: Sequence[Sequence[Row]]) -> frozenset[str]:
    """Words that stand inside lines, in lower case; a line's last word may be half a word."""
    found: set[str] = set()
    for rows in pages:
        for row in rows:
            for segment in row.segments:
                inner = _WORD.findall(text_of(segment))[1:-1]
                found.update(word.lower() for word in inner)
    return frozenset(found)


def _pieces(rows: Sequence[Row | str]) -> Iterator[Paragraph | str]:
    """Paragraphs and blocks in their order."""
    for is_text, group in itertools.groupby(rows, key=lambda row: isinstance(row, Row)):
        if is_text:
            yield from _paragraphs([row for row in group if isinstance(row, Row)])
        else:
            yield from (block for block in group if isinstance(block, str))


def _paragraphs(rows: Sequence[Row]) -> Iterator[Paragraph]:
    gaps = [a.base - b.base for a, b in itertools.pairwise(rows) if 0 < a.base - b.base < 3 * a.size]
    leading = median(gaps) if gaps else 12.0
    current = Paragraph()
    for index, row in enumerate(rows):
        following = rows[index + 1] if index + 1 < len(rows) else None
        table = len(row.segments) > 1 or (current.table and _gap_in_table(row, following, current.rows))
        if current.rows and (table != current.table or _breaks(current, row, leading)):
            yield current
            current = Paragraph()
        current.rows.append(row)
        current.table = table
    if current.rows:
        yield current


def _gap_in_table(row: Row, following: Row | None, above: Sequence[Row]) -> bool:
    """Whether a row of one cell is a table's row with empty cells, or the end of a wrapped cell."""
    cell = row.segments[0]
    if cell.x1 - cell.x0 >= 0.4 * (row.right - row.left):
        return False
    if following is not None and len(following.segments) > 1:
        return True
    drop = above[-1].base - row.base
    columns = [other.x0 for each in above if len(each.segments) > 1 for other in each.segments]
    first = min(columns, default=cell.x0)
    reach = 1.4 if cell.x0 < first + 3 else 2.5
    return 0 < drop < reach * row.size and any(abs(cell.x0 - x0) < 3 for x0 in columns)


def _breaks(paragraph: Paragraph, row: Row, leading: float) -> bool:
    last = paragraph.rows[-1]
    drop = last.base - row.base
    if paragraph.table:
        return not 0 < drop < 3 * max(leading, row.size)
    ended = text_of(last.segments[-1])[-1:] in ".!?:"
    short = last.segments[-1].x1 < last.right - 0.2 * (last.right - last.left)
    if drop <= 0 or row.left != last.left:
        return ended or abs(row.size - last.size) > 0.1 * last.size
    first = row.segments[0]
    return (
        drop > 1.4 * min(leading, 1.6 * row.size)
        or abs(row.size - last.size) > 0.12 * last.size
        or first.bold != last.segments[0].bold
        or bool(_BULLET.match(text_of(first)))
        or (first.x0 - last.segments[0].x0 > 0.8 * row.size and (ended or short))
        or (ended and short)
    )


def _block(paragraph: Paragraph, body: float, words: frozenset[str]) -> str:
    if paragraph.table:
        return mark_doubtful(written_out(_table(paragraph.rows, words)))
    lines = [_safe(text_of(row.segments[0])) for row in paragraph.rows]
    text = mark_doubtful(written_out(join_lines([line for line in lines if line], words)))
    if len(paragraph.rows) <= 3 and len(text) <= 250 and paragraph.size >= 1.15 * body:
        return f"{'#' if paragraph.size >= 1.5 * body else '##'} {text}"
    bold = all(segment.bold for row in paragraph.rows for segment in row.segments)
    if (
        bold
        and len(paragraph.rows) == 1
        and len(text) <= 80
        and _NUMBERED_HEADING.match(text)
        and text[-1] not in ".,;:"
    ):
        return f"### {text}"
    return text


def _safe(text: str) -> str:
    """`text` that can't pass for one of our page markers."""
    return text.replace("<!--", "&lt;!--").strip()


def _table(rows: Sequence[Row], words: frozenset[str]) -> str:
    """A Markdown table where the cells stand in columns, a list where it is one, else one line a row."""
    cells = [[(s.x0, s.x1, _safe(text_of(s)).replace("|", "\\|")) for s in row.segments] for row in rows]
    columns = _columns([(x0, x1) for row in cells for x0, x1, _ in row])
    lines: list[list[str]] = []
    for row in cells:
        line = [""] * len(columns)
        for x0, x1, text in row:
            at = next(i for i, (low, high) in enumerate(columns) if low <= (x0 + x1) / 2 <= high)
            line[at] = f"{line[at]} {text}".strip()
        lines.append(line)
    if len(columns) < 2 or len(rows) < 2:
        return "\n".join("  ".join(text for _, _, text in row) for row in cells)
    if len(columns) == 2 and _is_list(lines):
        return _listed(lines, words)
    lines = _unwrapped(lines, [above.base - below.base for above, below in itertools.pairwise(rows)])
    lines.insert(1, ["---"] * len(columns))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _is_list(lines: Sequence[Sequence[str]]) -> bool:
    """Whether two columns are the numbers or bullets of a list, such as references, and its text."""
    marks = [line[0] for line in lines if line[0]]
    return all(map(_LIST_MARK.fullmatch, marks)) and any(len(line[1]) > 40 for line in lines)


def _listed(lines: Sequence[Sequence[str]], words: frozenset[str]) -> str:
    """One paragraph for each mark."""
    items: list[list[str]] = []
    for mark, text in lines:
        if mark or not items:
            items.append([])
        items[-1] += [part for part in (f"{mark} {text}".strip(),) if part]
    return "\n\n".join(join_lines(item, words) for item in items)


def _unwrapped(lines: list[list[str]], gaps: list[float]) -> list[list[str]]:
    """Lines of the same row put together: those nearer to one another than rows are, where one has empty cells."""
    if not gaps or max(gaps) < 1.25 * min(gaps):
        return lines
    limit = (min(gaps) + max(gaps)) / 2
    rows, last = [list(lines[0])], lines[0]
    for line, gap in zip(lines[1:], gaps, strict=True):
        if gap < limit and not (all(line) and all(last)):
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], line, strict=True)]
        else:
            rows.append(list(line))
        last = line
    return rows


def _columns(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged
