import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.tables.words import clean, cost_text, money_text, seconds_text, share_text


@given(st.text(max_size=200))
def test_cleaned_text_holds_no_control_character_and_can_be_written(text: str) -> None:
    shown = clean(text)
    shown.encode()
    assert not [char for char in shown if char not in "\n\t" and (ord(char) < 32 or 127 <= ord(char) < 160)]
    assert clean(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://a.example\x07link\x1b]8;;\x07", "link"),
        ("10 %\r50 %\r100 %\r\ndone", "100 %\ndone"),
        ("safe\u202egpj.exe", "safe[U+202E]gpj.exe"),
        ("a\x00b", "ab"),
        ("\ud800", "?"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_a_terminal_would_obey_is_not_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_huge_text_says_how_much_is_left_out() -> None:
    assert clean("x" * 1000, 10) == "x" * 10 + "… [990 more characters]"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (seconds_text(0.04), "0.0 s"),
        (seconds_text(12.4), "12 s"),
        (seconds_text(59.9), "1.0 min"),
        (seconds_text(3600 * 2), "2.0 h"),
        (seconds_text(None), "?"),
        (money_text(0.0), "$0"),
        (money_text(0.00412), "$0.0041"),
        (money_text(0.5), "$0.50"),
        (money_text(12.3), "$12.30"),
        (money_text(1e-6), "$1.0e-06"),
        (cost_text(None, 0.4), "≥ $0.40"),
        (cost_text(None, None), "?"),
        (share_text(0.75, 0.118), "75 ± 12 %"),
        (share_text(1.0, None), "100 %"),
        (share_text(None, None), "–"),
    ],
)
def test_numbers_have_one_form(shown: str, expected: str) -> None:
    assert shown == expected
