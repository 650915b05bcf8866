"""Whether what a judge cites is there: the file inside the run, the quote or number at its place.

A program can't tell whether a citation supports a score. It can tell whether there is such a place, so that a person
finds it, and whether a judge invents its evidence. Every answer is a fact about the files as the judge was shown them;
nothing here raises for anything that a judge or an agent wrote.
"""

from matproof.evaluation.cells import Cell, NoCellError, find_cell
from matproof.evaluation.quoting import WIDEST, Place, find_number, find_quote, too_wide
from matproof.evaluation.shown import Content, NotShownError, Shown
from matproof.records.judgement import CheckedCitation, Citation

SLACK_LINES = 2
"""Lines before and after the stated ones in which a quote or number may stand."""
LONG_BYTES = 2_000_000
"""In a file beyond this, a citation says in which lines or cell: nobody else would find it there."""
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")


class _UnverifiedError(Exception):
    """What is cited is not there; `str` says how, in words for the judge."""


def check(citation: Citation, shown: Shown) -> CheckedCitation:
    """`citation` with whether it is verified, where it was found, and the file's hash."""
    name, sha256, at, problem = citation.file, None, None, None
    try:
        _refuse_nonsense(citation)
        name = shown.name_of(citation.file)
        if citation.absent:
            problem = None if shown.is_absent(citation.file) else "it is said to be absent, and something is there"
        else:
            content = shown.read(citation.file)
            sha256 = content.sha256
            at = _look(citation, content)
    except (_UnverifiedError, NotShownError, NoCellError) as error:
        problem = str(error)
    except (ValueError, OverflowError, RecursionError):  # hostile values that no rule above foresaw
        problem = "it can't be looked up"
    return CheckedCitation(
        **citation.model_dump(exclude={"file"}),
        file=name[:500] or citation.file,
        verified=problem is None,
        problem=problem,
        at=None if at is None else list(at),
        sha256=sha256,
    )


def is_image(data: bytes) -> bool:
    """Whether bytes begin as a PNG, JPEG, GIF or WebP image does."""
    return data.startswith(_IMAGES) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")


def _refuse_nonsense(citation: Citation) -> None:
    if citation.absent and (citation.quote is not None or citation.number is not None):
        raise _UnverifiedError("what is absent holds no quote and no number")
    if citation.lines is not None and citation.lines[1] < citation.lines[0]:
        raise _UnverifiedError("its last line comes before its first")
    if citation.number is not None and too_wide(citation.number, citation.precision):
        raise _UnverifiedError(f"its precision is wider than {WIDEST:.0%} of the number, which shows nothing")


def _look(citation: Citation, content: Content) -> Place | None:
    """Where the quote and the number stand; None for an image. Raises _UnverifiedError, NoCellError."""
    if citation.quote is None and citation.number is None:
        if is_image(content.data):
            return None
        raise _UnverifiedError("it gives neither a quote nor a number")
    if content.lines is None:
        raise _UnverifiedError("the file is not text: cite a log or a table made from it")
    if citation.row is not None or citation.column is not None:
        return _look_in_cell(citation, find_cell(content.name, content.lines, citation.row, citation.column))
    long = len(content.data) > LONG_BYTES
    if long and citation.lines is None:
        raise _UnverifiedError(f"the file is longer than {LONG_BYTES // 1_000_000} MB: give the lines")
    return _look_in_lines(citation, content.lines, hint=not long)


def _window(citation: Citation, count: int) -> Place:
    """Lines to look in. Raises _UnverifiedError where the file has no such lines."""
    if citation.lines is None:
        return 1, count
    first, last = citation.lines
    if first > count:
        raise _UnverifiedError(f"the file has {count} lines")
    return max(1, first - SLACK_LINES), min(count, last + SLACK_LINES)


def _look_in_lines(citation: Citation, lines: tuple[str, ...], *, hint: bool) -> Place:
    """Where the quote, and in its lines the number, stand; with a `hint`, what else the judge may have meant."""
    first, last = _window(citation, len(lines))
    found: Place | None = None
    if citation.quote is not None:
        found = find_quote(citation.quote, lines[first - 1 : last], first)
        if found is None:
            raise _UnverifiedError(_elsewhere("the quote", find_quote(citation.quote, lines, 1) if hint else None))
    low, high = found or (first, last)
    if citation.number is not None:
        place = _find_number(citation, lines[low - 1 : high], low)
        if place is None:
            raise _UnverifiedError(_elsewhere("the number", _find_number(citation, lines, 1) if hint else None))
        found = found or place
    return found or (low, high)


def _find_number(citation: Citation, lines: tuple[str, ...], first: int) -> Place | None:
    if citation.number is None:
        return None
    return find_number(citation.number, citation.precision, citation.unit, lines, first)


def _elsewhere(what: str, place: Place | None) -> str:
    if place is None:
        return f"{what} is not there"
    return f"{what} is not there; it stands in lines {place[0]} to {place[1]}"


def _look_in_cell(citation: Citation, cell: Cell) -> Place:
    if citation.quote is not None and find_quote(citation.quote, [cell.text], 1) is None:
        raise _UnverifiedError("the cell does not hold the quote")
    if citation.number is not None:
        found = find_number(citation.number, citation.precision, citation.unit, [cell.text], 1, cell.unit)
        if found is None:
            raise _UnverifiedError("the cell does not hold the number")
    return cell.line, cell.line
