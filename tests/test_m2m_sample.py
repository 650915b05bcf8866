"""The bundled sample of Matter to Mechanism is what its README says: sixty problems with references and two scripts."""

import csv
import re
from pathlib import Path

import pytest

from matproof.models.scripts import read_script
from matproof.models.templates import Templates
from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS, ROW_COLUMNS
from matproof.suites.matter_to_mechanism.gathering import gather
from matproof.suites.matter_to_mechanism.lexicon import load_profile
from matproof.suites.matter_to_mechanism.rows import read_rows, steps
from matproof.suites.matter_to_mechanism.score import read_for_scoring, score
from matproof.suites.matter_to_mechanism.tagged import parse_tagged

SAMPLE = Path(__file__).resolve().parents[1] / "suites/matter_to_mechanism"
ROWS: list[dict[str, str]] = read_rows(SAMPLE / "problems.csv").to_pylist()
SCRIPTS = ("scripted-direct", "scripted-weak")
UNREADABLE = {"scripted-direct": 1, "scripted-weak": 2}
UNIT = re.compile(
    r"\d\s*(nm|µm|mm|°C|kJ/mol|eV|mAh|Wh|mol|mV|V\b|mA|%|mg|ppm|S/cm|mS/cm|Ω|M\b|GPa|MPa|m2/s|cm/s|W/cm2|C\b|m\b|cycles|s\b|e/Å2)"
)


def replies(name: str) -> dict[str, str]:
    """What a script answers, by `paper_id`."""
    path = SAMPLE / "scripts" / f"{name}.yaml"
    sessions = read_script(path, Templates((SAMPLE,))).sessions
    return {session.partition(":")[2]: turns[0].text or "" for session, turns in sessions.items()}


def test_there_are_sixty_different_problems_of_one_system() -> None:
    assert len(ROWS) == 60
    assert len({row["paper_id"] for row in ROWS}) == 60
    assert {row["system"] for row in ROWS} == {"Reference"}
    assert all(re.fullmatch(r"[a-z0-9-]{1,30}", row["paper_id"]) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["paper_id"]))
def test_a_row_is_whole(row: dict[str, str]) -> None:
    assert not [name for name in ROW_COLUMNS if not row[name].strip()]
    assert 35 <= len(row["hypothesis"].split()) <= 80
    assert 25 <= len(row["problem_statement"].split()) <= 80
    assert 0.15 <= len(row["problem_core"].split()) / len(row["problem_statement"].split()) <= 0.5
    assert 3 <= len(steps(row["reasoning_process"])) <= 5


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["paper_id"]))
def test_every_step_is_closed_and_counted_from_one(row: dict[str, str]) -> None:
    tags = re.findall(r"\[(Begin|End) Step (\d+)\]", row["reasoning_process"])
    count = len(tags) // 2
    assert tags == [(kind, str(k)) for k in range(1, count + 1) for kind in ("Begin", "End")]
    assert len(steps(row["reasoning_process"])) == count
    assert not re.sub(r"\[Begin Step (\d+)\].*?\[End Step \1\]", "", row["reasoning_process"]).strip()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["paper_id"]))
def test_a_paper_is_cited(row: dict[str, str]) -> None:
    assert re.search(rf"^\S.*\. .+\. .+ \({row['year']}\)\.$", row["citation"])
    assert 1970 <= int(row["year"]) <= 2025
    assert row["doi"] == "" or re.fullmatch(r"10\.\d{4,5}/\S+", row["doi"])


def test_no_paper_is_cited_twice_and_one_lacks_its_doi() -> None:
    dois = [row["doi"] for row in ROWS if row["doi"]]
    assert len(set(dois)) == len(dois) == 59
    assert len({row["citation"] for row in ROWS}) == 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["paper_id"]))
