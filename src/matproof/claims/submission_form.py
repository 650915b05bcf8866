"""The experts' submission format, as it was meant and as it comes.

Meant: `username, paper_title, paper_pdf, identifier, claim_type, code_url, data_url?, claims: [{claim, context?,
instruction: [steps]}], non_reproducible_claims: [{claim, reason}]`. As it comes: keys in other cases or misspelled,
steps as one numbered text, a step with a colon turned into a mapping by YAML, placeholders for what nobody filled in.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matproof.claims.untidy import unquote

_FIELDS = {
    "username": ("user", "author", "submitter"),
    "paper_title": ("title", "paper"),
    "paper_pdf": ("pdf", "paper_url", "paper_link"),
    "identifier": ("doi", "arxiv", "arxiv_id", "paper_id"),
    "claim_type": ("type",),
    "code_url": ("code", "repository"),
    "data_url": ("data", "dataset_url"),
    "claims": ("reproducible_claims",),
    "non_reproducible_claims": ("nonreproducible_claims", "unreproducible_claims", "not_reproducible_claims"),
}
_CLAIM_FIELDS = {
    "claim": ("claim_text", "text", "statement"),
    "context": ("claim_context", "conditions"),
    "instruction": ("instructions", "steps", "procedure", "reproduction_steps"),
    "reason": ("reasons", "explanation", "why"),
}
_PLACEHOLDERS = {
    "",
    "missing",
    "not_specified",
    "not specified",
    "n/a",
    "na",
    "none",
    "null",
    "tbd",
    "todo",
    "unknown",
    "-",
}
_NUMBERED = re.compile(r"^\s*(?:[-*•]\s+)?(?:step\s*)?(?:\(?\d{1,3}\s*[.):](?=\s)|(?<=step )\d+\s)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*[-*•]\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedClaim:
    """One claim of a submission; `position` counts from one in its list."""

    position: int
    text: str
    """Empty where nothing was written."""
    context: str
    steps: tuple[str, ...]
    placeholder: bool
    """Whether a step says that it is a placeholder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One submission. Fields that were left out or hold a placeholder are None."""

    paper_title: str | None
    paper_pdf: str | None
    identifier: str | None
    claims: tuple[SubmittedClaim, ...]
    non_reproducible: tuple[tuple[str, str], ...]
    """Each a claim and the reason given, which may be empty."""
    notes: tuple[str, ...]
    verbatim: Any
    """All of it as it was read."""


def submissions_in(documents: tuple[Any, ...]) -> Iterator[Submission | str]:
    """Every submission in a file's documents, or a line that says why a document is none."""
    for document in documents:
        items = document if isinstance(document, list) else [document]
        if items and all(isinstance(item, dict) and "claims" not in _keys(item) for item in items):
            inner = [value for item in items for key, value in item.items() if _key(key) == "submissions"]
            if inner:
                yield from submissions_in(tuple(inner))
                continue
            if isinstance(document, list) and all(_is_bare_claim(item) for item in items):
                items = [{"claims": items}]
        for item in items:
            if item is None:
                continue
            yield _submission(item) if isinstance(item, dict) else f"not a submission but {_kind(item)}"


def _is_bare_claim(item: dict[str, Any]) -> bool:
    """Whether a mapping is a claim and says nothing of a paper, so that it belongs to its neighbours' submission."""
    return "claim" in _named(item, _CLAIM_FIELDS)[0] and not {"identifier", "paper_title", "paper_pdf"} & set(
        _keys(item)
    )


def _submission(raw: dict[str, Any]) -> Submission:
    fields, notes = _named(raw, _FIELDS)
    inner = _named(raw, _CLAIM_FIELDS)[0]
    if "claims" not in fields and "claim" in inner:
        fields["claims"] = [raw]
        outer = {key: value for key, value in raw.items() if not any(value is used for used in inner.values())}
        notes = _named(outer, _FIELDS)[1]
    listed = [item for item in _listed(fields.get("claims"), "claim") if item is not None]
    return Submission(
        paper_title=_optional(fields.get("paper_title")),
        paper_pdf=_optional(fields.get("paper_pdf")),
        identifier=_optional(fields.get("identifier")),
        claims=tuple(_claim(item, number) for number, item in enumerate(listed, 1)),
        non_reproducible=tuple(
            _refused(item) for item in _listed(fields.get("non_reproducible_claims"), "claim") if item
        ),
        notes=tuple(notes),
        verbatim=raw,
    )


def _claim(raw: Any, position: int) -> SubmittedClaim:
    fields = _named(raw, _CLAIM_FIELDS)[0] if isinstance(raw, dict) else {"claim": raw}
    if isinstance(raw, dict) and "claim" not in fields and len(raw) == 1:
        fields = {"claim": raw}  # a claim with a colon, which YAML read as a mapping
    steps = tuple(step for step in _steps(fields.get("instruction")) if step)
    return SubmittedClaim(
        position=position,
        text=_filled(fields.get("claim")),
        context=_filled(fields.get("context")),
        steps=steps,
        placeholder=any("placeholder" in step.lower() for step in steps),
    )


