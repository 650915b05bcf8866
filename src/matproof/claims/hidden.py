"""Hidden material where the agent would see it: what may appear under agent_view/, and what may not.

A supported claim states its expected values, and so does its paper: numbers alone betray nothing there. What betrays
something is reported: files of meta/ or reference/ by name, by content or through a link; the expert's steps word for
word; the expectations as data (names with their values, or a short file that is nothing but the answers); and, for a
contradicted claim, the true values in prose, because the agent is to find them. Data files are never searched for lone
numbers: in a large table any number appears by chance. docs/claims.md says the same to authors.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from matproof.claims.models import Expected, Quantity
from matproof.claims.problems import WHOLE, Problem
from matproof.claims.tree import Entry, read_bytes, walk

MAX_SEARCHED = 5_000_000
"""Bytes of the largest file that is searched for text; larger ones are data."""
LONG_STEP = 8
"""A step of at least this many words found word for word outside the paper is no accident."""
SHORT_STEP = 5
"""Steps of fewer words prove nothing."""
ANSWER_SHEET = 4_000
"""Bytes up to which a file may be a mere list of answers."""

_HIDDEN_NAMES = re.compile(
    r"^(expected|expectations?|expected[_-](values?|results?|outputs?)|procedure|provenance|answers?|answer[_-]key"
    r"|reference[_-]solution|rubric)\.[a-z]+$|^claim\.(yaml|yml|md)$",
    re.IGNORECASE,
)
_LICENCE = re.compile(r"^(licen[cs]e|copying|notice)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.])[-+−]?(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?(?:\s?[x×·]\s?10\^?\{?[-+−]?\d+\}?|[eE][-+−]?\d+)?"
    r"|(?<![\w.])[-+−]?\.\d+(?:[eE][-+−]?\d+)?"
)
_POWER = re.compile(r"\s?[x×·]\s?10\^?\{?([-+]?\d+)\}?")
_SEPARATOR = re.compile(r"[,\u00a0\u202f]")
_MARKED_OUTCOME = re.compile(r"^\W{0,8}outcome\W{1,4}(supported|contradicted)\b", re.IGNORECASE | re.MULTILINE)
_PROSE = {".txt", ".md", ".rst", ".tex", ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file of agent_view as it is searched."""

    entry: Entry
    where: Path
    """Path below agent_view."""
    text: str | None
    """None for data that is no text, or too large."""

    @property
    def is_paper(self) -> bool:
        return str(self.where) == "paper.md"

    @property
    def is_claim(self) -> bool:
        return str(self.where) == "claim.txt"

    @property
    def is_prose(self) -> bool:
        """A text for people: by its ending, and more words than numbers."""
        if self.text is None or self.where.suffix.lower() not in _PROSE:
            return False
        return self.is_claim or self.is_paper or len(re.findall(r"[A-Za-z]{2,}", self.text)) > len(numbers(self.text))


def hidden_material(root: Path, procedure: Path | None, expected: Expected | None, interprets: bool) -> list[Problem]:
    """Everything under agent_view/ that the agent must not see.

    `interprets`: whether the claim is about given final outputs, so that a file of results is legitimate input.
    """
    secret = _secret_files(root)
    steps = procedure_steps(_text(Entry(path=procedure, kind="file", real=procedure)) or "") if procedure else []
    problems: list[Problem] = []
    for seen in _visible_files(root):
        found = (
            _by_name(seen)
            or _by_content(seen, secret, root)
            or _by_steps(seen, steps)
            or _by_expectations(seen, expected, interprets)
        )
        if found is not None:
            problems.append(found)
    return problems


