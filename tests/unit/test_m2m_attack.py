"""`matproof m2m attack`: what attacks look like, that they come out the same, and what they gain."""

import json
import random
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from m2m_models_fixture import Row, rows, run_command, script, tagged, write_csv

from matproof.commands.m2m.attack import command
from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.attack_deltas import deltas
from matproof.suites.matter_to_mechanism.attacking import attacked_system, by_program, draw, original_of
from matproof.suites.matter_to_mechanism.attacks import STYLES, attack
from matproof.suites.matter_to_mechanism.columns import METRICS, PROBLEM_COLUMNS
from matproof.suites.matter_to_mechanism.lexicon import load_profile
from matproof.suites.matter_to_mechanism.rows import read_rows
from matproof.suites.matter_to_mechanism.score import read_for_scoring, score
from matproof.tables.m2m import read_m2m
from matproof.tables.m2m_published import published_numbers

SAMPLE = Path(__file__).resolve().parents[2] / "suites/matter_to_mechanism/problems.csv"
KEPT = ("target_property", "evidence_strength", "novelty_axis", "keywords", "year")


def scores_of(path: Path) -> pd.DataFrame:
    """Scores of a rows file."""
    frame: pd.DataFrame = score(read_for_scoring(path), load_profile("published")).table.to_pandas()
    return frame


def gains(frame: pd.DataFrame) -> dict[tuple[str, str], float]:
    """(style, metric) → mean delta."""
    return {(row["style"], row["metric"]): row["delta"] for row in deltas(frame, frame)}


@pytest.mark.parametrize("style", STYLES)
def test_an_attack_keeps_the_problem_and_what_the_paper_reports(style: str) -> None:
    for row in rows():
        attacked = attack(row, style, seed=1)
        assert all(attacked[name] == row[name] for name in (*PROBLEM_COLUMNS, *KEPT))
        assert attacked["hypothesis"] != row["hypothesis"]
        assert attacked["failure_mode_or_limitation"].split()[0].lower() in attacked["hypothesis"].lower()


@pytest.mark.parametrize("style", STYLES)
def test_an_attack_takes_nothing_from_the_solution_that_it_replaces(style: str) -> None:
    row = rows()[0] | dict.fromkeys(
        ("hypothesis", "intervention_or_solution", "mechanism_or_rationale", "reasoning_process"), "sentinel"
    )
    assert "sentinel" not in json.dumps(attack(row, style, seed=1))


def test_the_same_seed_gives_the_same_rows_in_any_order(tmp_path: Path) -> None:
    shuffled = rows()
    random.Random(3).shuffle(shuffled)  # noqa: S311 - any order will do
    for name, table in (("a", rows()), ("b", shuffled)):
        run_command(
            command,
            write_csv(tmp_path / f"{name}.csv", table),
            "-o",
            tmp_path / f"{name}.parquet",
            "-n",
            4,
            "--seed",
            7,
        )
    one, other = (read_rows(tmp_path / f"{name}.parquet").to_pylist() for name in "ab")
    key = lambda row: (row["system"], row["paper_id"])  # noqa: E731
    assert sorted(one, key=key) == sorted(other, key=key)
    assert len(one) == 16


def test_another_seed_draws_other_rows_and_words(tmp_path: Path) -> None:
    table = read_rows(write_csv(tmp_path / "a.csv", rows()))
    drawn = {
        seed: frozenset(row["paper_id"] for row in draw(table, Path("a"), system=None, n=3, seed=seed).rows)
        for seed in range(6)
    }
    assert len(set(drawn.values())) > 1
    assert attack(rows()[0], "jargon", seed=1)["hypothesis"] != attack(rows()[0], "jargon", seed=2)["hypothesis"]


def test_originals_and_styles_are_systems_of_the_same_problems(tmp_path: Path) -> None:
    run_command(command, write_csv(tmp_path / "a.csv", rows()), "-o", tmp_path / "o.parquet")
    made = read_rows(tmp_path / "o.parquet").to_pylist()
    systems = dict.fromkeys(row["system"] for row in made)
    assert list(systems) == ["Reference", "Reference+jargon", "Reference+mirror", "Reference+verbose"]
    papers = [{row["paper_id"] for row in made if row["system"] == system} for system in systems]
    assert all(found == papers[0] for found in papers)
    assert {row["attack_of"] for row in made} == {"Reference"}
    assert [row["attack_style"] for row in made[::6]] == ["none", *STYLES]


def test_several_systems_need_a_choice(tmp_path: Path) -> None:
    both = write_csv(tmp_path / "a.csv", [*rows(), *rows("Other")])
    with pytest.raises(InputError, match="holds 2 systems; choose one with --system: Reference, Other"):
        run_command(command, both, "-o", tmp_path / "o.parquet")
    run_command(command, both, "-o", tmp_path / "o.parquet", "--system", "Other", "--style", "mirror")
    assert {row["system"] for row in read_rows(tmp_path / "o.parquet").to_pylist()} == {"Other", "Other+mirror"}
    with pytest.raises(InputError, match="no row of 'Nobody'"):
        run_command(command, both, "-o", tmp_path / "o.parquet", "--system", "Nobody")


