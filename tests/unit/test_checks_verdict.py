"""The programmatic judge's verdicts, on written results and on the real tasks."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.claims.models import Expected, Quantity
from matproof.core.files import read_model
from matproof.evaluation.checks import check_analysis, within
from matproof.records.analysis import AnalysisResult, ExtractedResult
from matproof.records.evaluation import Checks

REAL = Path(__file__).parents[2].parent / "shared" / "real" / "tasks"
CELL = Expected.model_validate(
    {
        "outcome": "contradicted",
        "quantities": [
            {"name": "cell_a", "value": 8.524, "unit": "angstrom", "abs_tol": 0.01},
            {"name": "cell_b", "value": 8.232, "unit": "angstrom", "abs_tol": 0.01},
        ],
        "orderings": [["cell_b", "cell_a"]],
    }
)
ENERGY = Expected.model_validate(
    {
        "outcome": "supported",
        "quantities": [
            {"name": "fcc", "value": -8.6102, "abs_tol": 1e-4},
            {"name": "hcp", "interval": [-8.6112, -8.611]},
            {"name": "difference", "value": 0, "abs_tol": 0.01},
        ],
        "orderings": [["hcp", "fcc"]],
        "signs": {"fcc": "negative", "difference": "zero", "slope": "positive"},
    }
)
GOOD = {"fcc": -8.6102, "hcp": -8.6111, "difference": 0.0009, "slope": 2.0}


def analysis(reproduced: bool, values: dict[str, float], unit: str = "") -> AnalysisResult:
    results = [ExtractedResult(quantity=name, value=value, unit=unit) for name, value in values.items()]
    return AnalysisResult(reproduced=reproduced, results=results)


def statuses(checks: Checks) -> list[str]:
    return [check.status for check in checks.quantities] + [relation.status for relation in checks.relations]


def test_right_numbers_and_the_right_judgement_are_correct() -> None:
    checks = check_analysis(ENERGY, analysis(True, GOOD))
    assert (checks.found, checks.verdict, checks.self_reproduced) == ("supported", "correct", True)
    assert set(statuses(checks)) == {"within", "holds"}


def test_the_opposite_judgement_is_incorrect_whatever_the_numbers() -> None:
    checks = check_analysis(ENERGY, analysis(False, GOOD))
    assert (checks.found, checks.verdict) == ("supported", "incorrect")
    assert check_analysis(ENERGY, analysis(False, {})).verdict == "incorrect"


@pytest.mark.parametrize(
    ("changed", "relation"),
    [({"fcc": -8.60}, 0), ({"hcp": -8.60}, 1), ({"slope": -1.0}, 0), ({"difference": 0.5}, 1)],
)
def test_one_wrong_number_makes_a_right_judgement_incorrect(changed: dict[str, float], relation: int) -> None:
    checks = check_analysis(ENERGY, analysis(True, GOOD | changed))
    assert (checks.found, checks.verdict) == ("contradicted", "incorrect")
    assert [r.status for r in checks.relations].count("broken") >= relation


@pytest.mark.parametrize("name", list(GOOD))
def test_one_missing_number_leaves_the_verdict_undetermined(name: str) -> None:
    checks = check_analysis(ENERGY, analysis(True, {key: value for key, value in GOOD.items() if key != name}))
    assert (checks.found, checks.verdict) == ("undetermined", "undetermined")
    assert name in checks.explanation


def test_a_contradicted_claim_is_found_by_its_own_numbers() -> None:
    right = {"cell_a": 0.8524, "cell_b": 0.8232}
    checks = check_analysis(CELL, analysis(False, right, "nm"))
    assert (checks.found, checks.verdict) == ("contradicted", "correct")
    assert check_analysis(CELL, analysis(True, right, "nm")).verdict == "incorrect"


def test_wrong_numbers_do_not_turn_a_contradicted_claim_into_a_supported_one() -> None:
    checks = check_analysis(CELL, analysis(False, {"cell_a": 8.267, "cell_b": 8.177}, "angstrom"))
    assert (checks.found, checks.verdict) == ("undetermined", "incorrect")


def test_a_refusal_without_numbers_does_not_earn_a_contradicted_claim() -> None:
    assert check_analysis(CELL, analysis(False, {})).verdict == "undetermined"


def test_no_analysis_is_undetermined_and_says_why() -> None:
    checks = check_analysis(CELL, None, why_missing="the agent met its walltime")
    assert (checks.found, checks.verdict, checks.self_reproduced) == ("undetermined", "undetermined", None)
    assert checks.explanation == "The agent met its walltime."


def test_statements_alone_leave_nothing_to_compare() -> None:
    expected = Expected.model_validate({"outcome": "supported", "statements": [{"id": "s", "text": "It bends."}]})
    assert check_analysis(expected, analysis(True, {})).verdict == "undetermined"


def test_equal_values_neither_hold_nor_break_an_ordering() -> None:
    expected = Expected.model_validate({"outcome": "supported", "orderings": [["a", "b"]]})
    assert statuses(check_analysis(expected, analysis(True, {"a": 1.0, "b": 1.0}))) == ["undetermined"]
    assert statuses(check_analysis(expected, analysis(True, {"a": 2.0, "b": 1.0}))) == ["broken"]


def test_one_broken_pair_breaks_an_ordering_though_another_number_is_missing() -> None:
    expected = Expected.model_validate({"outcome": "supported", "orderings": [["a", "b", "c"]]})
    assert statuses(check_analysis(expected, analysis(True, {"a": 2.0, "c": 1.0}))) == ["broken"]


def test_an_ordering_compares_values_in_one_unit() -> None:
    expected = Expected.model_validate({"outcome": "supported", "orderings": [["a", "b"]]})
    rows = [ExtractedResult(quantity="a", value=900, unit="MPa"), ExtractedResult(quantity="b", value=1, unit="GPa")]
    assert statuses(check_analysis(expected, AnalysisResult(reproduced=True, results=rows))) == ["holds"]
    rows[1] = ExtractedResult(quantity="b", value=1, unit="eV")
    assert statuses(check_analysis(expected, AnalysisResult(reproduced=True, results=rows))) == ["undetermined"]


@pytest.mark.parametrize(
    ("quantity", "value", "inside"),
    [
        ({"value": 103.5125, "abs_tol": 0.05}, 103.5625, True),
        ({"value": 103.5125, "abs_tol": 0.05}, 103.4625, True),
        ({"value": 103.5125, "abs_tol": 0.05}, 103.5626, False),
        ({"value": 0.3, "abs_tol": 0.1}, 0.4, True),
        ({"value": 1545, "abs_tol": 0}, 1545.0, True),
        ({"value": 1545, "abs_tol": 0}, 1546.0, False),
        ({"value": -2.0, "rel_tol": 0.1}, -2.2, True),
        ({"value": -2.0, "rel_tol": 0.1}, -2.21, False),
        ({"value": 0, "rel_tol": 0.1}, 0.0, True),
        ({"interval": [1.1, 3.3]}, 3.3000000000000003, True),
        ({"interval": [1.1, 3.3]}, 1.0999, False),
        ({"interval": [0, 0]}, 1e-12, False),
    ],
)
def test_boundaries_are_inside(quantity: dict[str, Any], value: float, inside: bool) -> None:
    assert within(value, Quantity.model_validate({"name": "x", **quantity})) is inside


_FINITE = st.floats(min_value=-1e9, max_value=1e9)
_TOLERANCE = st.floats(min_value=0, max_value=1e9)


@given(_FINITE, _FINITE, _TOLERANCE, _TOLERANCE, st.sampled_from(["abs_tol", "rel_tol"]))
def test_a_wider_tolerance_never_loses_a_value(value: float, centre: float, one: float, two: float, kind: str) -> None:
    narrow, wide = sorted((one, two))
    if within(value, Quantity.model_validate({"name": "x", "value": centre, kind: narrow})):
        assert within(value, Quantity.model_validate({"name": "x", "value": centre, kind: wide}))


@given(st.permutations(list(GOOD.items())), st.booleans())
def test_the_order_of_results_does_not_change_the_checks(rows: list[tuple[str, float]], reproduced: bool) -> None:
    assert check_analysis(ENERGY, analysis(reproduced, dict(rows))) == check_analysis(
        ENERGY, analysis(reproduced, GOOD)
    )


# The shared real tasks


def real(task: str) -> Expected:
    folders = sorted(REAL.glob(f"{task}_*"))
    if not folders:
        pytest.skip(f"no shared real task {task} in {REAL}")
    return read_model(Expected, folders[0] / "reference" / "expected.yaml")


def as_expected(expected: Expected, reproduced: bool) -> AnalysisResult:
    rows = [ExtractedResult(quantity=q.name, value=q.value, unit=q.unit) for q in expected.quantities]
    return AnalysisResult(reproduced=reproduced, results=rows)


@pytest.mark.real
@pytest.mark.parametrize("task", ["REAL-0001", "REAL-0002", "REAL-0003", "REAL-0004"])
def test_the_real_tasks_expectations_are_correct_and_their_opposite_is_not(task: str) -> None:
    expected = real(task)
    right = expected.outcome == "supported"
    checks = check_analysis(expected, as_expected(expected, right))
    assert (checks.found, checks.verdict) == (expected.outcome, "correct")
    assert check_analysis(expected, as_expected(expected, not right)).verdict == "incorrect"


@pytest.mark.real
def test_the_real_alloy_statistics_are_supported_by_freely_named_results() -> None:
    rows = [
        ("Number of records", 1545, "records"),
        ("number of distinct alloy compositions", 630, ""),
        ("distinct references", 265, ""),
        ("Number of records with a yield strength", 1067, ""),
        ("mean yield strength", 0.890, "GPa"),
        ("Number of records with Vickers hardness", 530, ""),
        ("Vickers hardness mean", 478.3, "HV"),
    ]
    results = [ExtractedResult(quantity=name, value=value, unit=unit) for name, value, unit in rows]
    checks = check_analysis(real("REAL-0002"), AnalysisResult(reproduced=True, results=results))
    assert (checks.found, checks.verdict) == ("supported", "correct")
    assert check_analysis(real("REAL-0002"), AnalysisResult(reproduced=False, results=results)).verdict == "incorrect"


@pytest.mark.real
def test_the_real_perovskite_cell_contradicts_its_claim() -> None:
    rows = [("lattice parameter a", 8.524, "Å"), ("b", 8.232, "A"), ("cell c", 1.1937, "nm"), ("claimed a", 8.267, "Å")]
    results = [ExtractedResult(quantity=name, value=value, unit=unit) for name, value, unit in rows]
    checks = check_analysis(real("REAL-0004"), AnalysisResult(reproduced=False, results=results))
    assert (checks.found, checks.verdict) == ("contradicted", "correct")
    assert check_analysis(real("REAL-0004"), AnalysisResult(reproduced=True, results=results)).verdict == "incorrect"


@pytest.mark.real
def test_an_agent_that_repeats_the_claimed_cell_is_incorrect() -> None:
    claimed = {"cell_a": 8.267, "cell_b": 8.177, "cell_c": 11.768}
    assert check_analysis(real("REAL-0004"), analysis(True, claimed, "angstrom")).verdict == "incorrect"
    assert check_analysis(real("REAL-0004"), analysis(False, claimed, "angstrom")).verdict == "incorrect"
