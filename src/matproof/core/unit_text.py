"""The text of a unit taken apart: factors with exponents, several where the text has several readings.

Only for `core.units`. Reads what papers, spreadsheets and agents write: `S cm⁻¹`, `cm2/s`, `10^-5 cm² s−1`,
`\\AA^{-1}`, `at.%`, `W/(m·K)`. Text is bounded (length, exponents) because an agent may have written it.
"""

import re
import unicodedata
from dataclasses import dataclass

MAX_LENGTH = 80
MAX_EXPONENT = 12
_MAX_POWER_OF_TEN = 40

BARE_WORDS = frozenset(
    {"", "-", "--", "1", "[]", "[-]", "(-)", "none", "null", "n/a", "na", "unitless", "dimensionless", "no unit"}
    | {"pure number", "number", "ratio", "fraction", "adimensional", "reduced", "reduced units", "reduced unit"}
    | {"lj", "lj units", "reduced lj units", "reduced lj", "lennard-jones units", "lennard-jones"}
)
"""Texts, tidied and in lower case, that say there is no unit."""

_REDUCED = frozenset({"epsilon", "ε", "ϵ", "eps", "sigma", "σ", "τ", "tau"})
"""Reduced Lennard-Jones units: pure numbers here."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⸱", "0123456789+-.")
_SUPERSCRIPT_RUN = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_MINUSES = str.maketrans(dict.fromkeys("−–—‐‑‒﹣－", "-"))
_TIMES = str.maketrans(dict.fromkeys("·⋅×•∙⸱∗✕", "*"))
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"\\(?:text|mathrm|mathregular|rm|unit|si)\b|[${}~]|\\[,;: ]", " "),
        (r"\\(?:AA|angstrom)\b|\\r\s*A\b", " angstrom "),
        (r"\\(?:cdot|times)\b", "*"),
        (r"\\mu\b|µ", "μ"),
        (r"\\(?:epsilon|varepsilon|sigma|tau)\b", " epsilon "),
        (r"\bat(?:om(?:ic)?)?[. -]{0,2}(?:%|percent\b|pct\b)", " at_percent "),
        (r"\b(?:wt|weight|mass)[. -]{0,2}(?:%|percent\b|pct\b)", " wt_percent "),
        (r"\b(?:mol|mole|molar)[. -]{0,2}(?:%|percent\b|pct\b)", " mol_percent "),
        (r"\b(?:vol|volume)[. -]{0,2}(?:%|percent\b|pct\b)", " vol_percent "),
        (r"\b[Ff]\.\s?[Uu]\.?|\b[Ff]ormula[ _-]units?\b", " formula_unit "),
        (r"\b(?:unit|primitive|conventional)[ _-]cells?\b", " unit_cell "),
        (r"(?:°|º|\bdeg(?:rees?)?[ _.]?)\s?C(?:elsius)?\b|\b[Dd]egrees? [Cc]elsius\b", " degC "),
        (r"(?:°|º|\bdeg(?:rees?)?[ _.]?)\s?F(?:ahrenheit)?\b", " degF "),
        (r"°|º", " degree "),
        (r"%", " percent "),
        (r"\bHV[\d.]*\b", " HV "),
        (r"\ba_?0\b", " bohr "),
        (r"\bsqrt\(([^()]*)\)", r" (\1)^0.5 "),
        (r"\bper\b", "/"),
        (r"^\s*/", "1/"),
    )
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+(?![\w.]))?)|(?P<name>[^\W\d]+)|(?P<sign>[+-]\d+)"
    r"|(?P<power>\^|\*\*)|(?P<op>[*/()])|(?P<dot>\.))"
)


class UnitTextError(ValueError):
    """The text does not have the form of a unit; `core.units` turns it into a UnitError."""


@dataclass(frozen=True, slots=True)
class Factor:
    """`name` to the `exponent`, or, where `name` is empty, `number` to the `exponent`."""

    name: str
    exponent: float
    number: float = 1.0


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    spaced: bool


def tidy(text: str) -> str:
    """`text` without its outer spaces and with one kind of minus sign."""
    return " ".join(text.translate(_MINUSES).split()) if len(text) <= MAX_LENGTH else text[: MAX_LENGTH + 1]


def factorings(text: str) -> list[tuple[Factor, ...]]:
    """The factors of `text`, once for each way to read a product after a slash. Raises UnitTextError."""
    if len(text) > MAX_LENGTH:
        raise UnitTextError("too long")
    tokens = _tokens(_plain(text))
    strict = _Parser(tokens, greedy=False).parse()
    greedy = _Parser(tokens, greedy=True).parse()
    return [strict] if strict == greedy else [strict, greedy]


def _plain(text: str) -> str:
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run.group().translate(_SUPERSCRIPTS), text)
    text = text.replace("℃", "°C").replace("℉", "°F")
    text = unicodedata.normalize("NFKC", text).translate(_MINUSES).translate(_TIMES)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return re.sub(r"^\s*(?:\*|[xX](?=\s?10))", "", text).strip().rstrip(".")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise UnitTextError(
                f"unexpected {text[place:].strip()[:1]!r}" if text[place:].strip() else "trailing space"
            )
        kind = match.lastgroup or ""
        tokens.append(_Token(kind, match[kind], spaced=match.start(kind) > place))
        place = match.end()
    if not tokens:
        raise UnitTextError("nothing there")
    return tokens


class _Parser:
    """Recursive descent over products; `greedy` lets a slash divide by all that is joined after it without a sign."""

    def __init__(self, tokens: list[_Token], *, greedy: bool) -> None:
        self._tokens = tokens
        self._place = 0
        self._greedy = greedy

    def parse(self) -> tuple[Factor, ...]:
        factors = self._product()
        if self._place < len(self._tokens):
            raise UnitTextError(f"unexpected {self._tokens[self._place].text!r}")
        return tuple(factors)

    def _next(self) -> _Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _product(self) -> list[Factor]:
        factors = self._factor()
        inverse = False
        while (token := self._next()) is not None and token.text != ")":
            if token.text == "/":
                self._place, inverse = self._place + 1, True
            elif token.text == "*":
                self._place, inverse = self._place + 1, False
            elif token.kind == "dot":
                self._place += 1
                inverse = inverse and self._greedy
            else:
                inverse = inverse and self._greedy
            factor = self._factor()
            factors += [Factor(f.name, -f.exponent, f.number) for f in factor] if inverse else factor
        return factors

    def _factor(self) -> list[Factor]:
        token = self._next()
        if token is None:
            raise UnitTextError("it ends in the middle")
        self._place += 1
        if token.text == "(":
            base = self._product()
            closing = self._next()
            if closing is None or closing.text != ")":
                raise UnitTextError("a parenthesis is open")
            self._place += 1
        elif token.kind == "name":
            base = [] if token.text in _REDUCED else [Factor(token.text, 1)]
        elif token.kind == "number":
            base = [Factor("", 1, float(token.text))]
        else:
            raise UnitTextError(f"unexpected {token.text!r}")
        exponent = self._exponent(token)
        limit = _MAX_POWER_OF_TEN if token.kind == "number" else MAX_EXPONENT
        if abs(exponent) > limit:
            raise UnitTextError("the exponent is too large")
        return [Factor(f.name, f.exponent * exponent, f.number) for f in base]

    def _exponent(self, base: _Token) -> float:
        token = self._next()
        if token is None:
            return 1
        if token.kind == "power":
            self._place += 1
            return self._signed()
        touches = not token.spaced
        signed = token.kind == "sign" and (touches or base.kind == "name")
        if signed or (touches and token.kind == "number" and base.kind == "name"):
            self._place += 1
            return _number(token.text)
        return 1

    def _signed(self) -> float:
        token = self._next()
        if token is None:
            raise UnitTextError("an exponent is missing")
        self._place += 1
        if token.text == "(":
            value = self._signed()
            slash = self._next()
            if slash is not None and slash.text == "/":
                self._place += 1
                divisor = self._signed()
                if divisor == 0:
                    raise UnitTextError("an exponent divides by zero")
                value /= divisor
            if (closing := self._next()) is None or closing.text != ")":
                raise UnitTextError("a parenthesis is open")
            self._place += 1
            return value
        if token.kind not in ("sign", "number"):
            raise UnitTextError("an exponent is not a number")
        return _number(token.text)


def _number(text: str) -> float:
    if len(text) > 8:
        raise UnitTextError("the exponent is too large")
    return float(text)
