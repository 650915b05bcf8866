"""The regular expressions of the metrics, each decided in time linear in the text.

A number is `\\d+\\.?\\d*\\s*` in the metrics' definition. Whether a unit follows one depends only on its last digit and
what comes after it, so `\\d\\.?\\s*` finds the same texts without trying every way to split a run of digits. A `.*`
between two words is decided line by line from the first of the two. All texts are lower-cased.
"""

import re
from functools import lru_cache

_AFTER_NUMBER = re.compile(r"\d\.?\s*(?=([%°µacegkmnvw]\w{0,7}(?:\s+\w{1,2})?))")
_AFTER_ASCII_NUMBER = re.compile(r"[0-9]\.?\s*(?=([%acegkmnvw]\w{0,7}(?:\s+\w{1,2})?))")
"""What follows a number, as far as units can tell: eight characters, one more than the longest with the end of its
word, and two of the next word."""
_UNITS = tuple(
    re.compile(unit)
    for unit in (
        r"(?:nm|µm|mm|cm|m)\b",
        r"(?:°c|k|kelvin)\b",
        r"(?:ev|kj|kcal)\b",
        r"(?:mah|mwh|wh)\b",
        r"(?:mol|mmol|µmol)\b",
        r"(?:v|mv|µv)\b",
        r"(?:ma|µa|a)\s*(?:cm|g|kg)",
        r"%",
        r"(?:mg|g|kg)\s*(?:cm|m|l)",
    )
)
_BY_FIRST = {
    first: tuple((1 << index, unit) for index, unit in enumerate(_UNITS) if index in wanted)
    for first, wanted in {
        "%": (7,),
        "°": (1,),
        "µ": (0, 4, 5, 6),
        "a": (6,),
        "c": (0,),
        "e": (2,),
        "g": (8,),
        "k": (1, 2, 8),
        "m": (0, 3, 4, 5, 6, 8),
        "n": (0,),
        "v": (5,),
        "w": (3,),
    }.items()
}
_POWER_OF_TEN = re.compile(r"10[⁻\-]?\d")
_OUTCOME = re.compile(r"\d\.?\s*(?:%|×|fold|mah|wh|v\b|°c)")

CAUSAL_WORDS = (
    *("thereby", "thus", "enhancing", "reducing", "improving", "provides", "allows", "facilitates"),
    *("leading", "resulting", "which", "by", "will"),
)
"""Eight patterns that are one word, then the first words of the five others."""

_CAUSAL_PAIRS = tuple(
    (first, re.compile(rf"\b{first} {second}\b"))
    for first, second in (("leading", "to"), ("resulting", "in"), ("which", "enables"))
)
_BY, _INCREASE = re.compile(r"\bby\b"), re.compile(r"\bincreas")
_WILL, _ENABLE = re.compile(r"\bwill\b"), re.compile(r"\benable\b")


def quantities(text: str) -> int:
    """How many of the ten patterns of numbers with units (and powers of ten) occur in `text`."""
    found = 0
    for after in (_AFTER_ASCII_NUMBER if text.isascii() else _AFTER_NUMBER).findall(text):
        found |= _units(after)
    return found.bit_count() + _has_power_of_ten(text)


@lru_cache(16_384)
def _units(after: str) -> int:
    """The units with which `after` begins, as bits."""
    return sum(bit for bit, unit in _BY_FIRST[after[0]] if unit.match(after))


def _has_power_of_ten(text: str) -> bool:
    r"""Whether `[×x]\s*10[⁻\-]?\d` occurs."""
    if "10" not in text:
        return False
    for power in _POWER_OF_TEN.finditer(text):
        before = power.start() - 1
        while before >= 0 and text[before].isspace():
            before -= 1
        if before >= 0 and text[before] in "×x":
            return True
    return False


def causal_phrases(text: str) -> int:
    """How many of the five causal patterns of more than one word occur in `text`."""
    hits = sum(first in text and pattern.search(text) is not None for first, pattern in _CAUSAL_PAIRS)
    hits += "by" in text and "increas" in text and _one_line_has(text, _BY, _INCREASE)
    hits += "will" in text and "enable" in text and _one_line_has(text, _WILL, _ENABLE)
    return hits


def _one_line_has(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    """Whether in some line `second` comes after `first`."""
    for line in text.split("\n"):
        found = first.search(line)
        if found and second.search(line, found.end()):
            return True
    return False


def has_outcome(text: str) -> bool:
    """Whether `text` claims a number with one of the units of an outcome."""
    return _OUTCOME.search(text) is not None
