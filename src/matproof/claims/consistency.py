"""What must agree between and inside `claim.yaml` and `expected.yaml`: units, names, orders and signs."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath

from matproof.claims.models import ClaimMetadata, Expected, Quantity
from matproof.claims.problems import WHOLE, Problem
from matproof.core.units import UnitError, convert, known_unit

_UNIT_REMEDY = "write a unit such as MPa, eV, angstrom, 1/K or W/m/K; empty for a pure number"


def metadata_problems(path: Path, metadata: ClaimMetadata, expected: Expected | None) -> Iterator[Problem]:
    """Problems of `claim.yaml` that its model can't see; without `expected`, those of the file alone."""
    names = [quantity.name for quantity in metadata.quantities]
    wanted = {} if expected is None else {quantity.name: quantity for quantity in expected.quantities}
    related = set() if expected is None else _related(expected)
    for index, public in enumerate(metadata.quantities):
        field = f"quantities.{index}"
        if names.index(public.name) != index:
            yield Problem(path, f"{field}.name", f"{public.name!r} stands twice", "keep one")
        if not known_unit(public.unit):
            yield Problem(path, f"{field}.unit", f"pint does not know the unit {public.unit!r}", _UNIT_REMEDY)
        if expected is None:
            continue
        if public.name not in wanted and public.name not in related:
            remedy = "use the name that expected.yaml uses, or remove it"
            yield Problem(path, f"{field}.name", f"{public.name!r} is not in reference/expected.yaml", remedy)
        elif public.name in wanted and not _same_unit(public.unit, wanted[public.name].unit):
            problem = f"{public.unit!r} is not the unit in reference/expected.yaml, {wanted[public.name].unit!r}"
            yield Problem(path, f"{field}.unit", problem, "use one unit in both")


def expectation_problems(path: Path, expected: Expected, metadata: ClaimMetadata | None) -> Iterator[Problem]:
    """Problems of `expected.yaml` that its model can't see."""
    if not (expected.quantities or expected.orderings or expected.signs or expected.statements):
        remedy = "add quantities, orderings, signs or statements"
        yield Problem(path, WHOLE, "says an outcome and nothing that would show it", remedy)
    yield from _quantity_problems(path, expected)
    known = {quantity.name for quantity in expected.quantities}
    known |= set() if metadata is None else {quantity.name for quantity in metadata.quantities}
    valued = {quantity.name: quantity for quantity in expected.quantities if quantity.value is not None}
    for index, ordering in enumerate(expected.orderings):
        yield from _ordering_problems(path, f"orderings.{index}", ordering, known, valued)
    for name, sign in expected.signs.items():
        if name not in known:
            yield _unknown_name(path, f"signs.{name}", name)
        elif name in valued and _sign(valued[name]) != sign:
            yield Problem(
                path, f"signs.{name}", f"{sign}, but its value is {valued[name].value:g}", "correct one of them"
            )
    yield from _step_problems(path, expected)
    ids = [statement.id for statement in expected.statements]
    for index, name in enumerate(ids):
        if ids.index(name) != index:
            yield Problem(path, f"statements.{index}.id", f"{name!r} stands twice", "give each an id of its own")


def _step_problems(path: Path, expected: Expected) -> Iterator[Problem]:
    for index, step in enumerate(expected.required_steps):
        for pattern in step.files:
            parts = PurePosixPath(pattern).parts
            if pattern.startswith("/") or ".." in parts or parts[:1] == ("artifacts",):
                problem = f"{pattern!r} is no path below the artifact directory"
                yield Problem(path, f"required_steps.{index}.files", problem, "write it as *.out or **/scf.out")


def _quantity_problems(path: Path, expected: Expected) -> Iterator[Problem]:
    names = {quantity.name for quantity in expected.quantities}
    for index, quantity in enumerate(expected.quantities):
        field = f"quantities.{index}"
        if not known_unit(quantity.unit):
            yield Problem(path, f"{field}.unit", f"pint does not know the unit {quantity.unit!r}", _UNIT_REMEDY)
        if quantity.value == 0 and quantity.rel_tol is not None:
            problem = "a fraction of zero accepts nothing but zero"
            yield Problem(path, f"{field}.rel_tol", problem, "give abs_tol instead")
        for alias in quantity.aliases:
            if alias in names - {quantity.name}:
                problem = f"{alias!r} is the name of another quantity"
                yield Problem(path, f"{field}.aliases", problem, "remove the alias")


def _ordering_problems(
    path: Path, field: str, ordering: list[str], known: set[str], valued: dict[str, Quantity]
) -> Iterator[Problem]:
    for index, name in enumerate(ordering):
        if name not in known:
            yield _unknown_name(path, field, name)
        if name in ordering[:index]:
            yield Problem(path, field, f"{name!r} stands twice", "name each quantity once")
    for small, large in pairwise([valued[name] for name in ordering if name in valued]):
        if small.value is None or large.value is None:
            continue
        try:
            above = convert(small.value, small.unit, large.unit) > large.value
        except UnitError:
            if known_unit(small.unit) and known_unit(large.unit):
                problem = f"{small.name!r} and {large.name!r} can't be compared: their units differ in kind"
                yield Problem(path, field, problem, "order quantities of one kind")
            continue
        if above:
            problem = f"{small.name!r} stands before {large.name!r}, but its value is larger"
            yield Problem(path, field, problem, "order from the smallest value to the largest")


def _related(expected: Expected) -> set[str]:
    return {name for ordering in expected.orderings for name in ordering} | set(expected.signs)


def _unknown_name(path: Path, field: str, name: str) -> Problem:
    return Problem(path, field, f"names {name!r}, which is no quantity", "correct the name, or add the quantity")


def _sign(quantity: Quantity) -> str:
    value = quantity.value or 0.0
    return "positive" if value > 0 else "negative" if value < 0 else "zero"


def _same_unit(first: str, second: str) -> bool:
    if first == second or not (known_unit(first) and known_unit(second)):
        return True  # an unknown unit is reported by itself
    try:
        return abs(convert(1.0, first, second) - 1.0) < 1e-9
    except UnitError:
        return False
