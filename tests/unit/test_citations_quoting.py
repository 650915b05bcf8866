"""Quotes and numbers are found where they stand, whatever the white space and the unit, and nowhere else."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from matproof.evaluation.quoting import find_number, find_quote, squeezed, too_wide

TEXT = [
    "# Results",
    "",
    "a0  =  5.431 Å",
    "energy: -3.2e+01 eV after 12 steps",
    '{"value":   0.97,',
    ' "unit": ""}',
    "error 12.5 %",
]


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("a0 = 5.431", (3, 3)),
        ("a0=5.431 Å", (3, 3)),
        ("5.431 Å energy:", (3, 4)),
        ('"value": 0.97, "unit": ""', (5, 6)),
        ("# Results\n\n\na0", (1, 3)),
        ("after\t12 steps", (4, 4)),
    ],
)
def test_white_space_does_not_matter(quote: str, place: tuple[int, int]) -> None:
    assert find_quote(quote, TEXT, 1) == place


@pytest.mark.parametrize("quote", ["5.43", "431 Å", "after 1", "A0 = 5.431", "a0 = 5.432", "afterwards", "", " \n"])
def test_what_is_not_there_letter_for_letter_is_not_found(quote: str) -> None:
    assert find_quote(quote, TEXT, 1) is None


def test_a_quote_of_one_or_two_characters_must_be_a_whole_line() -> None:
    assert find_quote("=", TEXT, 1) is None
    assert find_quote("55", ["x 55", "55"], 7) == (8, 8)


@pytest.mark.parametrize("quote", [".*", "a0.*5", "(a+)+$", "[0-9]+", "\\d", "a0|b0", "^# Results$"])
def test_a_quote_is_no_pattern(quote: str) -> None:
    assert find_quote(quote, TEXT, 1) is None
    assert find_quote(quote + "!!", [f"x {quote}!! y"], 1) == (1, 1)


@given(st.lists(st.text(max_size=30), max_size=12), st.data())
def test_every_run_of_whole_lines_is_found_where_it_stands(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, max(0, len(lines) - 1)))
    last = data.draw(st.integers(first, max(0, len(lines) - 1)))
    quote = "\n".join(lines[first : last + 1])
    if len(squeezed(quote).replace(" ", "")) < 3:
        return
    place = find_quote(quote, lines, 1)
    assert place is not None
    assert squeezed(quote) in squeezed("\n".join(lines[place[0] - 1 : place[1]]))


@given(st.text(max_size=80))
@example("a ( b ) , \t c")
def test_squeezing_twice_changes_nothing(text: str) -> None:
    assert squeezed(squeezed(text)) == squeezed(text)


@given(
    st.text(alphabet="ab \n,(", min_size=1, max_size=40), st.lists(st.text(alphabet="ab ,(", max_size=10), max_size=8)
)
def test_what_is_found_is_there(quote: str, lines: list[str]) -> None:
    place = find_quote(quote, lines, 1)
    if place is not None:
        assert squeezed(quote) in squeezed("\n".join(lines[place[0] - 1 : place[1]]))


@pytest.mark.parametrize(
    ("number", "precision", "unit"),
    [
        (5.431, None, "angstrom"),
        (5.43, None, "angstrom"),
        (0.5431, None, "nm"),
        (5.4, 0.05, "angstrom"),
        (-32.0, None, "eV"),
        (-32000, None, "meV"),
        (12, None, ""),
        (0.97, 0, ""),
        (0.125, None, ""),
        (12.5, None, "%"),
    ],
)
def test_a_number_is_found_in_its_own_or_another_unit(number: float, precision: float | None, unit: str) -> None:
    assert find_number(number, precision, unit, TEXT, 1) is not None


@pytest.mark.parametrize(
    ("number", "precision", "unit"),
    [
        (5.44, None, "angstrom"),
        (5.431, None, "eV"),
        (5.431, None, "nm"),
        (32, None, "eV"),
        (-32, None, "K"),
        (1, None, ""),
        (0, None, ""),
        (431, None, ""),
        (2, None, ""),
        (97, None, "%"),
    ],
)
def test_a_number_that_is_not_there_is_not_found(number: float, precision: float | None, unit: str) -> None:
    assert find_number(number, precision, unit, TEXT, 1) is None


@pytest.mark.parametrize("text", ["1.2.3", "x5", "v1.5", "1e999", "5..6", "2026-11-21T10:00"])
def test_parts_of_versions_names_and_dates_are_no_numbers_of_their_own(text: str) -> None:
    for number in (5, 1.5, 2.3, 6, 1.2):
        assert find_number(number, None, "", [text], 1) in (None, (1, 1) if text == "5..6" else None)


def test_fortran_and_typographic_numbers_are_read() -> None:
    assert find_number(-0.0015, None, "", ["x = −1.5D-03"], 3) == (3, 3)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_a_number_as_it_is_printed_is_found(number: float) -> None:
    assert find_number(number, None, "", [f"result: {number!r}"], 1) == (1, 1)


@given(
    st.floats(min_value=0.001, max_value=1e6),
    st.floats(min_value=1e-6, max_value=0.05),
    st.floats(min_value=-0.2, max_value=0.2),
)
def test_a_number_is_found_exactly_within_its_precision(number: float, share: float, off: float) -> None:
    there = number * (1 + off)
    if math.isclose(abs(off), share, rel_tol=1e-3):
        return
    found = find_number(number, share * number, "", [f"{there!r}"], 1)
    assert (found is not None) == (abs(off) < share)


def test_a_precision_that_shows_nothing_is_too_wide() -> None:
    assert too_wide(10, 1)
    assert too_wide(0, 0.1)
    assert not too_wide(10, 0.5)
    assert not too_wide(0, 0)
    assert not too_wide(10, None)


@pytest.mark.parametrize(
    "hostile", ["1" * 200_000 + ".", "1.1" * 60_000, "a " * 100_000, "((((" * 50_000, "1e" * 90_000]
)
def test_hostile_text_takes_no_time(hostile: str) -> None:
    assert find_quote("a " * 900 + "b", [hostile], 1) is None
    assert find_number(3.25, None, "eV", [hostile], 1) is None
