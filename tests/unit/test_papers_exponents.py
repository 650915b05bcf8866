"""Powers of ten: written one way, recovered where their places were seen, marked where they were not."""

import pytest

from matproof.papers.exponents import mark_doubtful, recovered, written_out


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("10-4 S cm^-1.", "10-4 [exponent?] S cm^-1."),
        ("a rate of 10-4.", "a rate of 10-4 [exponent?]."),
        ("5 × 10 -4 S", "5 × 10 -4 [exponent?] S"),
        ("10 −12 s", "10 −12 [exponent?] s"),
        ("3.2 × 104 K", "3.2 × 104 [exponent?] K"),
        ("3 · 1021 atoms", "3 · 1021 [exponent?] atoms"),
        ("50 × 100 nm", "50 × 100 nm"),
        ("10 × 10 × 10 cells", "10 × 10 × 10 cells"),
        ("a 2 × 1000 grid", "a 2 × 1000 grid"),
        ("3 × 10^4 K", "3 × 10^4 K"),
        ("from 10 -4 = 6", "from 10 -4 = 6"),
        ("10-15 nm", "10-15 nm"),
        ("10-4.5", "10-4.5"),
        ("2010-4", "2010-4"),
    ],
)
def test_what_may_be_a_power_of_ten_is_marked(text: str, marked: str) -> None:
    assert mark_doubtful(text) == marked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("10⁻⁴ S cm⁻¹", "10^-4 S cm^-1"), ("2 m²/s", "2 m^2/s"), ("¹H and ⁻", "¹H and ⁻"), ("CO₂", "CO₂")],
)
def test_superscript_characters_are_written_out(text: str, wanted: str) -> None:
    assert written_out(text) == wanted


@pytest.mark.parametrize(
    ("text", "seen", "wanted"),
    [
        ("5 × 10 -4 S cm -1.", "5 × 10^-4 S cm^-1.", "5 × 10^-4 S cm^-1."),
        ("10-4 S", "10^-4 S", "10^-4 S"),
        ("10-4 S and 10-4 nm", "10^-4 S and 10-4 nm", "10-4 [exponent?] S and 10-4 [exponent?] nm"),
        ("10-4 S", "nothing of the kind", "10-4 [exponent?] S"),
        ("an area of 3 m 2 each", "an area of 3 m^2 each", "an area of 3 m^2 each"),
        ("10 -12 s and 10 -1 s", "10^-12 s and 10^-1 s", "10^-12 s and 10^-1 s"),
        ("110 -4", "10^-4", "110 -4"),
    ],
)
def test_an_exponent_is_recovered_only_where_nothing_speaks_against_it(text: str, seen: str, wanted: str) -> None:
    assert recovered(text, seen) == wanted