def _refused(raw: Any) -> tuple[str, str]:
    fields = _named(raw, _CLAIM_FIELDS)[0] if isinstance(raw, dict) else {"claim": raw}
    if isinstance(raw, dict) and "claim" not in fields:
        return _text(raw), ""
    return _text(fields.get("claim")), _filled(fields.get("reason"))


def _steps(raw: Any) -> Iterator[str]:
    if isinstance(raw, str):
        text = unquote(raw)
        yield from (_bare(part) for part in _split_numbered(text) or _split_lines(text))
    elif isinstance(raw, dict):
        named = [value for key, value in raw.items() if _key(key) in {"step", "text", "description"}]
        chosen = next((value for value in named if isinstance(value, str)), None)
        numbered = all(re.fullmatch(r"(step)?_?\d+", _key(key)) for key in raw)
        if numbered:
            yield from (_bare(_text(value)) for value in raw.values())
        else:
            yield _bare(_text(chosen if isinstance(chosen, str) else raw))
    elif isinstance(raw, list):
        for item in raw:
            yield from _steps(item) if isinstance(item, (list, dict)) else (_bare(_text(item)),)
    elif raw is not None:
        yield _text(raw)


def _split_lines(text: str) -> list[str]:
    """The steps of a text: a new one at each numbered line or bullet, or at every line where there is neither."""
    lines = [line for line in text.splitlines() if line.strip()]
    starts = [line for line in lines if _NUMBERED.match(line) or _BULLET.match(line)]
    if not starts:
        return lines
    steps: list[str] = []
    for line in lines:
        if not steps or _NUMBERED.match(line) or _BULLET.match(line):
            steps.append(line)
        else:
            steps[-1] += "\n" + line
    return steps


def _split_numbered(text: str) -> list[str]:
    """The steps of `1. a 2. b`, or nothing where the text doesn't begin with 1 or the numbers don't run on."""
    marks = list(re.finditer(r"(?:^|\s)\(?(\d{1,2})[.)]\s", text))
    if len(marks) < 2 or marks[0].start() or [int(m.group(1)) for m in marks] != list(range(1, len(marks) + 1)):
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]


def _bare(step: str) -> str:
    step = unquote(step)
    return unquote(_BULLET.sub("", _NUMBERED.sub("", step)))


def _text(value: Any) -> str:
    """Any value as one text, stray quotes gone; a mapping as `key: value`, as it was before YAML read it."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(inner)}".strip() for key, inner in value.items())
    if isinstance(value, list):
        return "; ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return unquote(str(value))


def _filled(value: Any) -> str:
    text = _text(value)
    return "" if text.lower() in _PLACEHOLDERS else text


def _optional(value: Any) -> str | None:
    return _filled(value) or None


def _listed(value: Any, main: str) -> list[Any]:
    """A list, whatever stands for one: a single item, a mapping of numbered items, a text."""
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and main not in _named(value, _CLAIM_FIELDS)[0]:
        return list(value.values())
    return [value]


def _named(raw: dict[str, Any], known: dict[str, tuple[str, ...]]) -> tuple[dict[str, Any], list[str]]:
    """The fields under their proper names, and a note for every key that had to be guessed or is not known."""
    fields: dict[str, Any] = {}
    notes: list[str] = []
    aliases = {alias: name for name, others in known.items() for alias in (name, *others)}
    for exact in (True, False):
        for key, value in raw.items():
            plain = _key(key)
            if (plain in aliases) is not exact:
                continue
            if known is _FIELDS and plain == "claim" and not isinstance(value, list):
                continue  # a single claim without the list around it, not a misspelled `claims`
            close = [plain] if exact else _close(plain, known)
            name = aliases[close[0]] if close else None
            if name is None:
                notes.append(f"unknown field {key!r} kept in provenance only")
            elif fields.get(name) in (None, "", []):
                fields[name] = value
                if not exact:
                    notes.append(f"field {key!r} read as {name!r}")
            elif value not in (None, "", []):
                notes.append(f"field {key!r} kept in provenance only: {name!r} is there already")
    return fields, notes


def _close(key: str, known: dict[str, tuple[str, ...]]) -> list[str]:
    """The known name that a misspelled key means; a numbered one (`claim_1`) is an item of a list."""
    return [] if re.search(r"\d", key) else difflib.get_close_matches(key, list(known), n=1, cutoff=0.8)


def _keys(raw: dict[str, Any]) -> dict[str, Any]:
    return _named(raw, _FIELDS)[0]


def _key(key: Any) -> str:
    return re.sub(r"[\s-]+", "_", unquote(str(key)).lower()).strip("_:")


def _kind(value: Any) -> str:
    return {str: "text", list: "a list", bool: "yes or no"}.get(type(value), "a number")
