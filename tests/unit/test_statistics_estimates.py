"""Formulas against worked examples that others published, and intervals against generated runs of known truth."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, rankdata, wilcoxon

from matproof.tables.agreement import Pair, agreement
from matproof.tables.estimates import (
    POWER,
    claim_means,
    detectable_difference,
    holm,
    indistinct_groups,
    mean_estimate,
    paired_power,
    pass_at_k,
    share_estimate,
    signed_rank,
    wilson,
)


@pytest.mark.parametrize(
    ("count", "number", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_intervals_of_newcombe_1998(count: int, number: int, low: float, high: float) -> None:
    assert list(wilson(count / number, number)) == pytest.approx([low, high], abs=5e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200).flatmap(lambda number: st.tuples(st.integers(0, number), st.just(number))))
def test_wilson_is_scipys_where_scipy_has_it(case: tuple[int, int]) -> None:
    count, number = case
    interval = binomtest(count, number).proportion_ci(method="wilson")
    assert list(wilson(count / number, number)) == pytest.approx([interval.low, interval.high])


def test_holm_adjusts_the_usual_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_test_that_could_not_be_made_is_no_member_of_the_family() -> None:
    assert holm([0.02, None, 0.5]) == [pytest.approx(0.04), None, pytest.approx(0.5)]


def test_signed_ranks_of_the_usual_example() -> None:
    first = [125, 115, 130, 140, 140, 115, 140, 125, 140, 135]
    second = [110, 122, 125, 120, 140, 124, 123, 137, 135, 145]
    found = signed_rank([float(one - two) for one, two in zip(first, second, strict=True)])
    assert found.n == 9
    assert found.rank_biserial == pytest.approx(9 / 45)  # T+ 27, T- 18


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), min_size=1, max_size=8))
def test_the_exact_test_counts_every_choice_of_signs(differences: list[float]) -> None:
    ranks = rankdata(np.abs(differences))
    up = sum(rank for rank, one in zip(ranks, differences, strict=True) if one > 0)
    sums = [sum(itertools.compress(ranks, signs)) for signs in itertools.product((0, 1), repeat=len(ranks))]
    assert signed_rank(differences).p_value == pytest.approx(sum(one >= up for one in sums) / len(sums))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40, unique=True), st.data())
def test_without_ties_the_test_is_scipys(sizes: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    differences = [float(sign * size) for sign, size in zip(signs, sizes, strict=True)]
    assert signed_rank(differences).p_value == pytest.approx(float(wilcoxon(differences, alternative="greater").pvalue))


def test_three_wins_of_three_are_no_proof() -> None:
    assert signed_rank([1.0, 2.0, 3.0]).p_value == pytest.approx(1 / 8)


def test_the_power_of_a_paired_t_test_is_that_of_the_g_power_manual() -> None:
    assert paired_power(0.421637, 1.0, 50) == pytest.approx(0.832114, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 200), st.floats(0.1, 3))
def test_the_detectable_difference_is_found_with_the_power_it_promises(number: int, deviation: float) -> None:
    found = detectable_difference(deviation, number)
    assert found is not None
    assert paired_power(found, deviation, number) == pytest.approx(POWER, abs=1e-4)


def test_no_difference_is_detectable_where_nothing_spreads() -> None:
    assert (detectable_difference(0.0, 10), detectable_difference(1.0, 1)) == (None, None)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_pass_at_k_is_the_share_of_all_choices_with_a_success(tries: list[bool], k: int) -> None:
    choices = list(itertools.combinations(tries, k))
    expected = sum(any(choice) for choice in choices) / len(choices) if choices else None
    found = pass_at_k(sum(tries), len(tries), k)
    assert found is None if expected is None else found == pytest.approx(expected)


def test_settings_that_none_of_their_differences_tells_apart_share_a_group() -> None:
    assert indistinct_groups("abcd", [("a", "c"), ("a", "d"), ("b", "d")]) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert indistinct_groups("abc", []) == [("a", "b", "c")]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from(list(itertools.combinations("abcde", 2)))))
def test_groups_hold_every_indistinct_pair_and_no_other(apart: set[tuple[str, str]]) -> None:
    groups = indistinct_groups("abcde", sorted(apart))
    together = {pair for group in groups for pair in itertools.combinations(group, 2)}
    assert together == set(itertools.combinations("abcde", 2)) - apart
    assert {name for group in groups for name in group} == set("abcde")


def _covered(truth: float, intervals: list[tuple[float | None, float | None]]) -> int:
    return sum(low is not None and high is not None and low <= truth <= high for low, high in intervals)


def _expected_range(number: int, confidence: float = 0.95) -> tuple[int, int]:
    """Hits of `number` intervals that a true coverage of `confidence` gives but once in 10,000 times."""
    return int(binom.ppf(5e-5, number, confidence)), int(binom.ppf(1 - 5e-5, number, confidence))


def test_the_interval_of_a_mean_covers_the_truth_though_repeats_of_a_claim_are_alike() -> None:
    random = np.random.default_rng(11)
    intervals = []
    for _ in range(400):
        pairs = [
            (str(claim), float(3 + hard + random.normal(0, 0.5)))
            for claim, hard in enumerate(random.normal(0, 1, 20))
            for _ in range(3)
        ]
        found = mean_estimate(list(claim_means(pairs).values()))
        intervals.append((found.low, found.high))
    low, high = _expected_range(400)
    assert low <= _covered(3.0, intervals) <= high


@pytest.mark.parametrize("repeats", [1, 4])
def test_the_interval_of_a_success_rate_covers_at_least_as_often_as_it_says(repeats: int) -> None:
    random = np.random.default_rng(12)
    intervals = []
    for _ in range(400):
        chances = random.beta(0.6, 0.6, 40)  # claims differ: the truth is their mean, 0.5
        means = [float((random.random(repeats) < chance).mean()) for chance in chances]
        found = share_estimate(means)
        intervals.append((found.low, found.high))
    assert _covered(0.5, intervals) >= _expected_range(400)[0]


def test_the_interval_of_kappa_covers_nearly_as_often_as_it_says() -> None:
    random, intervals = np.random.default_rng(13), []
    for _ in range(40):
        found = agreement(_two_raters(random, 60)).kappa
        intervals.append((found.low, found.high))
    assert _covered(_true_kappa(), intervals) >= _expected_range(40, 0.92)[0]  # percentiles fall a little short


_STEPS = (-2, -1, 0, 0, 1, 2)


def _two_raters(random: np.random.Generator, number: int) -> list[Pair]:
    judge = random.integers(1, 6, number)
    human = np.clip(judge + random.choice(_STEPS, number), 1, 5)
    return [Pair(cluster=index, judge=int(judge[index]), human=int(human[index])) for index in range(number)]


def _true_kappa() -> float:
    """Of two such raters: 1 less the mean squared distance by that of independent ones."""
    both = [(judge, min(5, max(1, judge + step))) for judge in range(1, 6) for step in _STEPS]
    seen = sum((one - two) ** 2 for one, two in both) / len(both)
    chance = sum((one - two) ** 2 for one, _ in both for _, two in both) / len(both) ** 2
    return 1 - seen / chance


def test_one_claim_has_a_mean_and_no_error() -> None:
    found = mean_estimate([4.0])
    assert (found.value, found.se, found.low, found.note) == (4.0, None, None, "one claim: its error is unknown")


def test_nothing_scored_is_unknown_and_not_zero() -> None:
    assert (mean_estimate([]).value, share_estimate([]).value) == (None, None)


def test_unknown_values_are_in_no_mean() -> None:
    assert claim_means([("a", 4.0), ("a", None), ("b", None)]) == {"a": 4.0}
    assert not math.isnan(claim_means([("a", 1.0)])["a"])
