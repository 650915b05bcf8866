"""RCF, HPA, MSI, IP and PDQ of rows, and the part of SNS that needs no other row; many rows at a time.

Texts are lower-cased first. J is the Jaccard overlap of two sets of tokens (`\\w+`), 0 where either is empty; words
are counted as white space splits them. A text of white space alone counts as empty. No score depends on
which rows are scored together.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matproof.suites.matter_to_mechanism.batch import (
    AROUND,
    BROAD,
    FAILURE,
    FINE,
    HYPOTHESIS,
    INTERVENTION,
    MECHANISM,
    PROBLEM,
    STEPS,
    TARGET,
    Batch,
)
from matproof.suites.matter_to_mechanism.lexicon import Profile
from matproof.suites.matter_to_mechanism.overlaps import BitSets
from matproof.suites.matter_to_mechanism.patterns import CAUSAL_WORDS, causal_phrases, has_outcome, quantities
from matproof.suites.matter_to_mechanism.terms import Masks, Terms, mention

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scores = dict[str, Floats]

_REMEMBERED = 65_536


class RowScorer:
    """Scores batches of rows under one profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._terms = Terms(profile, CAUSAL_WORDS)
        self._numbers: dict[str, int] = {}
        self._masks: Masks = self._terms.masks([])
        tiers = profile.mechanism
        self._vocabulary_total = 3 * len(tiers.high) + 1.5 * len(tiers.medium) + 0.5 * len(tiers.low)
        self._family = lru_cache(_REMEMBERED)(self._find_family)
        self._evidence = lru_cache(_REMEMBERED)(self._find_evidence)
        self._component = lru_cache(_REMEMBERED)(self._find_component)

    @property
    def names(self) -> list[str]:
        """The distinct tokens of all batches, by number."""
        return list(self._numbers)

    def numbers(self, batch: Batch) -> NDArray[np.int32]:
        """The number of each of the batch's distinct tokens among those of all batches."""
        numbers = self._numbers
        fresh = [name for name in batch.cut.names if name not in numbers]
        if fresh:
            numbers.update(zip(fresh, range(len(numbers), len(numbers) + len(fresh)), strict=True))
            self._masks = np.concatenate((self._masks, self._terms.masks(fresh)))
        return np.fromiter(map(numbers.__getitem__, batch.cut.names), np.int32, len(batch.cut.names))

    def scores(self, batch: Batch, numbers: NDArray[np.int32]) -> Scores:
        """Scores of the rows of `batch` by column name; `numbers` as `numbers` gave them for it."""
        masks = self._text_masks(batch, numbers)
        at = {place: masks[batch.texts(place)] for place in range(AROUND)}
        shared = at[HYPOTHESIS] | at[MECHANISM]
        around = np.stack((batch.texts(AROUND), batch.first[1:]), axis=1).reshape(-1)
        # reduceat wants indices that exist; the row of zeros appended ends the last row's steps.
        reasoning = np.bitwise_or.reduceat(np.concatenate((masks, masks[:1] * 0)), around, axis=0)[::2]
        bits = BitSets(batch.cut, batch.first)
        return {
            **_chain(batch, bits),
            **_alignment(batch, bits, self._causes(batch, at[HYPOTHESIS])),
            **self._specificity(batch, shared | reasoning),
            "sns_cross_domain": self._cross_domain(batch, at[HYPOTHESIS]),
            **self._plausibility(batch, shared | at[INTERVENTION]),
            **self._decomposition(batch, at[FAILURE], bits),
        }

    def _text_masks(self, batch: Batch, numbers: NDArray[np.int32]) -> Masks:
        """For each text of the batch what its tokens decide."""
        by_name = self._masks[numbers]
        matters = (by_name != 0).max(axis=1)[batch.cut.tokens]
        tokens, texts = batch.cut.tokens[matters], batch.cut.documents[matters]
        masks = np.zeros((len(batch.cut.bounds) - 1, by_name.shape[1]), np.uint64)
        if len(texts):
            starts = np.flatnonzero(np.concatenate(([True], texts[1:] != texts[:-1])))
            masks[texts[starts]] = np.bitwise_or.reduceat(by_name[tokens], starts, axis=0)
        return masks

    def _causes(self, batch: Batch, masks: Masks) -> Floats:
        """Hits of the causal patterns."""
        single, pairs = CAUSAL_WORDS[:8], CAUSAL_WORDS[8:]
        hits = _count(masks, self._terms.of_words(*single))
        for row in np.flatnonzero((masks & self._terms.of_words(*pairs)).any(axis=1)).tolist():
            hits[row] += causal_phrases(batch.rows[row].hypothesis)
        return hits

    def _specificity(self, batch: Batch, masks: Masks) -> Scores:
        terms, rows = self._terms, batch.rows
        texts = [row.for_specificity() for row in rows]
        wanted = terms.of_lists("high", "medium", "low", "characterization")
        found = terms.add_phrases(masks, wanted, texts.__getitem__)
        high, medium, low = (_count(found, terms.of_lists(tier)) for tier in ("high", "medium", "low"))
        vocabulary = np.minimum(1.0, 3 * (3 * high + 1.5 * medium + 0.5 * low) / self._vocabulary_total)
        quantitative = np.minimum(1.0, np.fromiter(map(quantities, texts), np.float64, len(texts)) / 5)
        characterization = np.minimum(1.0, _count(found, terms.of_lists("characterization")) / 4)
        depth = np.minimum(1.0, batch.words("mechanism") / (3 * (batch.words("hypothesis") + 1)))
        parts = {
            "msi_vocabulary": (0.35, vocabulary), "msi_quantitative": (0.25, quantitative),
            "msi_characterization": (0.20, characterization), "msi_depth": (0.20, depth),
        }  # fmt: skip
        return _with_whole("msi", parts)

    def _cross_domain(self, batch: Batch, masks: Masks) -> Floats:
        wanted = self._terms.of_lists("cross_domain")
        found = self._terms.add_phrases(masks, wanted, lambda row: batch.rows[row].hypothesis)
        return np.minimum(1.0, _count(found, wanted) / 2)

    def _plausibility(self, batch: Batch, masks: Masks) -> Scores:
        terms, rows = self._terms, batch.rows
        lists = [f"family {key}" for key in self._profile.system_constituents]
        wanted = terms.of_lists("scalable", "not_scalable", *lists)
        found = terms.add_phrases(masks, wanted, lambda row: rows[row].for_plausibility())
        families = np.fromiter((self._family(row.battery_system) for row in rows), np.int64, len(rows))
        constituents = np.zeros(len(rows))
        for family, name in enumerate(lists):
            of_family = families == family
            constituents[of_family] = _count(found[of_family], terms.of_lists(name))
        scalable, not_scalable = (_count(found, terms.of_lists(name)) for name in ("scalable", "not_scalable"))
        claims = [0.8 if has_outcome(row.outcome) else 0.6 if len(row.outcome.split()) > 10 else 0.3 for row in rows]
        parts = {
            "ip_consistency": (0.20, np.where(batch.words("intervention") > 5, 1.0, 0.4)),
            "ip_compatibility": (0.20, np.minimum(1.0, 0.5 + 0.1 * constituents)),
            "ip_scalability": (0.15, np.maximum(0.0, np.minimum(1.0, 0.3 + 0.15 * scalable) - 0.2 * not_scalable)),
            "ip_evidence": (0.25, np.array([self._evidence(row.evidence) for row in rows])),
            "ip_outcome": (0.20, np.array(claims)),
        }
        return _with_whole("ip", parts)

    def _decomposition(self, batch: Batch, masks: Masks, bits: BitSets) -> Scores:
        terms, rows = self._terms, batch.rows
        found = terms.add_phrases(masks, terms.of_lists("high", "vague"), lambda row: rows[row].failure_mode)
        high, vague = (_count(found, terms.of_lists(name)) for name in ("high", "vague"))
        parts = {
            "pdq_core": (0.30, _core(batch.words("core") / (batch.words("problem") + 1))),
            "pdq_failure": (0.30, np.minimum(1.0, np.maximum(0.0, 0.3 + 0.2 * high - 0.1 * vague))),
            "pdq_consistency": (0.20, np.maximum(0.2, bits.between(batch.texts(BROAD), batch.texts(FINE)))),
            "pdq_component": (0.20, np.array([self._component(row.component) for row in rows])),
        }
        return _with_whole("pdq", parts)

    def _find_family(self, battery_system: str) -> int:
        """Which family is the first that is mentioned; -1 where none is."""
        for family, key in enumerate(self._profile.system_constituents):
            if mention(battery_system, [key], self._profile.match):
                return family
        return -1

    def _find_evidence(self, text: str) -> float:
        for key, score in self._profile.evidence.items():
            if mention(text, [key], self._profile.match):
                return score
        return self._profile.evidence_otherwise

    def _find_component(self, text: str) -> float:
        named = mention(text, self._profile.components, self._profile.match)
        return min(1.0, 0.4 * named + (0.2 if len(text) > 5 else 0.0))


