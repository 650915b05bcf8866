"""Links that could lead an agent to released code, cut out of a paper's text and listed.

Every address and every DOI goes, those of other papers too: a DOI may name a code archive, and from any of them the
code is one step away. Authors, years, titles and the words of a Markdown link stay. Removal never moves a line: a link
broken across line ends leaves the line ends behind, so the line numbers in the list are those of the input.

Ratios such as `10.1/3.5`, module names such as `ase.io`, e-mail addresses and links within the paper (`figures/1.png`,
`#results`) are no links here.
"""

import re
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from matproof.papers.link_patterns import PATTERNS, Kind, link_end
from matproof.papers.shadow import Shadow, shadow

PLACEHOLDER = "[link removed]"
_NEAR = 600
"""Characters around a link in which the Markdown or HTML that holds it is looked for."""
_ANCHOR_REST = re.compile(r"[^<>]{0,300}>(.{0,1000}?)</a\s*>", re.DOTALL | re.IGNORECASE)
_TAG_START = re.compile(r"<([a-zA-Z]\w{0,20})\b[^<>]{0,400}$")
_TAG_REST = re.compile(r"[^<>]{0,300}>")
_TARGET_START = re.compile(r"\]\(\s{0,3}<?$")
_TARGET_REST = re.compile(r">?(?:\s{1,3}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\([^()\n]{0,300}\)))?\s{0,3}\)")


class RemovedLink(BaseModel):
    """One link that was cut out."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    kind: Kind
    """What it looked like."""
    text: str
    """As it stood, line ends made spaces, at most 500 characters."""
    line: int
    """Line of the input where it began, from one."""


def remove_links(text: str) -> tuple[str, list[RemovedLink]]:
    """`text` without its links, and the links by line. A second call finds nothing more."""
    removed: list[RemovedLink] = []
    while cuts := list(_cuts(text)):
        parts: list[str] = []
        place, line = 0, 1
        for kind, start, end, kept in cuts:
            line += text.count("\n", place, start)
            removed.append(RemovedLink(kind=kind, text=" ".join(text[start:end].split())[:500], line=line))
            parts += (text[place:start], kept, "\n" * (text.count("\n", start, end) - kept.count("\n")))
            line += text.count("\n", start, end)
            place = end
        text = "".join(parts) + text[place:]
    return text, sorted(removed, key=lambda link: link.line)


def _cuts(text: str) -> Iterator[tuple[Kind, int, int, str]]:
    """Non-overlapping (kind, start, end, what stays). What lies within another's text waits for the next pass."""
    place = 0
    for kind, start, end in _found(text):
        wide_start, wide_end, kept = _with_markup(text, start, end)
        if wide_start >= place:
            yield kind, wide_start, wide_end, kept
            place = wide_end


def _found(text: str) -> list[tuple[Kind, int, int]]:
    """Every link in `text`, overlapping ones as one."""
    seen = shadow(text)
    views = [seen] if seen.text == text else [seen, Shadow(text, range(len(text) + 1))]
    spans: list[tuple[int, int, Kind]] = []
    for view in views:
        for kind, pattern in PATTERNS:
            for match in pattern.finditer(view.text):
                start, end = view.span(match.start(), link_end(view.text, match.start(), match.end()))
                spans.append((start, end, kind))
    merged: list[tuple[Kind, int, int]] = []
    for start, end, kind in sorted(spans, key=lambda span: span[0]):
        if merged and start < merged[-1][2]:
            first, begun, ended = merged[-1]
            merged[-1] = ("doi" if "doi" in (first, kind) else first, begun, max(ended, end))
        else:
            merged.append((kind, start, end))
    return merged


def _with_markup(text: str, start: int, end: int) -> tuple[int, int, str]:
    """The link with the Markdown or HTML that makes it one, and what stays in its place."""
    before = text[max(0, start - _NEAR) : start]
    target, rest = _TARGET_START.search(before), _TARGET_REST.match(text, end)
    if target is not None and rest is not None:
        opening = _opening_bracket(before, target.start())
        if opening is not None:
            words = before[opening + 1 : target.start()]
            opening -= before[opening - 1 : opening] == "!"
            return start - len(before) + opening, rest.end(), _and_placeholder(words)
    if before.endswith("<") and text.startswith(">", end):
        return start - 1, end + 1, PLACEHOLDER
    tag = _TAG_START.search(before)
    if tag is not None:
        tag_start = start - len(before) + tag.start()
        if tag[1].lower() == "a" and (anchor := _ANCHOR_REST.match(text, end)):
            return tag_start, anchor.end(), _and_placeholder(anchor[1])
        if rest := _TAG_REST.match(text, end):
            return tag_start, rest.end(), PLACEHOLDER
    return start, end, PLACEHOLDER


def _and_placeholder(words: str) -> str:
    if not words.strip():
        return PLACEHOLDER
    return words if PLACEHOLDER in words or _found(words) else f"{words} {PLACEHOLDER}"


def _opening_bracket(text: str, closing: int) -> int | None:
    """Where the bracket that closes at `closing` opens."""
    depth = 0
    for place in range(closing, -1, -1):
        depth += (text[place] == "]") - (text[place] == "[")
        if depth == 0:
            return place
    return None
