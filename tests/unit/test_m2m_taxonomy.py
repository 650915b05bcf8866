from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from m2m_scores_fixture import score_row, write_rows_of_scores

from matproof.commands.m2m.taxonomy import command
from matproof.suites.matter_to_mechanism.columns import TAXONOMY
from matproof.suites.matter_to_mechanism.scored import load_scores
from matproof.suites.matter_to_mechanism.taxonomy import rate, taxonomy
from matproof.tables.m2m import read_m2m
from matproof.tables.m2m_published import ALL_SYSTEMS, published_numbers

_FLAG = "novel_but_implausible"


def _rates(path: Path, **options: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["system"], row["flag"]): row for row in taxonomy(load_scores([path]), **options)}


def _flagged(*values: bool | None, system: str = "a") -> list[dict[str, Any]]:
    return [score_row(system, f"p{i}", 0.4, **{f"taxonomy_{_FLAG}": value}) for i, value in enumerate(values)]


def test_flags_are_counted_per_system_and_over_all(tmp_path: Path) -> None:
    rows = _flagged(True, False, True) + _flagged(False, False, system="b")
    rates = _rates(write_rows_of_scores(tmp_path / "s.parquet", rows))
    assert (rates["a", _FLAG]["count"], rates["a", _FLAG]["rows"]) == (2, 3)
    assert rates["b", _FLAG]["rate"] == 0
    assert rates[ALL_SYSTEMS, _FLAG]["rate"] == pytest.approx(0.4)
    assert len(rates) == 3 * len(TAXONOMY)


def test_an_unknown_flag_is_counted_apart_and_in_no_rate(tmp_path: Path) -> None:
    row = _rates(write_rows_of_scores(tmp_path / "s.parquet", _flagged(True, None, False)))["a", _FLAG]
    assert (row["unknown"], row["rows"], row["rate"]) == (1, 2, 0.5)


def test_without_a_known_flag_there_is_no_rate(tmp_path: Path) -> None:
    row = _rates(write_rows_of_scores(tmp_path / "s.csv", _flagged(None, None)))["a", _FLAG]
    assert (row["rows"], row["rate"], row["low"], row["unknown"]) == (0, None, None, 2)


def test_the_interval_is_wilsons() -> None:
    # Wilson 1927 for 5 of 10 at 95 %: (5 + z²/2 ± z·sqrt(2.5 + z²/4)) / (10 + z²)
    z = 1.959963984540054
    half = z * (2.5 + z * z / 4) ** 0.5
    row = rate(5, 10)
    assert row["low"] == pytest.approx((5 + z * z / 2 - half) / (10 + z * z))
    assert row["high"] == pytest.approx((5 + z * z / 2 + half) / (10 + z * z))


@given(st.integers(1, 500).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_an_interval_stays_within_0_and_1_and_holds_the_rate(counted: tuple[int, int]) -> None:
    row = rate(*counted)
    assert -1e-12 <= row["low"] <= row["rate"] + 1e-12
    assert row["rate"] - 1e-12 <= row["high"] <= 1 + 1e-12


def test_published_rates_stand_beside_and_pooled_ones_beside_the_pool(tmp_path: Path) -> None:
    rows = _flagged(True, False, system="ChemDFM-8B") + _flagged(True, system="other")
    rates = _rates(write_rows_of_scores(tmp_path / "s.parquet", rows), published=published_numbers())
    assert rates["ChemDFM-8B", _FLAG]["published"] == 0.272
    assert rates[ALL_SYSTEMS, _FLAG]["published"] == 0.014
    assert rates["other", _FLAG]["published"] is None


def test_the_command_writes_the_table_and_shows_it(tmp_path: Path) -> None:
    scores = write_rows_of_scores(tmp_path / "s.parquet", _flagged(True, False, system="a|b"))
    out = tmp_path / "taxonomy.parquet"
    result = CliRunner().invoke(command, [str(scores), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "## novel but implausible" in result.stdout
    assert "a¦b" in result.stdout
    assert len(read_m2m(out, "m2m_taxonomy")) == 2 * len(TAXONOMY)