def _with_whole(metric: str, parts: dict[str, tuple[float, Floats]]) -> Scores:
    """Sub-scores and their weighted sum, at most 1: weights that sum to 1 may do so but for the last bit."""
    whole: Any = 0.0
    for weight, values in parts.values():
        whole = whole + weight * values
    return {name: values for name, (_, values) in parts.items()} | {metric: np.minimum(1.0, whole)}


def _chain(batch: Batch, bits: BitSets) -> Scores:
    steps = batch.steps
    some = steps > 0
    sums = bits.chains(batch.texts(STEPS), steps)
    progression = np.where(steps == 1, 0.5, sums.progression / np.maximum(1, steps - 1))
    redundancy = sums.pairs / np.maximum(1, steps * (steps - 1) / 2)
    # Without steps the last text is not a step; its value is not used.
    convergence = bits.between(batch.first[1:] - 1, batch.texts(HYPOTHESIS))
    length = batch.words_per_step
    density = np.maximum(0.0, np.minimum(_logistic(0.05 * (length - 40)), 1 - _logistic(0.02 * (length - 150))))
    parts = {
        "rcf_progression": (0.30, np.where(some, progression, 0.0)),
        "rcf_convergence": (0.30, np.where(some, convergence, 0.0)),
        "rcf_non_redundancy": (0.25, np.where(some, np.maximum(0.0, 1 - redundancy), 0.0)),
        "rcf_density": (0.15, np.where(some, density, 0.0)),
    }
    return _with_whole("rcf", parts)


