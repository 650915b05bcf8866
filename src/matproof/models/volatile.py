"""What differs from run to run in the text of tools and prompts: paths, times, random names, ids.

One pattern finds all of it in one pass, so that two things agree: `normalise`, which puts a placeholder for each
find and makes two runs comparable, and `finds`, which numbers them, so that a script can ask for "the second path in
the third tool result" of the run that it answers. Two properties are deliberate. Normalising twice changes nothing:
the placeholder's brackets count as parts of a word. And a find that is none (a file called `tmpfilename`) does no
harm, because it is taken for one in both runs.

The text is hostile: no part of the pattern looks further than one path or one line.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

MOST_KEPT = 2000
"""Longest normalised text that a script keeps whole, in characters."""
_HEAD = 1000
_SHOWN = 160
"""Of a line that differs."""
_READ = 200_000
"""Of a longer text, only so many characters are looked at."""
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?"
_CLOCK = r"[0-2]?\d:[0-5]\d:[0-5]\d"
_INNER = r"[^\s\"'`<>|;:,(){}\[\]⟨⟩*?&\\]{0,400}"
"""The rest of a path, as far as a shell needs no quotes."""
_BEFORE, _AFTER = r"(?<![\w⟩])", r"(?![\w⟨])"
_ROOT = r"(?<![\w/.<⟩-])"
"""Before a path: nothing that it could be the rest of, and no end of an element such as `</root>`."""

KINDS: tuple[tuple[str, str], ...] = (
    (
        # One line of `ls -l`, up to the name: owner, date and a directory's size are those of a machine.
        "listed",
        r"(?m:^)(?P<mode>[-bcdlps](?:[r-][w-][xsStT-]){3}[.+@]?) +\d+ +\S+ +\S+ +(?:\d+, +)?"
        r"(?P<size>\d[\d.]{0,20}[KMGT]?) +"
        rf"(?:{_MONTH} +\d\d? +(?:\d\d:\d\d|\d{{4}})|\d{{4}}-\d\d-\d\d +\d\d:\d\d(?::\d\d\.\d+ [+-]\d{{4}})?)(?= )",
    ),
    ("total", r"(?m:^)total \d+(?m:$)"),
    ("uuid", rf"{_BEFORE}[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}{_AFTER}"),
    ("path", rf"{_ROOT}/{_INNER}?/(?:\.claude|\.codex|tool-results)(?:/{_INNER})?(?<![.])"),
    ("path", rf"{_ROOT}/(?:(?:tmp|var/tmp|dev/shm|var/folders)/{_INNER}[^\s\"'`<>|;:,(){{}}\[\]⟨⟩*?&\\.])"),
    (
        "path",
        rf"{_ROOT}/(?:home/[\w.-]{{1,64}}|Users/[\w.-]{{1,64}}|run/user/\d{{1,10}}|root)(?:/{_INNER}|(?![\w-]|\.\w))(?<![.])",
    ),
    # What the clients put around a tool's own words.
    ("id", r"(?:(?<=agentId: )|(?<=session ID )|(?<=Chunk ID: )|(?<= with ID: )|(?<=task_id: ))\w{1,64}" + _AFTER),
    ("mktemp", rf"{_BEFORE}tmp(?:\.[A-Za-z0-9]{{6,12}}|[a-z0-9_]{{8}}){_AFTER}"),
    (
        "date",
        rf"{_BEFORE}\d{{4}}-[01]\d-[0-3]\d(?:[T_ ][0-2]\d:?[0-5]\d(?::?[0-5]\d(?:[.,]\d{{1,9}})?)?"
        rf"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?{_AFTER}",
    ),
    (
        "date",
        rf"{_BEFORE}{_DAY} +(?:\d\d? +)?{_MONTH}[a-z]{{0,6}} +(?:\d\d?,? +)?(?:\d{{4}} +)?{_CLOCK}(?: [AP]M)?"
        rf"(?: (?:[A-Z]{{3,5}}|[+-]\d{{4}}))?(?: \d{{4}})?{_AFTER}",
    ),
    ("date", rf"{_BEFORE}(?:{_DAY} )?{_MONTH}[a-z]{{0,6}} \d\d?, \d{{4}}{_AFTER}"),
    ("date", rf"{_BEFORE}20\d\d[01]\d[0-3]\d[T_-]?[0-2]\d[0-5]\d[0-5]\d{_AFTER}"),
    ("time", rf"{_BEFORE}{_CLOCK}(?:[.,]\d{{1,9}})?{_AFTER}"),
    ("epoch", rf"(?<![\w.⟩])(?:1[5-9]|2[01])\d{{8}}(?:\d{{3}}|\d{{6}}|\d{{9}})?(?:\.\d{{1,9}})?{_AFTER}"),
    ("address", rf"{_BEFORE}0x[0-9a-fA-F]{{6,16}}{_AFTER}"),
    ("hex", rf"(?<![\w.⟩])[0-9a-f]{{16,128}}{_AFTER}"),
    ("port", rf"(?:(?<=127\.0\.0\.1:)|(?<=localhost:))\d{{4,5}}{_AFTER}"),
    (
        "duration",
        r"(?:(?<=Wall time: )|(?<=duration_ms: )|(?<=duration_ms\":)|(?<=duration_ms\": )|(?<=Original token count: ))"
        rf"\d[\d.]{{0,20}}{_AFTER}",
    ),
    ("duration", rf"(?:(?<=real\t)|(?<=user\t)|(?<=sys\t))\d+m[\d.]{{1,10}}s{_AFTER}"),
    ("duration", rf"(?<= in )\d+(?:\.\d+)? ?(?:ms|s|seconds){_AFTER}"),
)
"""Kind → what it looks like; where two fit at one place, the earlier one counts."""
SOURCES = frozenset({"uuid", "path", "mktemp", "date", "time", "epoch", "address", "hex", "port", "id"})
"""Kinds whose value, said again by the model, was read rather than thought of: a duration could be any number."""
_ANY = "|".join(f"(?P<{kind}_{number}>{pattern})" for number, (kind, pattern) in enumerate(KINDS))


@dataclass(frozen=True, slots=True)
class Find:
    """One volatile part of a text."""

    kind: str
    """Such as `path`; `cwd` is the working directory."""
    start: int
    end: int
    shown: str
    """What stands for it in the normalised text."""


def normalise(text: str, cwd: str | None = None) -> str:
    """`text` with a placeholder such as `⟨path⟩` for each volatile part; `cwd` is the run's working directory."""
    parts, at = [], 0
    for find in finds(text, cwd):
        parts += [text[at : find.start], find.shown]
        at = find.end
    return "".join([*parts, text[at:]])


