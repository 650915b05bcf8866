"""Powers of ten that a text layer may have lost: told where they can be, marked `[exponent?]` where they can't.

A paper's `10⁻⁴` is often two characters beside two smaller, raised ones. Whoever drops the places reads `10-4`, another
number. The light parser sees the places; text from elsewhere (Docling) is held against what it saw on the same page.
"""

import re

MARK = "[exponent?]"
_TIMES = r"(?P<times>[×·✕*∙⋅]\s?|\bx\s)?"
_DOUBTFUL = re.compile(_TIMES + r"(?<![\d.^])10(?P<gap>\s)?(?P<sign>[-−–])(?P<digits>\d{1,2})(?!\d|\.\d|[-−–]\d)")
_BARE = re.compile(r"[×·✕∙⋅]\s?10(?!00?\b)\d{1,2}(?!\d|[.,]\d|\^|\s?[×·✕∙⋅x])")
_SUPERSCRIPTS = re.compile(r"(?<=[\w)\]])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PLAIN = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹−–", "+-0123456789--")
_RAISED = re.compile(r"(\d+|[A-Za-zÅµμΩ°)]+)\^([+-]?\d{1,3})(?!\d|\.\d)")


def mark_doubtful(text: str) -> str:
    """`text` with `[exponent?]` after each `10-4`, `10 -4` and `× 104` that is more likely a power of ten."""

    def mark(found: re.Match[str]) -> str:
        likely = found["times"] or found["sign"] == "−" or (found["gap"] is None and int(found["digits"]) < 10)
        return f"{found.group()} {MARK}" if likely else found.group()

    return _BARE.sub(lambda found: f"{found.group()} {MARK}", _DOUBTFUL.sub(mark, text))


def written_out(text: str) -> str:
    """`cm²` as `cm^2` and `10⁻⁴` as `10^-4`, so that one search finds both spellings."""
    return _SUPERSCRIPTS.sub(lambda found: "^" + found.group().translate(_PLAIN), text)


def recovered(text: str, seen: str) -> str:
    """`text` with the exponents that the light parser saw raised on the same page (`seen`), and marks on the rest.

    `10 -4` becomes `10^-4` only where `seen` has that power and nowhere the same characters on one line.
    """
    text = written_out(text)
    raised = {(found[1], found[2]) for found in _RAISED.finditer(seen)}
    for base, power in sorted(raised, key=lambda pair: (-len("".join(pair)), pair)):
        digits = power.lstrip("+-")
        sign = r"\s?[-−–]\s?" if power.startswith("-") else r"\s?\+\s?" if power.startswith("+") else r"\s"
        flat = re.compile(rf"(?<![\w.^]){re.escape(base)}{sign}{digits}(?!\d|\.\d|\s?[-−–]\d)")
        if not flat.search(seen):
            text = flat.sub(f"{base}^{power}", text)
    return mark_doubtful(text)