def _alignment(batch: Batch, bits: BitSets, causes: Floats) -> Scores:
    hypothesis, rows = batch.texts(HYPOTHESIS), batch.rows
    scope = bits.between(batch.texts(PROBLEM), hypothesis)
    failure = bits.between(batch.texts(FAILURE), hypothesis)
    target = bits.between(batch.texts(TARGET), hypothesis)
    coherence = bits.between(batch.texts(INTERVENTION), batch.texts(MECHANISM))
    no_failure = np.array([not row.failure_mode.strip() for row in rows])
    no_target = np.array([not row.target.strip() for row in rows])
    no_plan = np.array([not row.intervention.strip() or not row.mechanism.strip() for row in rows])
    parts = {
        "hpa_scope": (0.25, scope),
        "hpa_failure": (0.25, np.where(no_failure, 0.8 * scope, failure)),
        "hpa_target": (0.15, np.where(no_target, 0.5, target)),
        "hpa_causal": (0.20, np.minimum(1.0, causes / 4)),
        "hpa_coherence": (0.15, np.where(no_plan, 0.3, coherence)),
    }
    return _with_whole("hpa", parts)


def _count(masks: Masks, wanted: Masks) -> Floats:
    """How many bits of `wanted` each mask has."""
    return np.asarray(np.bitwise_count(masks & wanted).sum(axis=1), dtype=np.float64)


def _core(ratio: Floats) -> Floats:
    middle = (ratio >= 0.15) & (ratio <= 0.5)
    return np.asarray(np.where(middle, 1.0, np.where(ratio < 0.05, 0.3, np.where(ratio > 0.8, 0.4, 0.7))))


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))
