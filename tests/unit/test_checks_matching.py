"""Free names meet expected names by their words, never by their values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.evaluation.matching import Match, Target, match
from matproof.records.analysis import ExtractedResult

MAES = tuple(
    Target(name=f"mae_{algorithm}", unit="MPa")
    for algorithm in ("dummy", "random_forest", "automatminer", "rflr", "autosklearn", "tpot")
)
DATA = (
    Target(name="records", unit=""),
    Target(name="compositions", unit=""),
    Target(name="references", unit=""),
    Target(name="yield_strength_count", unit=""),
    Target(name="yield_strength_mean", unit="MPa"),
    Target(name="hardness_count", unit=""),
    Target(name="hardness_mean", unit=""),
)
SILICON = (
    Target(name="volumetric_thermal_expansion_300K", unit="1/K"),
    Target(name="bulk_modulus_300K", unit="GPa"),
)
CELL = tuple(Target(name=f"cell_{axis}", unit="angstrom") for axis in "abc")


def result(quantity: str, value: float | None = 1.0, unit: str = "", file: str = "") -> ExtractedResult:
    return ExtractedResult(quantity=quantity, value=value, unit=unit, source_file=file)


def found(targets: tuple[Target, ...], *results: ExtractedResult) -> dict[str, Match]:
    return match(targets, results)


@pytest.mark.parametrize(
    ("targets", "name", "unit", "wanted"),
    [
        (MAES, "mae_random_forest", "MPa", "mae_random_forest"),
        (MAES, "MAE (random forest)", "MPa", "mae_random_forest"),
        (MAES, "Mean absolute error of Random Forest, mean over 5 folds", "MPa", "mae_random_forest"),
        (MAES, "RF MAE", "GPa", "mae_random_forest"),
        (MAES, "RandomForest mae", "MPa", "mae_random_forest"),
        (MAES, "random forest", "MPa", "mae_random_forest"),
        (MAES, "Auto-sklearn MAE", "MPa", "mae_autosklearn"),
        (MAES, "TPOT", "MPa", "mae_tpot"),
        (DATA, "Number of records", "records", "records"),
        (DATA, "total number of records", "", "records"),
        (DATA, "number of distinct alloy compositions", "", "compositions"),
        (DATA, "distinct references", "papers", "references"),
        (DATA, "Number of records with a yield strength", "", "yield_strength_count"),
        (DATA, "yield strength entries", "", "yield_strength_count"),
        (DATA, "mean yield strength", "MPa", "yield_strength_mean"),
        (DATA, "yield strength mean", "GPa", "yield_strength_mean"),
        (DATA, "n_hardness", "", "hardness_count"),
        (DATA, "Average Vickers hardness", "HV", "hardness_mean"),
        (SILICON, "Volumetric thermal expansion at 300 K", "K^-1", "volumetric_thermal_expansion_300K"),
        (SILICON, "Volumetric thermal expansion coefficient", "1/K", "volumetric_thermal_expansion_300K"),
        (SILICON, "Isothermal bulk modulus (300 K)", "GPa", "bulk_modulus_300K"),
        (CELL, "a", "Å", "cell_a"),
        (CELL, "lattice parameter b", "nm", "cell_b"),
        (CELL, "Cell parameter c", "A", "cell_c"),
    ],
)
def test_a_free_name_finds_its_quantity(targets: tuple[Target, ...], name: str, unit: str, wanted: str) -> None:
    matches = found(targets, result(name, 2.0, unit))
    assert [key for key, one in matches.items() if one.value is not None] == [wanted]
    assert matches[wanted].reported_as == name


@pytest.mark.parametrize(
    ("targets", "name", "unit"),
    [
        (MAES, "MAE", "MPa"),
        (MAES, "claimed MAE of random forest", "MPa"),
        (MAES, "random forest RMSE", "MPa"),
        (MAES, "std of MAE (random forest)", "MPa"),
        (MAES, "MAE random forest fold 3", "MPa"),
        (MAES, "MAE difference between TPOT and random forest", "MPa"),
        (MAES, "MAE of TPOT over random forest", "MPa"),
        (MAES, "random forest R2", ""),
        (DATA, "hardness", ""),
        (DATA, "yield strength", "MPa"),
        (SILICON, "linear thermal expansion at 300 K", "1/K"),
        (SILICON, "thermal expansion", "1/K"),
        (CELL, "cell volume", "angstrom^3"),
        (CELL, "published cell parameter a", "angstrom"),
        (CELL, "alpha", "angstrom"),
        (CELL, "", "angstrom"),
    ],
)
def test_another_quantity_is_not_taken_for_an_expected_one(targets: tuple[Target, ...], name: str, unit: str) -> None:
    assert all(one.value is None for one in found(targets, result(name, 2.0, unit)).values())


def test_the_exact_name_wins_over_a_looser_one_with_a_better_value() -> None:
    matches = found(CELL, result("cell_a", 8.0, "angstrom"), result("lattice parameter a", 8.524, "angstrom"))
    assert matches["cell_a"].value == 8.0


def test_an_alias_serves_as_a_name() -> None:
    target = Target(name="a0", unit="angstrom", aliases=("lattice constant", "equilibrium lattice parameter"))
    assert found((target,), result("Lattice constant", 5.4, "Å"))["a0"].value == 5.4


def test_candidates_that_tie_are_named_and_none_is_taken() -> None:
    matches = found(
        (Target(name="band_gap", unit="eV"),), result("band gap PBE", 0.6, "eV"), result("band gap HSE", 1.1, "eV")
    )
    assert matches["band_gap"].value is None
    assert matches["band_gap"].problem == "ambiguous: band gap HSE or band gap PBE"


def test_one_result_serves_one_quantity() -> None:
    targets = (Target(name="gap", unit="eV"), Target(name="band_gap", unit="eV"))
    matches = found(targets, result("band gap", 1.1, "eV"))
    assert (matches["band_gap"].value, matches["gap"].value) == (1.1, None)


def test_one_name_with_two_values_is_not_comparable() -> None:
    matches = found(CELL, result("cell_a", 8.5, "angstrom"), result("Cell A", 8.6, "angstrom"))
    assert not matches["cell_a"].comparable
    assert matches["cell_a"].problem == "reported 2 times with different values (Cell A, cell_a)"


def test_one_value_reported_twice_in_two_units_is_one_value() -> None:
    matches = found(CELL, result("cell_a", 8.5, "angstrom"), result("a of the cell", 0.85, "nm"))
    assert matches["cell_a"].value == 8.5


def test_a_result_without_a_value_is_missing_and_says_so() -> None:
    assert found(CELL, result("cell_a", None, "angstrom"))["cell_a"].problem == "reported without a value"


def test_a_wrong_unit_under_the_right_name_is_not_comparable() -> None:
    one = found(CELL, result("cell_a", 8.5, "eV"))["cell_a"]
    assert (one.value, one.comparable) == (None, False)
    assert one.problem == "'eV' can't be converted to 'angstrom'"


def test_a_missing_unit_is_not_guessed() -> None:
    assert not found(CELL, result("cell_a", 8.5, ""))["cell_a"].comparable


def test_a_bare_number_where_per_cent_is_expected_is_not_guessed() -> None:
    target = Target(name="strain", unit="%")
    assert not found((target,), result("strain", 3.1, ""))["strain"].comparable
    assert found((target,), result("strain", 0.031, "dimensionless"))["strain"].problem is not None
    assert found((target,), result("strain", 3.1, "percent"))["strain"].value == pytest.approx(3.1)


_RESULTS = st.lists(
    st.builds(
        result,
        st.sampled_from(["cell_a", "a", "lattice parameter b", "Cell A", "c", "cell_c", "a (claimed)", "b", "volume"]),
        st.one_of(st.none(), st.sampled_from([8.5, 8.6, 0.85])),
        st.sampled_from(["angstrom", "nm", "", "eV"]),
        st.sampled_from(["x.json", "y.json"]),
    ),
    max_size=6,
)


@given(_RESULTS, st.randoms(use_true_random=False))
def test_the_order_of_results_changes_nothing(results: list[ExtractedResult], random: object) -> None:
    shuffled = list(results)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert match(CELL, shuffled) == match(CELL, results)


@given(_RESULTS)
def test_values_never_decide_which_result_is_taken(results: list[ExtractedResult]) -> None:
    same = [result(r.quantity, None if r.value is None else 1.0, r.unit, r.source_file) for r in results]
    before, after = match(CELL, results), match(CELL, same)
    for target in CELL:
        if before[target.name].value is not None:
            assert before[target.name].reported_as == after[target.name].reported_as


@given(
    st.lists(
        st.builds(result, st.text(max_size=60), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20))
    )
)
def test_no_name_or_unit_an_agent_writes_makes_it_fail(results: list[ExtractedResult]) -> None:
    assert set(match(MAES, results)) == {target.name for target in MAES}
