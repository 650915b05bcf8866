"""Krippendorff's alpha for ordinal scores, beside the published worked example."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.tables.krippendorff import ALL_THE_SAME, NO_PAIRS, ordinal_alpha

# Krippendorff (2011), section C: four observers, twelve units; 0 stands for a missing value.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
)
UNITS = [[value for value in unit if value] for unit in zip(*OBSERVERS, strict=True)]
scores = st.integers(1, 5)


def test_the_published_example_comes_out() -> None:
    alpha = ordinal_alpha(UNITS)
    assert alpha.value == pytest.approx(0.815, abs=0.0005)
    assert (alpha.units, alpha.scores) == (11, 40)


def test_full_agreement_is_one_and_reversal_is_below_chance() -> None:
    assert ordinal_alpha([(score, score) for score in (1, 2, 3, 4, 5)]).value == pytest.approx(1)
    reversed_ = ordinal_alpha([(score, 6 - score) for score in (1, 2, 4, 5)]).value
    assert reversed_ is not None
    assert reversed_ < -0.5


def test_where_nothing_varies_or_pairs_there_is_no_coefficient() -> None:
    assert (ordinal_alpha([(4, 4), (4, 4, 4)]).value, ordinal_alpha([(4, 4)]).reason) == (None, ALL_THE_SAME)
    assert (ordinal_alpha([(4,), ()]).value, ordinal_alpha([]).reason) == (None, NO_PAIRS)


def test_scores_at_random_agree_as_chance_does() -> None:
    drawn = random.Random(1)  # noqa: S311 - a sample, no secret
    alpha = ordinal_alpha([[drawn.randint(1, 5) for _ in range(3)] for _ in range(3000)]).value
    assert alpha == pytest.approx(0, abs=0.04)


@given(st.lists(st.lists(scores, max_size=4), max_size=12), st.randoms())
def test_neither_the_order_of_raters_nor_of_units_matters(units: list[list[int]], order: random.Random) -> None:
    shuffled = [order.sample(unit, len(unit)) for unit in order.sample(units, len(units))]
    one, other = ordinal_alpha(units), ordinal_alpha(shuffled)
    assert one.value == pytest.approx(other.value)
    assert (one.units, one.scores) == (other.units, other.scores)


@given(st.lists(st.lists(scores, min_size=2, max_size=4), min_size=1, max_size=12))
def test_it_is_at_most_one_and_only_ranks_count(units: list[list[int]]) -> None:
    alpha = ordinal_alpha(units).value
    stretched = ordinal_alpha([[score**3 for score in unit] for unit in units]).value
    assert alpha is None or alpha <= 1 + 1e-12
    assert stretched == pytest.approx(alpha)


@given(st.lists(st.lists(scores, min_size=2, max_size=4), min_size=1, max_size=8), scores)
def test_a_unit_of_one_score_changes_nothing(units: list[list[int]], alone: int) -> None:
    assert ordinal_alpha([*units, [alone]]) == ordinal_alpha(units)
