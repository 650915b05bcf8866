"""A text with its disguises taken off, and the way back to where each character stood.

`github&#46;com`, `https%3A%2F%2F…`, `github\\.com`, full-width letters and invisible characters all read alike to a
person or a browser. Links are looked for in the shadow and cut out of the original, so nothing else changes.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

_DISGUISED = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
    r"|&(?:#\d{1,4}|#[xX][0-9a-fA-F]{1,4}|[a-zA-Z]{2,8});|(?:%[2-7][0-9a-fA-F])|\\(?=[!-/:-@\[-`{-~])"
    r"|[^\x00-\x7f]"
)


@dataclass(frozen=True, slots=True)
class Shadow:
    """`text` is what is seen; its character `i` stands at `places[i]` of the original (one more place than text)."""

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's span for the shadow's `start:end`."""
        return self.places[start], self.places[end]


def shadow(text: str) -> Shadow:
    """The shadow of `text`."""
    seen: list[str] = []
    places: list[int] = []
    place = 0
    for match in _DISGUISED.finditer(text):
        seen.append(text[place : match.start()])
        places += range(place, match.start())
        plain = _plain(match.group())
        if plain:
            seen.append(plain)
            places.append(match.start())
        place = match.end()
    seen.append(text[place:])
    places += range(place, len(text) + 1)
    return Shadow("".join(seen), places)


def _plain(disguised: str) -> str:
    """The one character that is seen, or nothing for an invisible one."""
    first = disguised[0]
    if len(disguised) == 1:
        if first == "\\" or unicodedata.category(first) in ("Cf", "Mn") or first == "\u034f":
            return ""
        folded = unicodedata.normalize("NFKC", first)
        return folded if len(folded) == 1 else first
    seen = html.unescape(disguised) if first == "&" else unquote(disguised)
    return seen if len(seen) == 1 and seen.isprintable() else first
