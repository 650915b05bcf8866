import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.report import figures
from matproof.report.pages import number_text, size_text, when_text


@given(st.floats(1, 5), st.floats(0, 10))
def test_a_whisker_stays_on_its_axis_and_holds_its_mean(mean: float, error: float) -> None:
    mark = figures.whisker(mean, error, 200, 10)
    assert mark is not None
    assert mark.left is not None
    assert mark.right is not None
    assert 10 <= mark.left <= mark.centre <= mark.right <= 190


def test_without_an_error_there_is_a_dot_and_no_whisker() -> None:
    assert figures.whisker(3, None, 200, 10) == figures.Whisker(100, None, None)
    assert figures.whisker(None, None, 200, 10) is None


@given(st.lists(st.integers(0, 50), max_size=8))
def test_a_stacked_bar_is_full_and_in_order(counts: list[int]) -> None:
    segments = figures.stack([(str(index), count) for index, count in enumerate(counts)], 100)
    assert sum(segment.count for segment in segments) == sum(counts)
    assert sum(segment.width for segment in segments) == pytest.approx(100 if any(counts) else 0, abs=0.1)
    assert segments == sorted(segments, key=lambda segment: segment.x)


@given(st.lists(st.floats(0, 1e6), max_size=6))
def test_a_timeline_shows_every_phase_however_short(seconds: list[float]) -> None:
    parts = figures.timeline([(str(index), value) for index, value in enumerate(seconds)], 700)
    assert all(width >= 2 for _, _, width in parts)
    assert len(parts) == (len(seconds) if sum(seconds) > 0 else 0)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (number_text(1.9990920516005715), "1.99909"),
        (number_text(6.02e23), "6.02e+23"),
        (number_text(None), "–"),
        (size_text(0), "0 B"),
        (size_text(3400), "3.4 kB"),
        (size_text(123_456_789), "123 MB"),
        (size_text(None), "?"),
        (when_text("2026-01-31T12:00:00.000Z"), "2026-01-31 12:00 UTC"),
        (when_text("2026-01-31T12:00:00+02:00"), "2026-01-31 10:00 UTC"),
        (when_text("<yesterday>"), "<yesterday>"),
    ],
)
def test_numbers_sizes_and_times_have_one_form(shown: str, expected: str) -> None:
    assert shown == expected
