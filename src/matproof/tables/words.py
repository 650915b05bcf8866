"""Numbers and names in words for people: one form each, wherever they are printed."""

import re

UNKNOWN = "?"
"""What stands where a number is unknown."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]?)"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufff9-\ufffb]")
_ODD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
"""Whatever `clean` changes starts with one of these."""
_DIRECTION = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str, limit: int = 20_000) -> str:
    """`text` that an agent, a model or a file name gave, fit to be shown: at most about `limit` characters.

    Terminal escapes and control characters are dropped, a line that overwrote itself keeps its last state, and
    characters that turn the direction of writing are shown by number, since hiding them would hide an attack.
    """
    if len(text) <= limit and not _ODD.search(text):
        return text
    held = text[: 4 * limit].encode("utf-8", "replace").decode()
    held = _ESCAPE.sub("", held).replace("\r\n", "\n")
    held = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in held.split("\n"))
    held = _DIRECTION.sub(lambda match: f"[U+{ord(match[0]):04X}]", _CONTROL.sub("", held))
    left = max(len(held) - limit, 0) + max(len(text) - 4 * limit, 0)
    return f"{held[:limit]}… [{left} more characters]" if left else held


def one_line(text: str, limit: int = 200) -> str:
    """`text` cleaned and on one line."""
    return " ".join(clean(text, limit).split())


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters, its end replaced by an ellipsis where it is longer."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def seconds_text(seconds: float | None) -> str:
    """A duration: `0.4 s`, `12 s`, `3.5 min`, `1.2 h`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def money_text(dollars: float | None) -> str:
    """US dollars: `$0`, `$0.0041`, `$12.30`, `$1,204`."""
    if dollars is None:
        return UNKNOWN
    if dollars == 0:
        return "$0"
    if dollars < 0.995:
        return f"${dollars:.2f}" if dollars >= 0.095 else f"${dollars:.2g}" if dollars >= 0.0001 else f"${dollars:.1e}"
    return f"${dollars:,.2f}" if dollars < 1000 else f"${dollars:,.0f}"


def cost_text(total: float | None, known: float | None) -> str:
    """A cost, or the known part of one: `$1.20`, `≥ $0.40`, `?`."""
    if total is None and known is not None:
        return f"≥ {money_text(known)}"
    return money_text(total)


def score_text(mean: float | None, error: float | None) -> str:
    """A mean score: `3.52 ± 0.18`; without an error where there is none."""
    if mean is None:
        return "–"
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ± {error:.2f}"


def share_text(rate: float | None, error: float | None) -> str:
    """A share between 0 and 1: `75 %`, `75 ± 12 %`."""
    if rate is None:
        return "–"
    return f"{100 * rate:.0f} %" if error is None else f"{100 * rate:.0f} ± {100 * error:.0f} %"


def count_text(number: int | None) -> str:
    """A whole number with separators: `1,234`."""
    return UNKNOWN if number is None else f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 run`, `2 runs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