def finds(text: str, cwd: str | None = None) -> Iterator[Find]:
    """The volatile parts of `text`, from left to right."""
    for found in _pattern(cwd if cwd and cwd != "/" else None).finditer(text):
        kind = str(found.lastgroup).partition("_")[0]
        yield Find(kind, found.start(), found.end(), _listed(found) if kind == "listed" else f"⟨{kind}⟩")


def nth(text: str, kind: str, number: int, cwd: str | None = None) -> str:
    """Part `number` of its kind in `text`, counted from zero. Raises LookupError where there are not so many."""
    values = _values(text, cwd).get(kind, [])
    if not 0 <= number < len(values):
        raise LookupError(f"there is no {kind} number {number}, only {len(values)}")
    return values[number]


def expected(text: str, cwd: str | None = None) -> str:
    """What a script expects of `text` elsewhere: it normalised, or where that is long, its beginning, size and hash."""
    text = normalise(readable(text), cwd)
    if len(text) <= MOST_KEPT:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
    return f"{text[:_HEAD]}\n⟨cut: {len(text)} characters, sha256 {digest}⟩"


def readable(text: str) -> str:
    """As much of `text` as is looked at: whole lines, unless one alone is too long."""
    if len(text) <= _READ:
        return text
    return text[: text.rfind("\n", 0, _READ) + 1] or text[:_READ]


def difference(expected: str, found: str) -> str:
    """The first line in which two texts differ, in words."""
    pairs = zip([*expected.split("\n"), None], [*found.split("\n"), None], strict=False)
    number, (left, right) = next((at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    alike = takewhile(lambda both: both[0] == both[1], zip(left or "", right or "", strict=False))
    start = max(0, sum(1 for _ in alike) - _SHOWN // 2)
    return f"line {number} was {_quoted(left, start)}, is {_quoted(right, start)}"


@lru_cache(maxsize=64)
def _values(text: str, cwd: str | None) -> dict[str, list[str]]:
    """The volatile parts of `text` by kind: an answer may ask for hundreds of one result."""
    values: dict[str, list[str]] = {}
    for find in finds(text, cwd):
        values.setdefault(find.kind, []).append(text[find.start : find.end])
    return values


@lru_cache(maxsize=64)
def _pattern(cwd: str | None) -> re.Pattern[str]:
    if cwd is None:
        return re.compile(_ANY)
    here = re.escape(cwd.rstrip("/"))
    return re.compile(rf"(?P<cwd>(?:{_ROOT}|(?<=://)){here}(?![\w⟨-]|\.\w))|{_ANY}")


def _listed(found: re.Match[str]) -> str:
    mode, size = found["mode"], found["size"]
    return f"{mode} ⟨owner⟩ {'⟨size⟩' if mode.startswith('d') or len(size) > 9 else size} ⟨date⟩"


def _quoted(line: str | None, start: int) -> str:
    """As much of a line as tells the difference, which begins at `start` or soon after it."""
    if line is None:
        return "not there"
    if len(line) <= _SHOWN:
        return repr(line)
    end = start + _SHOWN
    return repr(f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}")
