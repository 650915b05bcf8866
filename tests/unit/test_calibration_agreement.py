"""Kappa against scikit-learn, warnings, and the real human-against-model scores."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from matproof.cli import group
from matproof.core.errors import InputError
from matproof.tables.agreement import Pair, agreement
from matproof.tables.calibration.calibrating import calibrate_pairs, range_warning
from matproof.tables.calibration.foreign import read_pairs

REAL = Path(__file__).resolve().parents[2].parent / "shared/real/calibration/synthesis-extraction-human-vs-llm.csv"


def _pairs(scores: list[tuple[int, int]]) -> list[Pair]:
    return [Pair(cluster=index, judge=one, human=two) for index, (one, two) in enumerate(scores)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30))
def test_kappa_is_scikit_learns(scores: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    found = agreement(_pairs(scores))
    if len({score for pair in scores for score in pair}) == 1:
        assert (found.kappa.value, found.exact.value) == (None, 1.0)
        assert "not defined" in (found.kappa.note or "")
    else:
        one, two = zip(*scores, strict=True)
        expected = cohen_kappa_score(one, two, weights="quadratic", labels=[1, 2, 3, 4, 5])
        assert found.kappa.value == pytest.approx(expected)
    assert found.within_one.value == pytest.approx(sum(abs(a - b) <= 1 for a, b in scores) / len(scores))
    assert found.bias.value == pytest.approx(sum(a - b for a, b in scores) / len(scores))


def test_no_pair_is_no_number() -> None:
    found = agreement([])
    assert (found.n, found.kappa.value, found.within_one.value) == (0, None, None)


def test_the_interval_holds_the_value_and_is_the_same_every_time() -> None:
    scores = [(1, 2), (2, 2), (5, 4), (4, 4), (3, 1), (5, 5)] * 3
    first, again = agreement(_pairs(scores)), agreement(_pairs(scores))
    assert first == again
    kappa = first.kappa
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.value is not None
    assert kappa.low < kappa.value < kappa.high


def test_runs_of_one_claim_are_resampled_together() -> None:
    alike = [Pair(cluster="only", judge=one, human=two) for one, two in ((1, 1), (4, 5), (3, 3))]
    assert agreement(alike).kappa.low is None
    assert agreement(alike).kappa.note == "one claim: no interval is known"


def test_crowded_scores_are_warned_of_and_spread_ones_are_not() -> None:
    crowded = range_warning(agreement(_pairs([(4, 5), (5, 4), (4, 4), (5, 5)] * 5)))
    assert crowded is not None
    assert "unrelated raters with these scores would reach 1.00, and kappa is 0.00" in crowded
    assert range_warning(agreement(_pairs([(1, 1), (2, 3), (3, 3), (4, 3), (5, 5)] * 4))) is None
    assert range_warning(agreement(_pairs([(1, 5), (5, 1), (2, 5)] * 4))) is None  # within-one looks bad too


def test_scores_between_steps_are_refused_by_line_unless_rounding_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("claim,dimension,judge,human\nA,overall,4,4.5\nB,overall,2,0\nC,overall,,3\n")
    with pytest.raises(InputError, match=r"line 2: overall: human: 4\.5 is not a whole number from 1 to 5"):
        read_pairs(path, round_half_up=False)
    found = read_pairs(path, round_half_up=True)
    assert [(pair.judge, pair.human) for pair in found.pairs["overall"]] == [(4, 5), (2, 1)]
    assert (found.rounded, found.clipped, found.unscored) == (1, ("line 3, human 0",), {"overall": 1})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dimension,judge,human\n", "no column names the item"),
        ("claim,dimension,judge\n", "no column human"),
        ("claim,dimension,judge,human\nA,overall,x,1\n", "'x' is not a number"),
        ("claim,dimension,judge,human\n", "holds no pair of scores"),
    ],
)
def test_a_table_of_pairs_that_can_not_be_read_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_pairs(path, round_half_up=True)


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_file(), reason="the shared real calibration data are not beside this checkout")
def test_the_real_scores_give_the_known_numbers_and_the_warning() -> None:
    found = read_pairs(REAL, round_half_up=True)
    report = calibrate_pairs(found, "llm")
    overall = report.rows[0]
    assert (overall.dimension, overall.n) == ("overall", 44)
    assert round(overall.kappa or 0, 3) == 0.416
    assert round(overall.within_one or 0, 2) == 0.98
    assert overall.warning is not None
    assert "range restriction" in overall.warning
    assert len(report.rows) == 8
    assert found.clipped == ("line 205, human 0", "line 213, human 0")  # the two zeros become ones, and are named
    done = CliRunner().invoke(group, ["calibrate", "report", "--pairs", str(REAL), "--round-half-up"])
    assert "clipped to 1 to 5: line 205, human 0; line 213, human 0" in done.output
    assert isinstance(CliRunner().invoke(group, ["calibrate", "report", "--pairs", str(REAL)]).exception, InputError)