def procedure_steps(text: str) -> list[str]:
    """The expert's sentences, normalised to words, without headings, fenced markers and a repeated claim."""
    steps: list[str] = []
    skipping = False
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            skipping = bool(re.search(r"\bclaim\b", line, re.IGNORECASE)) and "reprod" not in line.lower()
            continue
        if skipping or re.match(r"\W*(claim|paper|title)\W*:", line, re.IGNORECASE):
            continue
        bare = re.sub(r"^\s*(?:[-*+]|(?:step\s*)?\d+[.):])\s+", "", line, flags=re.IGNORECASE)
        steps += [words(part) for part in re.split(r"(?<=[.;!?])\s+", bare)]
    return [step for step in steps if step.count(" ") + 1 >= SHORT_STEP]


def words(text: str) -> str:
    """Lower-case words and numbers separated by single spaces: what is compared, whatever the layout."""
    return " ".join(re.findall(r"[^\W_]+(?:[._][^\W_]+)*", text.replace("\\n", " ").lower()))


def numbers(text: str) -> list[float]:
    """Every number in a text; `1,545` counts as 1545 and as 1 and 545, `3 x 10^-4` as 0.0003."""
    found = []
    for match in _NUMBER.finditer(text):
        raw = _POWER.sub(r"e\1", match.group().replace("−", "-"))
        parts = _SEPARATOR.split(raw)
        found += [float(part) for part in ({"".join(parts), *parts} if len(parts) > 1 else parts)]
    return found


def significant_digits(value: float) -> int:
    """Digits of a number as people write it: 8.50 counts as 2, 1200 as 2, 8.524 as 4."""
    mantissa = f"{abs(value):.12g}".split("e")[0]
    return len(mantissa.replace(".", "").strip("0"))


def _visible_files(root: Path) -> Iterator[Seen]:
    view = root / "agent_view"
    for entry in walk(root, view) if view.is_dir() else ():
        if entry.kind == "file":
            yield Seen(entry=entry, where=entry.path.relative_to(view), text=_text(entry))


def _secret_files(root: Path) -> dict[str, Path]:
    """Digest of each hidden file's bytes and, for text, of its words."""
    found: dict[str, Path] = {}
    for folder in (root / "reference", root / "meta"):
        for entry in walk(root, folder) if folder.is_dir() else ():
            if entry.kind == "file" and not _LICENCE.match(entry.path.name):
                for digest in _digests(entry, _text(entry)):
                    found.setdefault(digest, entry.path)
    return found


def _digests(entry: Entry, text: str | None) -> list[str]:
    data = read_bytes(entry, MAX_SEARCHED + 1)
    if len(data) < 16:
        return []
    if len(data) <= MAX_SEARCHED:
        digests = [hashlib.sha256(data).hexdigest()]
    else:
        with entry.path.open("rb") as stream:
            digests = [hashlib.file_digest(stream, "sha256").hexdigest()]
    if text is not None and len(bare := words(text)) >= 16:
        digests.append("words:" + hashlib.sha256(bare.encode()).hexdigest())
    return digests


def _text(entry: Entry) -> str | None:
    try:
        data = read_bytes(entry, MAX_SEARCHED + 1)
        return None if len(data) > MAX_SEARCHED or b"\0" in data else data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _by_name(seen: Seen) -> Problem | None:
    if not _HIDDEN_NAMES.match(seen.where.name):
        return None
    return Problem(
        seen.entry.path,
        "(file name)",
        "is named like hidden material (the expected values or the procedure)",
        "move it to reference/ or meta/, or rename it if it is an input",
    )


def _by_content(seen: Seen, secret: dict[str, Path], root: Path) -> Problem | None:
    for digest in _digests(seen.entry, seen.text):
        source = secret.get(digest)
        if source is None or _carried_along(source.relative_to(root), seen.where):
            continue
        return Problem(
            seen.entry.path, WHOLE, f"hidden material: same content as {source.relative_to(root)}", "remove it here"
        )
    return None


def _carried_along(source: Path, where: Path) -> bool:
    """Whether a reference keeps a copy of an input or of the paper's figure under its own name: shown on purpose."""
    figure = where.parts[0] == "figures" and where.suffix.lower() in {".png", ".jpg", ".jpeg", ".svg"}
    same_place = source.parts[0] == "reference" and source.parts[-len(where.parts) :] == where.parts
    return figure or (where.parts[0] == "inputs" and same_place)


