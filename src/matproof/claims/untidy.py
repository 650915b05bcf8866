"""Reading what experts send: YAML or JSON whatever the file's ending, with the mistakes that people make in both.

`read_documents` never raises on content: it answers the documents that could be read, with a note for every repair,
or a line that says why nothing could be read. Repairs never change words: they quote a value that YAML can't take
unquoted, turn tabs into spaces, or drop trailing commas.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from matproof.claims import strict_yaml
from matproof.core.errors import InputError

MAX_BYTES = 20_000_000
_MAX_REPAIRS = 200
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}
_VALUE = re.compile(r"^(\s*(?:-\s+)*(?:[A-Za-z_][\w -]*:\s+)?)(\S.*)$")
_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a file's text."""

    documents: tuple[Any, ...]
    notes: tuple[str, ...]
    problem: str | None = None
    """Why nothing could be read."""


def read_documents(data: bytes) -> Reading:
    """Every document in a submission file as plain data."""
    if len(data) > MAX_BYTES:
        return Reading((), (), f"larger than {MAX_BYTES} bytes")
    text, notes = _decode(data)
    if not text.strip():
        return Reading((), notes, "empty")
    reading = _as_json(text) if text.lstrip()[:1] in "{[" else None
    reading = reading or _as_yaml(text) or _as_json(text)
    if reading is None and text.lstrip()[:1] in "{[":
        return Reading((), notes, _json_problem(text))
    if reading is None:
        return _as_repaired_yaml(text, notes)
    return Reading(reading.documents, (*notes, *reading.notes))


def unquote(text: str) -> str:
    """`text` without surrounding white space and stray quotes.

    A pair around the whole goes; a lone quote at one end goes where it has no partner. Quotes that belong to the
    words, as in `"a" or "b"` and `echo "x"`, stay.
    """
    text = text.strip()
    while len(text) >= 2:
        first, last, inner = text[0], text[-1], text[1:-1]
        closing = _QUOTES.get(first)
        if closing == last and first not in inner and last not in inner:
            text = inner.strip()
        elif first == text[1] and closing == first and len(text) > 2:
            text = text[1:-1] if text.endswith(first * 2) else text[1:]
        elif first in '"“”' and sum(text.count(mark) for mark in '"“”') == 1:
            text = text[1:].strip()
        elif last in '"“”' and sum(text.count(mark) for mark in '"“”') == 1:
            text = text[:-1].strip()
        elif (first == "'" and text.count("'") == 1) or (last == "'" and text.count("'") == 1 and text[-2:-1] in ".!?"):
            text = text.strip("'").strip()
        else:
            break
    return "" if text in {*_QUOTES, *_QUOTES.values()} else text


def _decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if data.startswith(mark):
            try:
                return data.decode(encoding).replace("\0", ""), ()
            except UnicodeDecodeError:
                continue
    text = data.decode("cp1252", "replace").replace("\0", "")
    return text, ("not UTF-8, read as Windows-1252: check special characters",)


def _as_json(text: str) -> Reading | None:
    """Strict JSON, JSON with trailing commas or comments, or several JSON values one after another."""
    for candidate, notes in ((text, ()), (_without_trailing_commas(text), ("trailing commas dropped",))):
        documents, decoder, position = [], json.JSONDecoder(strict=False, object_pairs_hook=_once), 0
        try:
            while position < len(candidate):
                value, position = decoder.raw_decode(candidate, position)
                documents.append(strict_yaml.plain(value))
                position += len(candidate[position:]) - len(candidate[position:].lstrip(" \t\r\n,"))
        except (ValueError, RecursionError):
            continue
        return Reading(tuple(documents), notes)
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once each; of two equal ones JSON would keep the last and lose a claim."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _json_problem(text: str) -> str:
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: not valid JSON ({error.msg})"
    except (ValueError, RecursionError) as error:
        return f"not valid JSON ({error})"
    return "a key stands twice in one object"


def _without_trailing_commas(text: str) -> str:
    parts = re.split(r'("(?:\\.|[^"\\])*")', text)
    parts[::2] = [re.sub(r",(\s*(?:[}\]]|$))", r"\1", part) for part in parts[::2]]
    joined = "".join(parts)
    return re.sub(r",(\s*[}\]])", r"\1", joined) if '"' not in text else joined


def _as_yaml(text: str) -> Reading | None:
    try:
        return Reading(tuple(strict_yaml.parse_all(text, file="")), ())
    except InputError:
        return None


def _as_repaired_yaml(text: str, notes: tuple[str, ...]) -> Reading:
    """YAML with tabs as spaces and, one after another, the lines quoted that the parser stumbles over."""
    lines = re.sub(r"\t", "  ", text).splitlines()
    notes = (*notes, "tabs read as spaces") if "\t" in text else notes
    repaired: set[int] = set()
    problem = "not valid YAML"
    for _ in range(_MAX_REPAIRS):
        try:
            documents = strict_yaml.parse_all("\n".join(lines) + "\n", file="")
        except InputError as error:
            found = _LINE.search(error.field)
            problem = f"{error.field}: {error.problem}" if found else error.problem
            index = _repairable(lines, int(found.group(1)) - 1 if found else -1, repaired)
            if index is None:
                return Reading((), notes, problem)
            repaired.add(index)
            lines[index] = _quoted(lines[index])
            continue
        return Reading(
            tuple(documents), (*notes, *(f"line {i + 1}: quoted to make it readable" for i in sorted(repaired)))
        )
    return Reading((), notes, problem)


def _repairable(lines: list[str], index: int, repaired: set[int]) -> int | None:
    """The line to quote: the one the parser names or, where that can't be it, the one before with a value."""
    for candidate in (index, index - 1):
        if 0 <= candidate < len(lines) and candidate not in repaired and _quoted(lines[candidate]) != lines[candidate]:
            return candidate
    return None


def _quoted(line: str) -> str:
    match = _VALUE.match(line)
    if match is None or not match.group(1).strip() or match.group(2)[0] in "|>&*":
        return line
    value = match.group(2).rstrip()
    return match.group(1) + "'" + unquote(value).replace("'", "''") + "'"