@pytest.mark.parametrize("source", ["handful", "sample"])
def test_attacks_raise_alignment_but_not_the_composite(tmp_path: Path, source: str) -> None:
    """As the paper found (table 7); nor without SNS, which falls because attacked texts resemble each other."""
    table = write_csv(tmp_path / "a.csv", rows()) if source == "handful" else SAMPLE
    run_command(command, table, "-o", tmp_path / "o.parquet")
    gained = gains(scores_of(tmp_path / "o.parquet"))
    for style in STYLES:
        assert gained[style, "hpa"] > 0.05
        assert gained[style, "msi"] < 0
        assert gained[style, "ip"] < 0
        assert gained[style, "cbs"] < 0
        assert gained[style, "cbs_without_sns"] < 0
        assert gained[style, "pdq"] == 0


def test_deltas_are_paired_means_with_an_interval() -> None:
    flat = dict.fromkeys((*METRICS, "cbs"), 0.5)
    frame = pd.DataFrame(
        [
            {"paper_id": "p", "system": "s", **flat},
            {"paper_id": "q", "system": "s", **flat, "hpa": 0.1},
            {"paper_id": "q", "system": "s+mirror", **flat, "hpa": 0.4},
            {"paper_id": "p", "system": "s+mirror", **flat, "hpa": 0.6, "sns": None},
            {"paper_id": "lone", "system": "s+mirror", **flat},
            {"paper_id": "p", "system": "other+mirror", **flat},
        ]
    )
    found = {row["metric"]: row for row in deltas(frame, frame, published=published_numbers())}
    assert found["hpa"]["delta"] == pytest.approx(0.2)
    assert found["hpa"]["original"] == pytest.approx(0.3)
    assert found["hpa"]["pairs"] == 2
    # Student's t with one degree of freedom: 12.706 standard errors of 0.1.
    assert found["hpa"]["high"] - found["hpa"]["low"] == pytest.approx(2 * 12.7062 * 0.1, rel=1e-4)
    assert found["sns"] | {"published": None} == {
        "style": "mirror",
        "source": "programmatic",
        "metric": "sns",
        "published": None,
        "pairs": 1,
        "original": 0.5,
        "attacked": 0.5,
        "delta": 0.0,
        "low": None,
        "high": None,
        "note": "no interval of one pair",
    }
    assert found["hpa"]["published"] == 0.1327
    assert found["cbs"]["delta"] == 0


def test_deltas_of_scores_without_attacks_are_none() -> None:
    frame = pd.DataFrame([{"paper_id": "p", "system": "s+other", **dict.fromkeys((*METRICS, "cbs"), 0.5)}])
    assert deltas(frame, frame) == []


def test_the_command_writes_the_table_of_deltas(tmp_path: Path) -> None:
    from matproof.suites.matter_to_mechanism.scores_file import write_scores

    run_command(command, write_csv(tmp_path / "a.csv", rows()), "-o", tmp_path / "o.parquet")
    scored = score(read_for_scoring(tmp_path / "o.parquet"), load_profile("published"))
    write_scores(scored.table, tmp_path / "s.parquet", scored.metadata)
    result = run_command(command, tmp_path / "s.parquet", "--deltas", "-o", tmp_path / "d.parquet")
    table = read_m2m(tmp_path / "d.parquet", "m2m_attacks")
    assert len(table) == 3 * 8
    assert {row["pairs"] for row in table} == {6}
    assert "cbs_without_sns" in result.output


def test_a_model_writes_attacks_and_is_named_in_the_system(tmp_path: Path) -> None:
    sessions: dict[str, list[dict[str, object]]] = {
        f"attack-{style}": [{"text": tagged(f"Bad {style} words.")}] for style in STYLES
    }
    sessions["attack-mirror:llzo"] = [{"text": "I won't."}]
    replies = script(tmp_path / "r.yaml", sessions)
    table = write_csv(tmp_path / "a.csv", rows())
    result = run_command(command, table, "-o", tmp_path / "o.parquet", "--model", "writer", "--script", replies)
    made = read_rows(tmp_path / "o.parquet").to_pylist()
    assert "llzo, mirror: none of the tags is in the reply" in result.output
    assert len(made) == 6 + 17
    mirrored = [row for row in made if row["attack_style"] == "mirror"]
    assert {row["system"] for row in mirrored} == {"Reference+mirror@scripted-writer"}
    assert {row["hypothesis"] for row in mirrored} == {"Bad mirror words."}
    assert {row["target_property"] for row in mirrored} <= {row["target_property"] for row in rows()}
    again = run_command(command, table, "-o", tmp_path / "o.parquet", "--model", "writer", "--script", replies)
    assert "0 requests, 18 from the record" in again.output


@pytest.mark.parametrize("writer", ["programmatic", "gpt-5.4", "org/model+x@y"])
@pytest.mark.parametrize("system", ["Reference", "a+b", "a+jargon", "x@y"])
def test_names_of_attacked_systems_are_read_back(system: str, writer: str) -> None:
    assert original_of(attacked_system(system, "verbose", writer)) == (system, "verbose", writer)


def test_other_names_are_no_attacked_systems() -> None:
    assert [original_of(name) for name in ("a", "a+b", "+jargon", "a+jargon2")] == [None] * 4


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(PROBLEM_COLUMNS[1:]), st.text(max_size=300)), st.sampled_from(STYLES))
def test_any_problem_can_be_attacked(fields: Row, style: str) -> None:
    row = {"paper_id": "p", "hypothesis": "h", **fields}
    attacked = by_program([row], [style], seed=0)[style][0]
    assert attacked["hypothesis"].strip()
    assert attacked == by_program([row], [style], seed=0)[style][0]