def test_a_problem_does_not_hold_its_solution(row: dict[str, str]) -> None:
    """No six words in a row of the reference, at most two thirds of the long words that its intervention is told in."""
    problem = " ".join(row[name] for name in PROBLEM_COLUMNS[1:])
    shared = _runs(problem, 6) & (_runs(row["hypothesis"], 6) | _runs(row["intervention_or_solution"], 6))
    assert shared == set()
    told = set(re.findall(r"\w{8,}", row["intervention_or_solution"].lower()))
    assert len(told & set(re.findall(r"\w+", problem.lower()))) <= max(1, len(told) * 2 / 3)
    assert not re.search(r"\[(begin|end) step|\bwe propose\b|\bhypothes", problem, re.IGNORECASE)


def test_most_references_name_numbers_with_units_and_techniques() -> None:
    texts = [" ".join(row[name] for name in ROW_COLUMNS) for row in ROWS]
    techniques = re.compile(r"XRD|TEM|SEM|XPS|EIS|NMR|DSC|FTIR|Raman|DFT|diffraction|galvanostatic|impedance", re.I)
    assert sum(bool(UNIT.search(text)) for text in texts) >= 55
    assert sum(bool(techniques.search(text)) for text in texts) >= 55


def test_years_lie_on_both_sides_of_the_split() -> None:
    years = [int(row["year"]) for row in ROWS]
    assert sum(year >= 2024 for year in years) >= 2
    assert len(set(years)) >= 20


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_answers_every_problem_and_its_broken_replies_are_known(name: str) -> None:
    given = replies(name)
    assert set(given) == {row["paper_id"] for row in ROWS}
    read = [parse_tagged(reply) for reply in given.values()]
    assert sum(tagged.problem is not None for tagged in read) == UNREADABLE[name]
    assert sum(not tagged.missing for tagged in read) == 60 - UNREADABLE[name]


def test_a_script_says_that_it_is_one() -> None:
    for name in SCRIPTS:
        assert "A script in a model's place" in (SAMPLE / "scripts" / f"{name}.yaml").read_text(encoding="utf-8")


def test_no_script_copies_a_reference() -> None:
    references = {row["paper_id"]: _runs(row["hypothesis"], 8) for row in ROWS}
    for name in SCRIPTS:
        assert not [paper for paper, reply in replies(name).items() if _runs(reply, 8) & references[paper]]


def test_the_reference_is_specific_and_scores_within_bounds() -> None:
    scored = score(read_for_scoring(SAMPLE / "problems.csv"), load_profile("published"))
    columns = {name: scored.table[name].to_pylist() for name in ("rcf", "hpa", "msi", "sns", "ip", "pdq", "cbs")}
    assert all(0 <= value <= 1 for column in columns.values() for value in column)
    assert sum(columns["msi"]) / 60 > 0.25
    assert sum(columns["rcf"]) / 60 > 0.6


def test_gathering_keeps_order_and_refuses_a_repeated_row(tmp_path: Path) -> None:
    from matproof.core.errors import InputError

    other = tmp_path / "other.csv"
    with other.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ROW_COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**row, "system": "mine"} for row in reversed(ROWS))
    counts = gather([SAMPLE / "problems.csv", other], tmp_path / "rows.parquet")
    assert counts == {"Reference": 60, "mine": 60}
    whole = read_rows(tmp_path / "rows.parquet")
    wanted = [row["paper_id"] for row in ROWS]
    assert whole["paper_id"].to_pylist() == wanted + wanted[::-1]
    with pytest.raises(InputError, match=r"is in .*problems\.csv already"):
        gather([SAMPLE / "problems.csv", SAMPLE / "problems.csv"], tmp_path / "rows.parquet")


def test_a_file_without_a_column_is_not_gathered(tmp_path: Path) -> None:
    from matproof.core.errors import InputError

    lacking = tmp_path / "lacking.csv"
    lacking.write_text("paper_id,system,hypothesis\np,s,h\n", encoding="utf-8")
    with pytest.raises(InputError, match="no such column, needed by"):
        gather([SAMPLE / "problems.csv", lacking], tmp_path / "rows.parquet")


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
