"""Rows that are scored together: their lower-cased texts, and the tokens of those that count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matproof.suites.matter_to_mechanism.columns import USED_BY
from matproof.suites.matter_to_mechanism.rows import step_spans
from matproof.suites.matter_to_mechanism.tokens import Cut, cut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TEXTS = tuple(USED_BY)
"""Names of a row's texts, in the order in which `Batch` takes them."""

HYPOTHESIS, INTERVENTION, MECHANISM, FAILURE, PROBLEM, TARGET, BROAD, FINE, AROUND, STEPS = range(10)
"""Places of a row's texts among those cut into tokens: `AROUND` is its reasoning outside of steps, `STEPS` and those
after it the steps."""


@dataclass(slots=True)
class Texts:
    """Lower-cased texts of a row."""

    hypothesis: str
    reasoning: str
    problem: str
    failure_mode: str
    target: str
    intervention: str
    mechanism: str
    battery_system: str
    evidence: str
    outcome: str
    core: str
    component: str
    broad: str
    fine: str

    def cut_apart(self) -> list[str]:
        """The texts whose tokens count, in the order of `HYPOTHESIS` … `STEPS`."""
        around, steps, at = [], [], 0
        for start, end in step_spans(self.reasoning):
            around.append(self.reasoning[at:start])
            at = end
            step = self.reasoning[start:end]
            if step and not step.isspace():
                steps.append(step)
        around.append(self.reasoning[at:])
        return [
            self.hypothesis, self.intervention, self.mechanism, self.failure_mode, self.problem, self.target,
            self.broad, self.fine, " ".join(around), *steps,
        ]  # fmt: skip

    def for_specificity(self) -> str:
        """Where MSI looks for terms and quantities."""
        return f"{self.hypothesis} {self.mechanism} {self.reasoning}"

    def for_plausibility(self) -> str:
        """Where IP looks for terms."""
        return f"{self.intervention} {self.mechanism} {self.hypothesis}"


class Batch:
    """Rows scored together: their texts, and the tokens of these."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows = [Texts(*map(str.lower, texts)) for texts in rows]
        apart = [row.cut_apart() for row in self.rows]
        counts = np.fromiter(map(len, apart), np.int64, len(apart))
        self.first: Ints = np.concatenate(([0], np.cumsum(counts)))
        self.steps: Ints = counts - STEPS
        pieces = [text for texts in apart for text in texts]
        self.cut: Cut = cut(pieces)
        self.words_per_step: Floats = np.array(
            [sum(len(step.split()) for step in texts[STEPS:]) / max(1, len(texts) - STEPS) for texts in apart]
        )

    def texts(self, place: int) -> Ints:
        """The numbers of the rows' texts at `place`."""
        return self.first[:-1] + place

    def tokens(self, place: int) -> tuple[NDArray[np.int32], Ints]:
        """The tokens of the rows' texts at `place`, one row after the other, and how many each has."""
        texts = self.texts(place)
        starts, counts = self.cut.bounds[texts], self.cut.bounds[texts + 1] - self.cut.bounds[texts]
        before = np.concatenate(([0], np.cumsum(counts)))
        at = np.arange(before[-1]) + np.repeat(starts - before[:-1], counts)
        return self.cut.tokens[at], counts

    def words(self, name: str) -> Ints:
        """Words of each row's text."""
        return np.fromiter((len(getattr(row, name).split()) for row in self.rows), np.int64, len(self.rows))
