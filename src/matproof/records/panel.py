"""Several scores of one thing: their median and spread.

The median of an even number of scores is the lower of the two in the middle. Scores are ordinal, so halfway between
two of them is no score; the lower one was given by someone, grade and success follow from it, and it is never better
than what was said.
"""

from collections.abc import Iterable, Sequence
from statistics import median_low
from typing import Literal

from pydantic import Field

from matproof.records.judgement import DIMENSIONS, Dimension, Judging, LabelledFailure, Part, Score


class ScoreSpread(Part):
    """Scores of one dimension, or of `overall`, over the judgings that were scored."""

    dimension: Dimension | Literal["overall"]
    median: Score
    low: Score
    """Lowest score."""
    high: Score
    """Highest score."""
    scored: int = Field(ge=1)
    """Judgings that gave one; those without a score count in nothing."""


def spread_of(dimension: Dimension | Literal["overall"], scores: Sequence[int]) -> ScoreSpread:
    """Median, range and number of `scores`. Raises ValueError where there is none: nothing stands in for it."""
    if not scores:
        raise ValueError(f"there is no score of {dimension}")
    return ScoreSpread(
        dimension=dimension, median=median_low(scores), low=min(scores), high=max(scores), scored=len(scores)
    )


def spreads(judgings: Iterable[Judging]) -> list[ScoreSpread]:
    """`overall`, then the five dimensions, over the scored ones of `judgings`; empty where none is scored."""
    scored = [judging for judging in judgings if judging.status == "scored"]
    if not scored:
        return []
    rows = [spread_of("overall", [judging.overall for judging in scored if judging.overall is not None])]
    for name in DIMENSIONS:
        given = [dimension.score for judging in scored for dimension in judging.dimensions if dimension.name == name]
        rows.append(spread_of(name, given))
    return rows


def common_labels(judgings: Sequence[Judging]) -> list[LabelledFailure]:
    """Failure labels that at least half of the scored judgings give, each as the first of them gives it."""
    scored = [judging for judging in judgings if judging.status == "scored"]
    first: dict[str, LabelledFailure] = {}
    votes: dict[str, int] = {}
    for judging in scored:
        for name in {failure.label for failure in judging.failure_labels}:
            votes[name] = votes.get(name, 0) + 1
        for failure in judging.failure_labels:
            first.setdefault(failure.label, failure)
    return [failure for name, failure in first.items() if 2 * votes[name] >= len(scored)]
