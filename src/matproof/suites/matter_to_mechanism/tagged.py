"""Replies in tagged form, `[HYPOTHESIS] … [INTERVENTION] …`, read tolerantly.

Accepted besides the form asked for: any case, markdown around a tag, closing tags, spaces or hyphens for underscores,
angle brackets, and headings (`## Hypothesis`, `**Hypothesis:**`) where a reply has no brackets. A tag counts where it
begins a line; where fewer than two do, it counts anywhere. What is not there stays missing, by name:
nothing is guessed from the rest of the text.
"""

import re
from dataclasses import dataclass

TAGS = {
    "HYPOTHESIS": "hypothesis",
    "INTERVENTION": "intervention_or_solution",
    "MECHANISM": "mechanism_or_rationale",
    "REASONING": "reasoning_process",
    "TARGET_PROPERTY": "target_property",
    "CLAIMED_OUTCOME": "claimed_outcome",
}
"""Tag → column that its text becomes."""
MAX_FIELD_CHARS = 20_000
"""What is longer is cut, and noted."""

_NAME = "(" + "|".join(tag.replace("_", "[_ -]") for tag in TAGS) + ")"
_DECOR = r"[ \t>*_#`-]{0,12}"
_TAG = rf"[\[<][ \t]*(/?)[ \t]*{_NAME}[ \t]*:?[ \t]*[\]>][ \t*_`:]{{0,8}}"
_AT_LINE = re.compile(rf"^{_DECOR}{_TAG}", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(rf"[\[<][ \t]*/[ \t]*{_NAME}[ \t]*[\]>]", re.IGNORECASE)
_ANYWHERE = re.compile(rf"[*_`]{{0,3}}{_TAG}", re.IGNORECASE)
_HEADING = re.compile(
    rf"^[ \t>]{{0,8}}(?:(?:#{{1,6}}[ \t]*|[*_]{{1,3}}){_NAME}|{_NAME}(?=[*_]{{0,3}}:))[*_:\t ]{{0,8}}",
    re.IGNORECASE | re.MULTILINE,
)
_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_STEP_TAG = re.compile(r"\[[ \t]*(begin|end)[ \t]+step[ \t]*#?[ \t]*(\d{1,4})[ \t]*[:.]?[ \t]*\]", re.IGNORECASE)
_STEP_LINE = re.compile(r"^[ \t>*_#-]{0,8}step[ \t]*(\d{1,4})[ \t]*[*_]{0,3}[:.)\u2013-][*_ \t]{0,4}", re.I | re.M)
_RULE = re.compile(r"[`]{3,}\w{0,20}|[-*_#=]*")
_PLACEHOLDER = re.compile(r"[\s.…*_<>\[\]-]*|[<\[][^<>\[\]]{0,200}[>\]]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """A reply read: column → text (empty where missing), missing tags, and what was done to read it."""

    fields: dict[str, str]
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def problem(self) -> str | None:
        """Why the reply is no hypothesis at all; None where it is one."""
        if self.fields["hypothesis"]:
            return None
        if len(self.missing) == len(TAGS):
            return "none of the tags is in the reply"
        return "the reply has no text under [HYPOTHESIS]"


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    tag: str
    closing: bool


def parse_tagged(reply: str) -> Tagged:
    """The fields of `reply`. Never fails: see `Tagged.problem` and `Tagged.missing`."""
    text = _THINKING.sub("", reply, count=1)
    found: dict[str, list[str]] = {tag: [] for tag in TAGS}
    marks = _marks(text)
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        content = _tidy(text[mark.end : end])
        if not mark.closing and content:
            found[mark.tag].append(content)
    notes = [f"{tag} given {len(given)} times, the last counts" for tag, given in found.items() if len(given) > 1]
    fields = {}
    for tag, column in TAGS.items():
        content = found[tag][-1] if found[tag] else ""
        if len(content) > MAX_FIELD_CHARS:
            notes.append(f"{tag} cut at {MAX_FIELD_CHARS} of {len(content)} characters")
            content = content[:MAX_FIELD_CHARS]
        fields[column] = content
    fields["reasoning_process"], note = _with_step_tags(fields["reasoning_process"])
    missing = tuple(tag for tag in TAGS if not found[tag])
    if missing:
        notes.insert(0, f"missing: {', '.join(missing)}")
    return Tagged(fields=fields, missing=missing, notes=(*notes, *note))


def _marks(text: str) -> list[_Mark]:
    """Tags of `text` in order: those that begin lines, else all, else headings."""
    lines, anywhere = (
        [_mark(found, found[2], closing=bool(found[1])) for found in pattern.finditer(text)]
        for pattern in (_AT_LINE, _ANYWHERE)
    )
    if len(_opened(lines)) < min(2, len(_opened(anywhere))):
        return anywhere
    if not lines:
        return [_mark(found, found[1] or found[2], closing=False) for found in _HEADING.finditer(text)]
    inline = [_mark(found, found[1], closing=True) for found in _CLOSING.finditer(text)]
    return sorted([*lines, *inline], key=lambda mark: mark.start)


def _opened(marks: list[_Mark]) -> set[str]:
    return {mark.tag for mark in marks if not mark.closing}


def _mark(found: re.Match[str], name: str, *, closing: bool) -> _Mark:
    return _Mark(found.start(), found.end(), re.sub(r"[ -]", "_", name).upper(), closing)


def _tidy(content: str) -> str:
    """`content` without blank lines, rules and fences around it; empty where it is only a placeholder."""
    lines = content.split("\n")
    first, last = 0, len(lines)
    while first < last and _RULE.fullmatch(lines[first].strip()):
        first += 1
    while last > first and _RULE.fullmatch(lines[last - 1].strip()):
        last -= 1
    kept = "\n".join(lines[first:last]).strip().removeprefix("** ").removesuffix(" **").strip()
    return "" if _PLACEHOLDER.fullmatch(kept) else kept


def _with_step_tags(reasoning: str) -> tuple[str, tuple[str, ...]]:
    """`reasoning` with its steps in `[Begin Step k] … [End Step k]`, where it marks steps in another plain way."""
    if _STEP_TAG.search(reasoning):
        return _STEP_TAG.sub(lambda tag: f"[{tag[1].capitalize()} Step {tag[2]}]", reasoning), ()
    lines = list(_STEP_LINE.finditer(reasoning))
    if not lines:
        return reasoning, ("the reasoning has no marked steps",) if reasoning else ()
    ends = [line.start() for line in lines[1:]] + [len(reasoning)]
    steps = [
        f"[Begin Step {number}]\n{reasoning[line.end() : end].strip()}\n[End Step {number}]"
        for number, (line, end) in enumerate(zip(lines, ends, strict=True), start=1)
    ]
    return "\n".join((reasoning[: lines[0].start()], *steps)).strip(), ("steps were marked as lines, tags put in",)
