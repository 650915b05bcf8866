"""Scores of rows: against the metrics written plainly, under permutation, and on nasty input."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import m2m_literal
import m2m_rows

from matproof.commands.m2m.score import command
from matproof.suites.matter_to_mechanism import overlaps
from matproof.suites.matter_to_mechanism.columns import METRICS, SCORE_COLUMNS, SUB_SCORES, TAXONOMY, USED_BY
from matproof.suites.matter_to_mechanism.lexicon import load_profile, profile_path
from matproof.suites.matter_to_mechanism.score import score
from matproof.suites.matter_to_mechanism.scores_file import read_scores

NUMBERS = [*(name for subs in SUB_SCORES.values() for name in subs), *METRICS, "cbs"]
TEXTS = tuple(USED_BY)

FRAGMENTS = (
    "thereby", "by", "increasing", "will", "enable", "leading to", "leading\tto", "which enables", "\n", " ", ".",
    "—", "5 nm", "5.nm", "3.2 mAh/g", "20 °C", "1 k", "7 µm", "7 μm", "2 x 10-4", "× 10⁻3", "x10", "12 %", "4 mol",
    "3 ma cm", "9 kg m", "1.5.2 v", "٣ nm", "[Begin Step 1]", "[End Step 1]", "[Begin Step 2]", "[End Step 2]",
    "[Begin Step x]", "XRD", "seismic", "charge", "transfer", "charge transfer", "solid-state", "butler-volmer",
    "li metal", "MOF", "bot", "naïve", "İon", "ΑΣ", "K2", "snake_case", "poor", "problem", "scalable",
    "commercialized", "cvd without scalability", "NMC", "lfp", "strong", "high", "anode", "sei", "strategy",
    "\u00a0", "\u2028", "\x1f", "\x00", "𝟗 nm", "a", "co",
)  # fmt: skip
text = st.one_of(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(" ".join), st.text(max_size=40), st.just(""))
rows = st.lists(st.fixed_dictionaries(dict.fromkeys(TEXTS, text)), min_size=1, max_size=9)


def table_of(records: list[dict[str, str]]) -> pa.Table:
    """Rows as `read_rows` gives them."""
    names = list(records[0])
    return pa.table({name: pa.array([record[name] for record in records], pa.string()) for name in names})


def generated(count: int, *, systems: int = 1, seed: int = 0) -> list[dict[str, str]]:
    return list(m2m_rows.rows(count, seed=seed, systems=systems))


def plainly(records: list[dict[str, str]], profile: str = "published") -> pd.DataFrame:
    return m2m_literal.score(pd.DataFrame(records), yaml.safe_load(profile_path(profile).read_text(encoding="utf-8")))


def assert_same(records: list[dict[str, str]], profile: str = "published") -> None:
    """Our scores are those of the plain implementation to 1e-9, null where it has none."""
    ours = score(table_of(records), load_profile(profile)).table.to_pydict()
    theirs = plainly(records, profile)
    for name in theirs:
        for index, (one, other) in enumerate(zip(ours[name], theirs[name].tolist(), strict=True)):
            if other == other:
                assert one == pytest.approx(other, abs=1e-9), (name, records[index])
            elif name != "sns_cross_domain":
                assert one is None, (name, records[index])


@pytest.mark.parametrize("profile", ["published", "word"])
def test_scores_of_realistic_rows_are_those_of_the_plain_implementation(profile: str) -> None:
    assert_same(generated(120, systems=2), profile)


def test_a_vocabulary_of_more_than_2000_terms_is_cut_as_the_plain_implementation_cuts_it() -> None:
    records = generated(260, seed=3)
    terms = {word for row in records for word in row["hypothesis"].split()}
    assert len(terms) > 2500
    assert_same(records)


@settings(max_examples=50, deadline=None)
@given(rows, st.sampled_from(["published", "word"]))
def test_scores_of_nasty_text_are_those_of_the_plain_implementation(
    records: list[dict[str, str]], profile: str
) -> None:
    assert_same([{"paper_id": str(index), **record} for index, record in enumerate(records)], profile)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_scores_lie_between_0_and_1(records: list[dict[str, str]]) -> None:
    result = score(table_of([{"paper_id": "p", **record} for record in records]), load_profile()).table
    values = [value for name in NUMBERS for value in result.column(name).to_pylist() if value is not None]
    assert all(0 <= value <= 1 for value in values)


@settings(max_examples=25, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_permuting_rows_permutes_scores(records: list[dict[str, str]], source: random.Random) -> None:
    records = [{"paper_id": str(index), **record} for index, record in enumerate(records)]
    shuffled = records.copy()
    source.shuffle(shuffled)
    assert by_id(records) == by_id(shuffled)


def test_permuting_rows_whose_terms_tie_for_the_last_places_permutes_scores_to_the_last_bit() -> None:
    records = generated(300, systems=2, seed=5)
    shuffled = records.copy()
    random.Random(1).shuffle(shuffled)  # noqa: S311
    assert by_id(records) == by_id(shuffled)


def by_id(records: list[dict[str, str]], **options: Any) -> list[dict[str, Any]]:
    result = score(table_of(records), load_profile(), **options).table.to_pylist()
    return sorted(result, key=lambda row: (row["system"], row["paper_id"]))


def test_threads_and_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    records = generated(150, systems=2)
    once = by_id(records)
    monkeypatch.setattr("matproof.suites.matter_to_mechanism.score._ROWS", 7)
    monkeypatch.setattr("matproof.suites.matter_to_mechanism.neighbours._BLOCK_PRODUCTS", 1000.0)
    assert by_id(records, threads=3) == once


def test_rows_compared_set_by_set_have_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    records = generated(40)
    once = by_id(records)
    monkeypatch.setattr(overlaps, "_LARGE_TABLE", 0)
    for one, other in zip(by_id(records), once, strict=True):
        assert all(one[name] == pytest.approx(other[name], abs=1e-12) for name in NUMBERS)


def test_approximate_neighbours_are_named_and_never_nearer_than_exact_ones() -> None:
    records = generated(400)
    exact = score(table_of(records), load_profile())
    near = score(table_of(records), load_profile(), approximate=True)
    assert near.metadata["neighbours"].startswith("approximate")
    assert exact.metadata["neighbours"].startswith("exact")
    for name in ("sns_corpus", "sns_within_system", "sns_intervention"):
        pairs = list(zip(near.table.column(name).to_pylist(), exact.table.column(name).to_pylist(), strict=True))
        assert all(one >= other - 1e-12 for one, other in pairs)
        assert sum(one - other for one, other in pairs) / len(pairs) < 0.03


def test_a_system_of_four_rows_has_no_sns_and_its_composite_says_so() -> None:
    records = generated(5) + [{**row, "system": "small"} for row in generated(4)]
    scored = score(table_of(records), load_profile())
    *large, small = scored.table.to_pylist()[4:6], scored.table.to_pylist()[-1]
    assert small["sns"] is None
    assert "4 rows" in small["sns_unscored_reason"]
    assert small["cbs_renormalised"]
    assert small["taxonomy_novel_but_implausible"] is None
    weights = load_profile().weights
    five = sum(weights[name] * small[name] for name in METRICS if name != "sns") / (1 - weights["sns"])
    assert small["cbs"] == pytest.approx(five, abs=1e-12)
    assert not large[0][0]["cbs_renormalised"]
    assert any("small" in note for note in scored.notes)


def test_flags_follow_the_thresholds_of_the_profile() -> None:
    rules = load_profile().taxonomy
    for row in score(table_of(generated(60)), load_profile()).table.to_pylist():
        for name in TAXONOMY:
            bounds = rules[name.removeprefix("taxonomy_")].bounds
            expected = all(
                row[metric] > bound.above if bound.above is not None else row[metric] < (bound.below or 0)
                for metric, bound in bounds.items()
            )
            assert row[name] == expected


@pytest.mark.parametrize(
    "long",
    [
        "1" * 1_000_000,
        "by " * 200_000,
        "by will " * 80_000 + "\n increasing enable",
        "[Begin Step 1]" * 60_000,
        "1" + " " * 1_000_000,
        "x" + " " * 1_000_000 + "10-",
        "a" * 1_000_000,
        " ".join(f"t{number}" for number in range(60_000)),
        "".join(f"[Begin Step {n}] a{n} b [End Step {n}]" for n in range(1_500)),
    ],
    ids=["digits", "by", "two lines", "open tags", "digit and space", "x and space", "one token", "tokens", "steps"],
)
def test_long_cells_are_scored_in_linear_time(long: str) -> None:
    """A pattern that tried every split would take hours here."""
    record = dict.fromkeys(TEXTS, long)
    row = score(table_of([{"paper_id": "p", **record}]), load_profile()).table.to_pylist()[0]
    assert 0 <= row["cbs"] <= 1


def test_scores_go_to_a_file_with_the_profile_and_the_method(tmp_path: Path) -> None:
    pd.DataFrame(generated(12)).to_csv(tmp_path / "rows.csv", index=False)
    for ending in ("csv", "parquet"):
        output = tmp_path / f"scores.{ending}"
        result = CliRunner().invoke(command, [str(tmp_path / "rows.csv"), "-o", str(output)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
    table, metadata = read_scores(tmp_path / "scores.parquet")
    assert table.column_names == list(SCORE_COLUMNS)
    assert table.column("paper_id").to_pylist() == [row["paper_id"] for row in generated(12)]
    assert metadata["profile_sha256"] == load_profile().sha256
    assert metadata["neighbours"].startswith("exact")
    again, same = read_scores(tmp_path / "scores.csv")
    assert same == metadata
    assert again.equals(table)


def test_a_missing_column_is_named_with_its_metric(tmp_path: Path) -> None:
    pd.DataFrame(generated(6)).drop(columns="component").to_csv(tmp_path / "rows.csv", index=False)
    result = CliRunner().invoke(command, [str(tmp_path / "rows.csv"), "-o", str(tmp_path / "s.parquet")])
    assert "component" in str(result.exception)
    assert "PDQ" in str(result.exception)
    assert not (tmp_path / "s.parquet").exists()


def test_rows_that_repeat_an_id_are_scored_and_counted() -> None:
    records = [{**row, "paper_id": "same"} for row in generated(6)]
    scored = score(table_of(records), load_profile())
    assert scored.table.num_rows == 6
    assert any(note.startswith("5 rows repeat") for note in scored.notes)


def test_hash_seed_and_process_change_no_byte_and_heavy_libraries_stay_out(tmp_path: Path) -> None:
    pd.DataFrame(generated(200, seed=2)).to_parquet(tmp_path / "rows.parquet")
    code = (
        "import sys; from pathlib import Path; from matproof.suites.matter_to_mechanism.score_command import run;"
        "options = dict(profile='published', encoding='utf-8', threads=1, approximate=False);"
        "run(Path(sys.argv[1]), Path(sys.argv[2]), **options);"
        "assert not {'pandas', 'scipy', 'sklearn'} & set(sys.modules), sorted(sys.modules)"
    )
    written = []
    for seed in ("1", "2"):
        output = tmp_path / f"{seed}.parquet"
        arguments = [sys.executable, "-c", code, str(tmp_path / "rows.parquet"), str(output)]
        subprocess.run(arguments, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY / "src")}, check=True)
        written.append(output.read_bytes())
    assert written[0] == written[1]
