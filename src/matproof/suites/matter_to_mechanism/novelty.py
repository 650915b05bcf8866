"""SNS: how unlike the other rows of its system a row is, by TF-IDF cosine.

Vocabulary: the 2,000 terms (`\\b[a-z]{3,}\\b`) that most rows have. Among terms that equally many rows have, those
first seen in reading order come first, where rows are read by `paper_id` (numbers in it as numbers; equal ids by
text) and within a row from left to right. So a file sorted by `paper_id` is read as it stands, and no order of rows
changes a score.

Where a row has fewer others than the mean asks for, the mean is over those there are.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matproof.suites.matter_to_mechanism.neighbours import Floats, Ints, Search, Sparse, mean_of_nearest, sparse

VOCABULARY = 2_000
SMALLEST = 5
"""A system with fewer rows has no SNS."""

_CORPUS_NEAREST, _GROUP_NEAREST, _INTERVENTION_NEAREST = 5, 3, 3
_TERM = re.compile(r"[a-z]{3,}").fullmatch
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(slots=True)
class Corpus:
    """The tokens of one text of each row, as numbers."""

    tokens: list[NDArray[np.int32]] = field(default_factory=list)
    counts: list[Ints] = field(default_factory=list)

    def add(self, tokens: NDArray[np.int32], counts: Ints) -> None:
        """Add rows: their tokens, one row after the other, and how many each has."""
        self.tokens.append(tokens)
        self.counts.append(counts)

    def arrays(self) -> tuple[Ints, NDArray[np.int32]]:
        """Row and number of each token."""
        counts = np.concatenate(self.counts)
        return np.repeat(np.arange(len(counts)), counts), np.concatenate(self.tokens)


def reading_key(paper_id: str, text: str) -> tuple[Any, ...]:
    """Sorts rows by `paper_id`, the numbers in it as numbers, then by text."""
    parts = _DIGITS.split(paper_id)
    natural = [(len(part.lstrip("0")), part.lstrip("0")) if index % 2 else part for index, part in enumerate(parts)]
    return natural, paper_id, text


def tfidf(rows: Ints, tokens: NDArray[np.int32], names: Sequence[str], count: int, ranks: Callable[[], Ints]) -> Sparse:
    """L2-normalised TF-IDF of `count` rows from the row and token number of each term occurrence, in reading order.

    `ranks` gives each row's place in reading order; it is asked only where equally frequent terms compete for the
    last places of the vocabulary.
    """
    size = len(names)
    keys, frequency = np.unique(rows * size + tokens, return_counts=True)
    entry_rows, entry_terms = np.divmod(keys, max(size, 1))
    holders = np.bincount(entry_terms, minlength=size)
    chosen = _vocabulary(holders, rows, tokens, ranks)
    ordered = sorted(chosen.tolist(), key=names.__getitem__)
    position = np.full(size, -1, np.int64)
    position[ordered] = np.arange(len(ordered))
    kept = position[entry_terms] >= 0
    entry_rows, entry_terms, frequency = entry_rows[kept], position[entry_terms[kept]], frequency[kept]
    order = np.argsort(entry_rows * len(ordered) + entry_terms)
    entry_rows, entry_terms = entry_rows[order], entry_terms[order]
    idf = np.log((count + 1) / (holders[ordered] + 1)) + 1
    # Dividing by the row's total, as tf does, changes nothing once rows have length 1.
    weights = frequency[order] * idf[entry_terms]
    squares = np.bincount(entry_rows, weights=weights * weights, minlength=count)
    return sparse(entry_rows, entry_terms, weights / np.sqrt(squares)[entry_rows], (count, len(ordered)))


def _vocabulary(holders: Ints, rows: Ints, tokens: NDArray[np.int32], ranks: Callable[[], Ints]) -> Ints:
    """Numbers of the terms of the vocabulary."""
    present = int(np.count_nonzero(holders))
    if present <= VOCABULARY:
        return np.flatnonzero(holders)
    least = np.partition(holders, len(holders) - VOCABULARY)[len(holders) - VOCABULARY]
    above, level = np.flatnonzero(holders > least), np.flatnonzero(holders == least)
    places = VOCABULARY - len(above)
    if places == len(level):
        return np.concatenate((above, level))
    competes = np.zeros(len(holders), np.bool_)
    competes[level] = True
    at = np.flatnonzero(competes[tokens])
    # Occurrences are in reading order within a row, so a stable sort by the row's place puts the first seen first.
    at = at[np.argsort(ranks()[rows[at]], kind="stable")]
    _, first = np.unique(tokens[at], return_index=True)
    return np.concatenate((above, tokens[at][np.sort(first)[:places]]))


def within_groups(matrix: Sparse, groups: Ints) -> Sparse:
    """`matrix` with each group's terms made its own, so that rows of different groups share none."""
    own = groups[matrix.row_numbers()] * matrix.terms + matrix.indices
    distinct, terms = np.unique(own, return_inverse=True)
    return Sparse(matrix.data, terms.astype(np.int32), matrix.indptr, len(distinct))


