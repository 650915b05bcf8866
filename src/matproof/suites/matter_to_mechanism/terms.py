"""Which listed terms texts mention, found by their distinct tokens rather than by a scan per term and text.

A term without spaces or signs can only occur inside one run of word characters, so it is enough to look into each
distinct token of the corpus once. A term of several words is looked for in the text itself, but only where every
word of it occurs in some token. Both are exactly the substring rule (or, in a `word` profile, the whole-word rule).

Terms are bits of a row of 64-bit words: a text's mentions are such a row, a list of terms is one, and their overlap
is counted.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matproof.suites.matter_to_mechanism.lexicon import Profile

Masks = NDArray[np.uint64]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A term that no single token can decide: its bit, the bits of its words, and what to look for in the text."""

    bit: int
    needs: int
    term: str
    pattern: re.Pattern[str] | None

    def occurs(self, text: str) -> bool:
        return self.term in text and (self.pattern is None or self.pattern.search(text) is not None)


class Terms:
    """The terms of a profile, and the words that others ask for, over the tokens seen so far."""

    def __init__(self, profile: Profile, words: Sequence[str] = ()) -> None:
        self._whole = profile.match == "word"
        self._next = count()
        self._bits: dict[str, int] = {}
        self._runs: dict[tuple[bytes, str], int] = {}
        self._phrases: list[_Phrase] = []
        tiers = profile.mechanism
        lists = {
            "high": tiers.high, "medium": tiers.medium, "low": tiers.low, "characterization": profile.characterization,
            "cross_domain": profile.cross_domain, "scalable": profile.scalable, "not_scalable": profile.not_scalable,
            "vague": profile.vague_failure,
        }  # fmt: skip
        lists |= {f"family {key}": terms for key, terms in profile.system_constituents.items()}
        self._lists = {name: self._bits_of(terms) for name, terms in lists.items()}
        self._words = {word: 1 << self._run(word, "equals") for word in words}
        self._width = (next(self._next) + 63) // 64
        self._by_start = self._starts()
        self._short = [(run, bit) for (run, kind), bit in self._runs.items() if kind == "has" and len(run) < 2]

    def of_lists(self, *names: str) -> Masks:
        """The terms of the named lists."""
        return self._row(sum_of_bits(self._lists[name] for name in names))

    def of_words(self, *words: str) -> Masks:
        """The words among those asked for at the start that are tokens as they stand."""
        return self._row(sum_of_bits(self._words[word] for word in words))

    def masks(self, tokens: Sequence[str]) -> Masks:
        """What each of `tokens` decides: a row of 64-bit words with a bit for each word of each term."""
        found = np.zeros((len(tokens), self._width), np.uint64)
        if tokens:
            where, bits = self._equal(tokens)
            if not self._whole:
                parts, part_bits = self._parts(tokens)
                where, bits = where + parts, bits + part_bits
            else:
                parts, part_bits = self._stems(tokens)
                where, bits = where + parts, bits + part_bits
            number = np.array(bits, dtype=np.int64)
            value = np.uint64(1) << (number % 64).astype(np.uint64)
            np.bitwise_or.at(found.reshape(-1), np.array(where, dtype=np.int64) * self._width + number // 64, value)
        return found

    def add_phrases(self, masks: Masks, wanted: Masks, text: Callable[[int], str]) -> Masks:
        """`masks` (of texts) with the bits of the terms of several words in `wanted` that the texts mention.

        `text` gives the text of a row of `masks`; it is asked only where all words of a term occur.
        """
        result = masks.copy()
        for phrase in self._phrases:
            bit, needs = self._row(1 << phrase.bit), self._row(phrase.needs)
            if (bit & wanted).any():
                rows = np.flatnonzero(((masks & needs) == needs).all(axis=1))
                found = [row for row in rows.tolist() if phrase.occurs(text(row))]
                result[found] |= bit
        return result

    def _row(self, bits: int) -> Masks:
        return np.frombuffer(bits.to_bytes(self._width * 8, "little"), np.uint64)

    def _bits_of(self, terms: Sequence[str]) -> int:
        return sum_of_bits(1 << self._bit(term) for term in terms)

    def _bit(self, term: str) -> int:
        if term not in self._bits:
            self._bits[term] = self._add(term)
        return self._bits[term]

    def _add(self, term: str) -> int:
        text, stem = stem_of(term, self._whole)
        runs = _WORD.findall(text)
        if runs == [text]:
            return self._run(text, self._kind(stem))
        bit, needs = next(self._next), 0
        for index, run in enumerate(runs):
            last = stem and index == len(runs) - 1 and text.endswith(run)
            needs |= 1 << self._run(run, self._kind(last))
        self._phrases.append(_Phrase(bit, needs, text, whole_words(term) if self._whole else None))
        return bit

    def _kind(self, stem: bool) -> str:
        return "starts" if stem else "equals" if self._whole else "has"

    def _run(self, run: str, kind: str) -> int:
        key = (run.encode(), kind)
        if key not in self._runs:
            self._runs[key] = next(self._next)
        return self._runs[key]

    def _starts(self) -> dict[int, list[tuple[bytes, int]]]:
        """Runs to be found inside tokens, by their first two bytes."""
        found: dict[int, list[tuple[bytes, int]]] = {}
        for (run, kind), bit in self._runs.items():
            if kind == "has" and len(run) > 1:
                found.setdefault(run[0] << 8 | run[1], []).append((run, bit))
        return found

    def _equal(self, tokens: Sequence[str]) -> tuple[list[int], list[int]]:
        wanted = {run.decode(): bit for (run, kind), bit in self._runs.items() if kind == "equals"}
        at = [index for index, token in enumerate(tokens) if token in wanted]
        return at, [wanted[tokens[index]] for index in at]

    def _stems(self, tokens: Sequence[str]) -> tuple[list[int], list[int]]:
        stems = [(run.decode(), bit) for (run, kind), bit in self._runs.items() if kind == "starts"]
        pairs = [(index, bit) for index, token in enumerate(tokens) for run, bit in stems if token.startswith(run)]
        return [index for index, _ in pairs], [bit for _, bit in pairs]

    def _parts(self, tokens: Sequence[str]) -> tuple[list[int], list[int]]:
        """Tokens as lines of bytes; runs are tried only where their first two bytes stand."""
        data = "\n".join(tokens).encode() + b"\n"
        line = np.frombuffer(data, np.uint8)
        pairs = line[:-1].astype(np.int64) << 8 | line[1:]
        wanted = np.zeros(65_536, np.bool_)
        wanted[list(self._by_start)] = True
        at = np.flatnonzero(wanted[pairs])
        places, bits = [], []
        for place, pair in zip(at.tolist(), pairs[at].tolist(), strict=True):
            for run, bit in self._by_start[pair]:
                if data.startswith(run, place):
                    places.append(place)
                    bits.append(bit)
        for run, bit in self._short:
            here = np.flatnonzero(line == run[0]).tolist()
            places += here
            bits += [bit] * len(here)
        return np.searchsorted(np.flatnonzero(line == ord("\n")), places).tolist(), bits


def sum_of_bits(masks: Any) -> int:
    """The union of integers taken as sets of bits."""
    union = 0
    for mask in masks:
        union |= mask
    return union


def stem_of(term: str, whole: bool) -> tuple[str, bool]:
    """A term without the `*` that lets it go on, and whether it had one that counts."""
    return (term[:-1], True) if whole and term.endswith("*") else (term, False)


def whole_words(term: str) -> re.Pattern[str]:
    """Finds `term` where no word character touches it; after a `*` any may."""
    text, stem = stem_of(term, True)
    return re.compile(rf"(?<!\w){re.escape(text)}" + ("" if stem else r"(?!\w)"))


def mention(text: str, terms: Sequence[str], match: str) -> int:
    """How many of `terms` the lower-cased `text` mentions: the rule itself, for a few short texts."""
    if match == "word":
        return sum(whole_words(term).search(text) is not None for term in terms)
    return sum(term in text for term in terms)
