"""Numbers as they are written: found in texts, and compared by the digits that are given."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eEdD][-+]?\d{1,3})?")
_GROUPED = re.compile(r"(?<![\w.,])[-+−]?\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,40})?(?![\d,])")
SAME = 1e-9


def written(text: str) -> Iterator[tuple[int, float, int]]:
    """Position, value and decimal exponent of the last digit of every number in `text`.

    `1,545` is 1, 545 and 1545: nobody can tell a table's comma from a separator of thousands.
    """
    for pattern in (_TOKEN, _GROUPED):
        for found in pattern.finditer(text):
            if (number := parsed(found.group())) is not None:
                yield found.start(), *number


def parsed(token: str) -> tuple[float, int] | None:
    """Value of a number as written, and the power of ten of its last digit: `1.50e3` is 1500 with last digit 10^1."""
    plain = token.replace("−", "-").replace(",", "").lower().replace("d", "e")
    mantissa, _, exponent = plain.partition("e")
    try:
        value = float(plain)
        power = int(exponent or 0)
    except ValueError:
        return None
    _, _, decimals = mantissa.partition(".")
    return value, power - len(decimals)


def significant_digits(value: float) -> int:
    """Digits of the shortest text that means `value`, zeros at both ends apart: 8.50 has 2, 1200 has 2."""
    mantissa = repr(abs(value)).lower().split("e")[0]
    return len(mantissa.replace(".", "").strip("0"))


def same(first: float, second: float) -> bool:
    """Whether two numbers are one but for rounding in the last place of a float."""
    return abs(first - second) <= SAME * max(abs(first), abs(second))


def key_of(value: float) -> str:
    """What two numbers share that are one but for rounding."""
    return f"{value:.10g}"


def last_place(value: float) -> int:
    """Power of ten of the last digit of the shortest text that means `value`."""
    number = parsed(repr(value))
    if number is None:
        return 0
    text = repr(abs(value))
    if "." in text and text.endswith(".0"):
        return 0
    return number[1]


def shows(value: float, token: float, token_last: int) -> bool:
    """Whether a number with at least the digits of `value` rounds to it."""
    if same(value, token):
        return True
    place = last_place(value)
    return token_last <= place and abs(token - value) <= 0.5 * 10.0**place * (1 + 1e-6)
