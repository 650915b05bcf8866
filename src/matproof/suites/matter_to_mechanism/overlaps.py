"""Jaccard overlaps (J) of the token sets of a row's texts, for many rows at once.

The distinct tokens of a row are numbered within the row, a text is a bit set over them, and J of two texts is a count
of bits. Rows with many steps or very long texts, for which that table would grow with the product of both, are
compared set by set instead; both give the same numbers.
"""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matproof.suites.matter_to_mechanism.tokens import Cut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY_STEPS = 32
_LARGE_TABLE = 100_000


@dataclass(frozen=True, slots=True)
class Chains:
    """What RCF needs of each row's steps; 0 where there are too few."""

    progression: Floats
    """Sum over adjacent steps of 1 − |J − 0.25| / 0.75."""
    pairs: Floats
    """Sum of J over all pairs of steps."""


class BitSets:
    """Texts of rows as bit sets. `first` is each row's first text (and one more at the end) in `cut`."""

    def __init__(self, cut: Cut, first: Ints) -> None:
        self._cut, self._first = cut, first
        count, texts = len(first) - 1, np.diff(first)
        self._row_of = np.repeat(np.arange(count), texts)
        self.large = texts > MANY_STEPS + 16
        row, token, place = self._sorted()
        new = np.ones(len(row), np.bool_)
        new[1:] = (row[1:] != row[:-1]) | (token[1:] != token[:-1])
        number = np.cumsum(new) - 1
        starts = np.searchsorted(row, np.arange(count + 1))
        bases = np.append(number, number[-1] + 1 if len(number) else 0)[starts]
        words = (np.diff(bases) + 63) // 64
        self.large |= texts * words > _LARGE_TABLE
        words[self.large] = 0
        self._width = words[self._row_of]
        self._offset = np.concatenate(([0], np.cumsum(self._width)))
        local, text = number - bases[row], first[row] + place
        if self.large.any():
            kept = ~self.large[row]
            local, text = local[kept], text[kept]
        self._table = np.zeros(int(self._offset[-1]), np.uint64)
        value = np.uint64(1) << (local & 63).astype(np.uint64)
        np.bitwise_or.at(self._table, self._offset[text] + (local >> 6), value)
        self._size = self._sums(np.bitwise_count(self._table), self._offset)

    def _sorted(self) -> tuple[Ints, Ints, Ints]:
        """Tokens of rows that are not `large` yet as (row, token, place of the text within the row), sorted, each once.

        They are packed into one number each, of 32 bits where that is enough: it sorts twice as fast.
        """
        cut = self._cut
        place = np.arange(len(self._row_of)) - self._first[self._row_of]
        token_bits, place_bits = len(cut.names).bit_length(), (MANY_STEPS + 16).bit_length()
        bits = len(self._first).bit_length() + token_bits + place_bits
        kind: type[np.unsignedinteger[Any]] = np.uint32 if bits <= 32 else np.uint64
        of_text = (self._row_of << (token_bits + place_bits) | place).astype(kind)
        key = np.repeat(of_text, np.diff(cut.bounds))
        key |= np.left_shift(cut.tokens, place_bits, dtype=kind, casting="unsafe")
        if self.large.any():
            key = key[~self.large[self._row_of[cut.documents]]]
        key.sort()
        fresh = np.ones(len(key), np.bool_)
        fresh[1:] = key[1:] != key[:-1]
        found = key[fresh].astype(np.int64)
        token = found >> place_bits & (1 << token_bits) - 1
        return found >> (token_bits + place_bits), token, found & (1 << place_bits) - 1

    @staticmethod
    def _sums(values: Any, offsets: Ints) -> Ints:
        total = np.concatenate(([0], np.cumsum(values, dtype=np.int64)))
        return total[offsets[1:]] - total[offsets[:-1]]

    def overlaps(self, one: Ints, other: Ints) -> Floats:
        """J of pairs of texts of the same row; 0 for rows that are `large`."""
        width = self._width[one]
        offsets = np.concatenate(([0], np.cumsum(width)))
        inner = np.arange(offsets[-1]) - np.repeat(offsets[:-1], width)
        words = self._table[np.repeat(self._offset[one], width) + inner]
        words &= self._table[np.repeat(self._offset[other], width) + inner]
        common = self._sums(np.bitwise_count(words), offsets)
        either = self._size[one] + self._size[other] - common
        result: Floats = common / np.maximum(either, 1)
        return result

    def tokens_of(self, text: int) -> frozenset[int]:
        """The set of a text's tokens."""
        bounds = self._cut.bounds
        return frozenset(self._cut.tokens[bounds[text] : bounds[text + 1]].tolist())

    def between(self, one: Ints, other: Ints) -> Floats:
        """J of one pair of texts for each row, large ones too."""
        result = self.overlaps(one, other)
        for row in np.flatnonzero(self.large).tolist():
            result[row] = overlap(self.tokens_of(int(one[row])), self.tokens_of(int(other[row])))
        return result

    def chains(self, first_step: Ints, steps: Ints) -> Chains:
        """Sums over the steps of each row, which stand one after the other from `first_step`."""
        result = Chains(np.zeros(len(steps)), np.zeros(len(steps)))
        for count in np.unique(steps[~self.large & (steps > 1)]).tolist():
            rows = np.flatnonzero((steps == count) & ~self.large)
            for one, other in combinations(range(count), 2):
                values = self.overlaps(first_step[rows] + one, first_step[rows] + other)
                result.pairs[rows] += values
                if other == one + 1:
                    result.progression[rows] += 1 - np.abs(values - 0.25) / 0.75
        for row in np.flatnonzero(self.large & (steps > 1)).tolist():
            sets = [self.tokens_of(int(first_step[row]) + step) for step in range(int(steps[row]))]
            result.progression[row] = sum(1 - abs(overlap(a, b) - 0.25) / 0.75 for a, b in pairwise(sets))
            result.pairs[row] = sum_over_pairs(sets)
        return result


def overlap(one: AbstractSet[Any], other: AbstractSet[Any]) -> float:
    """J of two sets; 0 where either is empty."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def sum_over_pairs(sets: Sequence[frozenset[int]]) -> float:
    """Sum of J over all pairs of many sets: equal ones once, others through the tokens that they share."""
    counted = Counter(one for one in sets if one)
    groups, times = list(counted), np.array(list(counted.values()), dtype=np.float64)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    holders: dict[int, list[int]] = {}
    for index, group in enumerate(groups):
        for token in group:
            holders.setdefault(token, []).append(index)
    arrays = {token: np.array(indices) for token, indices in holders.items() if len(indices) > 1}
    total = float((times * (times - 1) / 2).sum())
    for index, group in enumerate(groups):
        shared = [arrays[token] for token in group if token in arrays]
        if shared:
            common = np.bincount(np.concatenate(shared), minlength=len(groups))
            overlaps = common / (sizes + sizes[index] - common)
            total += float(times[index] * (overlaps * times)[index + 1 :].sum())
    return total