def _by_steps(seen: Seen, steps: list[str]) -> Problem | None:
    if seen.text is None or not steps:
        return None
    text = f" {words(seen.text)} "
    found = [step for step in steps if f" {step} " in text]
    long = any(step.count(" ") + 1 >= LONG_STEP for step in found)
    most = 2 * len(found) >= len(steps)
    # A paper describes its own method, so one sentence in common is natural there; elsewhere it was copied.
    if not (most and found) and not (long if not seen.is_paper else len(found) >= 2):
        return None
    quote = found[0] if len(found[0]) <= 60 else found[0][:57] + "..."
    problem = f"hidden material: {len(found)} of {len(steps)} steps of the procedure, such as '{quote}'"
    return Problem(seen.entry.path, WHOLE, problem, "remove the steps here; they belong to reference/procedure.md")


def _by_expectations(seen: Seen, expected: Expected | None, interprets: bool) -> Problem | None:
    if seen.text is None or expected is None:
        return None
    if _MARKED_OUTCOME.search(seen.text):
        return Problem(seen.entry.path, "outcome", "hidden material: says the claim's outcome", "remove it here")
    valued = [quantity for quantity in expected.quantities if quantity.value is not None]
    if expected.outcome == "contradicted" and seen.is_prose:
        for quantity in valued:
            if not quantity.stated and _appears(quantity, seen.text):
                return Problem(
                    seen.entry.path,
                    quantity.name,
                    f"hidden material: holds the true value {quantity.value:g}, which the agent is to find",
                    "remove it, or set `stated: true` on the quantity if the claim rightly states this number",
                )
    if seen.is_claim or seen.is_paper:
        return None
    if valued and all(_paired(quantity, seen.text) for quantity in valued):
        return Problem(
            seen.entry.path, valued[0].name, "hidden material: every expected value beside its name", "remove it here"
        )
    if _is_answer_sheet(seen, valued) and not (interprets and seen.where.suffix.lower() not in _PROSE):
        return Problem(seen.entry.path, WHOLE, "hidden material: a list of the expected values", "remove it here")
    return None


def _is_rounded(value: float, other: float) -> bool:
    """Whether `other` is `value` written with three or more significant digits."""
    digits = significant_digits(other)
    return digits >= 3 and _same(float(f"{value:.{digits}g}"), other)


def _appears(quantity: Quantity, text: str) -> bool:
    """Whether a prose text states a quantity's value: all its digits, or at least two of them and the unit."""
    value = quantity.value or 0.0
    digits = significant_digits(value)
    if digits >= 3:
        return any(_same(value, other) or _is_rounded(value, other) for other in numbers(text))
    if digits < 2 or not quantity.unit:
        return False
    return bool(re.search(rf"(?<![\d.]){re.escape(f'{value:g}')}0*\s*{re.escape(quantity.unit)}(?!\w)", text))


def _paired(quantity: Quantity, text: str) -> bool:
    """Whether a name stands before its value on one line, as in `a0: 5.43` or `{name: a0, value: 5.43`."""
    name = re.escape(quantity.name)
    lines = re.finditer(rf"(?<![\w]){name}(?![\w])[\"']?\s*[:=,|\t].{{0,60}}", text, re.IGNORECASE)
    return any(_same(quantity.value or 0.0, other) for line in lines for other in numbers(line.group()))


def _is_answer_sheet(seen: Seen, valued: list[Quantity]) -> bool:
    telling = [q.value for q in valued if q.value is not None and significant_digits(q.value) >= 3]
    if seen.text is None or len(seen.text) > ANSWER_SHEET or len(telling) < 2:
        return False
    found = numbers(seen.text)
    return len(found) <= 3 * len(valued) + 6 and all(any(_same(v, other) for other in found) for v in telling)


def _same(value: float, other: float) -> bool:
    return abs(abs(value) - abs(other)) <= 1e-9 * max(abs(value), abs(other))
