"""Names of quantities as sets of words: the identifiers of `expected.yaml` beside what agents write.

`mae_random_forest`, "MAE (random forest)" and "Mean absolute error, Random Forest" are one set of words. Only words
decide: values are never looked at here, since picking the number that fits best would be circular.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "κ": "kappa"} | {
    "λ": "lambda", "μ": "mu", "ν": "nu", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ω": "omega"
}  # fmt: skip
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), word)
    for pattern, word in (
        (r"mean absolute errors?", "mae"),
        (r"root mean squared? errors?", "rmse"),
        (r"mean squared? errors?", "mse"),
        (r"r squared|r 2", "r2"),
        (r"standard deviations?|std ?dev", "std"),
        (r"standard errors?", "sem"),
        (r"(?:unit )?cell (?:parameter|constant|length|vector|edge)s?", "cell"),
        (r"lattice (?:parameter|constant|length|vector|edge)s?", "cell"),
        (r"numbers? of|nr of|no of|counts? of", "count"),
        (r"averages?|averaged|avg", "mean"),
        (r"counts?|num|n", "count"),
        (r"young s modulus|youngs modulus", "young modulus"),
    )
)
_ARTICLE = re.compile(r"\b(with|carry|carrying|having|for|of|in|as) an? (?!axis\b|direction\b)(?=[a-z]{3})")
"""The article, as against the cell axis a."""
_FILLERS = frozenset(
    {"at", "of", "the", "in", "for", "and", "with", "from", "on", "to", "by", "per", "an", "its", "all", "over", "that"}
    | {"value", "values", "calculated", "computed", "measured", "obtained", "reproduced", "resulting", "result", "our"}
    | {"coefficient", "isothermal", "vickers", "distinct", "unique", "carry", "carrying", "having", "reported", "model"}
    | {"algorithm", "parameter", "parameters", "equals", "this", "run"}
)
"""Words that change nothing."""
_QUALIFIERS = frozenset(
    {"std", "sem", "error", "uncertainty", "difference", "ratio", "relative", "percent", "percentage", "deviation"}
    | {"min", "minimum", "max", "maximum", "median", "fold", "claimed", "claim", "published", "paper", "reference"}
    | {"experimental", "experiment", "expected", "target", "literature", "stated", "quoted", "improvement", "gap"}
    | {"change", "reduction", "gain", "increase", "decrease", "delta", "variance", "rmse", "mse", "mae", "r2", "rank"}
    | {"initial", "old", "original", "wrong", "seed", "linear", "shift", "offset", "sum", "pooled", "before"}
    | {"train", "training", "validation", "percentile", "squared", "log", "inverse", "normalised", "normalized"}
)
"""Words that make another quantity of it: only a name that has them too may match."""
_COUNTED_THINGS = frozenset(
    {"record", "entrie", "entry", "row", "sample", "data", "point", "measurement", "cell", "alloy", "material"}
)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


QUALIFIERS = frozenset(_singular(word) for word in _QUALIFIERS)


@dataclass(frozen=True, slots=True)
class Words:
    """A name taken apart."""

    joined: str
    """All its letters and digits in lower case, in order, without separators."""
    readings: tuple[frozenset[str], ...]
    """Its words as sets: as written first, then as a count where it says how many of something there are."""
    sequence: tuple[str, ...]
    """Its words in order, fillers left out."""


def words(name: str) -> Words:
    """`name` as words, synonyms unified and fillers left out."""
    text = unicodedata.normalize("NFKC", name[:300])
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).casefold()
    text = "".join(f" {_GREEK[char]} " if char in _GREEK else char for char in text)
    text = re.sub(r"'s\b", "s", text)
    text = " ".join(re.findall(r"[^\W\d_]+|\d+(?:\.\d+)?", text))
    joined = text.replace(" ", "")
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    text = _ARTICLE.sub(r"\1 ", text)
    sequence = tuple(_singular(word) for word in text.split() if word not in _FILLERS)
    return Words(joined, _readings(frozenset(sequence)), sequence)


def _readings(base: frozenset[str]) -> tuple[frozenset[str], ...]:
    things = base & _COUNTED_THINGS
    rest = base - things - {"count"}
    if rest and (things or "count" in base):
        return tuple(dict.fromkeys((base, rest | {"count"})))
    return (base,)


def fitted(reported: Words, expected: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The readings of `reported`, written with the words of `expected` where it joins, splits or abbreviates them.

    `autosklearn` is `auto sklearn`, `randomforest` and `rf` are `random forest`.
    """
    readings = list(reported.readings)
    swaps: list[tuple[frozenset[str], frozenset[str]]] = []
    for size in (2, 3):
        for run in _runs(expected, size):
            # One-letter words (cell axes, symbols) would abbreviate almost anything.
            if all(len(word) > 1 for word in run):
                swaps.append((frozenset({"".join(word[0] for word in run)}), frozenset(run)))
            swaps.append((frozenset({"".join(run)}), frozenset(run)))
        for run in _runs(reported.sequence, size):
            if "".join(run) in expected:
                swaps.append((frozenset(run), frozenset({"".join(run)})))
    for old, new in swaps:
        readings += [(reading - old) | new for reading in readings if old <= reading]
        if len(readings) > 32:
            break
    return tuple(dict.fromkeys(readings))


def _runs(sequence: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return (tuple(sequence[start : start + size]) for start in range(len(sequence) - size + 1))