@dataclass(frozen=True, slots=True)
class Novelty:
    """Three of the sub-scores of SNS for each row; NaN where the row's system is too small."""

    corpus: Floats
    within_system: Floats
    intervention: Floats


def novelty(
    names: Sequence[str],
    hypotheses: Corpus,
    interventions: Corpus,
    systems: Ints,
    batteries: Ints,
    keys: Callable[[Ints], list[tuple[Any, ...]]],
    search: Search,
) -> Novelty:
    """SNS sub-scores of all rows, whose tokens are numbers of `names`.

    `systems` and `batteries` number each row's system and battery system.

    `keys` gives the reading keys of the rows asked for; `search` is told of every row compared, three times a row.
    """
    total = len(systems)
    result = Novelty(*(np.full(total, np.nan) for _ in range(3)))
    is_term = np.fromiter((_TERM(name) is not None for name in names), np.bool_, len(names))
    texts, plans = (_terms_only(corpus, is_term) for corpus in (hypotheses, interventions))
    sizes = np.bincount(systems)
    for system in np.flatnonzero(sizes >= SMALLEST):
        members = np.flatnonzero(systems == system)
        place = np.full(total, -1, np.int64)
        place[members] = np.arange(len(members))

        def ranks(members: Ints = members) -> Ints:
            ordered = keys(members)
            order = sorted(range(len(members)), key=ordered.__getitem__)
            places = np.empty(len(members), np.int64)
            places[order] = np.arange(len(members))
            return places

        others = np.full(len(members), len(members) - 1)
        matrix = _matrix(texts, names, place, len(members), ranks)
        near = mean_of_nearest(matrix, _CORPUS_NEAREST, others, search)
        result.corpus[members] = np.maximum(0.0, 1 - near)

        _, groups, sizes_of = np.unique(batteries[members], return_inverse=True, return_counts=True)
        grouped = within_groups(matrix, groups)
        near = mean_of_nearest(grouped, _GROUP_NEAREST, sizes_of[groups] - 1, search)
        result.within_system[members] = np.maximum(0.0, 1 - near)

        matrix = _matrix(plans, names, place, len(members), ranks)
        near = mean_of_nearest(matrix, _INTERVENTION_NEAREST, others, search)
        result.intervention[members] = np.maximum(0.0, 1 - near)
    return result


def _terms_only(corpus: Corpus, is_term: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.int32]]:
    rows, tokens = corpus.arrays()
    kept = is_term[tokens]
    return rows[kept], tokens[kept]


def _matrix(
    occurrences: tuple[Ints, NDArray[np.int32]],
    names: Sequence[str],
    place: Ints,
    count: int,
    ranks: Callable[[], Ints],
) -> Sparse:
    """TF-IDF of the rows that have a `place`."""
    rows, tokens = occurrences
    kept = place[rows] >= 0
    return tfidf(place[rows[kept]], tokens[kept], names, count, ranks)
