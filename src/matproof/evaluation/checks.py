"""The judge that is a program: an agent's `analysis_result.json` beside the claim's `expected.yaml`.

It knows three words. The verdict is `correct` where the agent's own judgement agrees with the expected outcome and
its numbers carry that judgement; `incorrect` where the judgement is the opposite (whatever the numbers) or a number
is outside its tolerance; `undetermined` where the judgement is right or absent and a number is missing or can't be
compared. A run that left no readable analysis is scored, not unscored: leaving none is the agent's doing. A claim
without readable expectations, or without a number or relation among them, leaves the run unscored, whatever the agent
said: were only its wrong judgements scored, such a claim could be lost and never won.

How far a number is off is recorded in multiples of its tolerance, since the rubric's anchors 5 and 4 are about once and
twice the tolerance. Statements are left to judges, by name. Required steps and flags are found elsewhere and change no
verdict.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from matproof.claims.loading import read_yaml_model
from matproof.claims.models import Expected, Outcome, Quantity, Sign
from matproof.core.errors import InputError
from matproof.core.units import UnitError, convert
from matproof.evaluation.matching import SAME, Match, Target, match
from matproof.records.analysis import MISSING, AnalysisResult, read_analysis
from matproof.records.evaluation import Checks, QuantityCheck, RelationCheck, Verdict

EXPECTED = "reference/expected.yaml"
Relation = Literal["holds", "broken", "undetermined"]
Found = Literal["supported", "contradicted", "undetermined"]
Band = Literal["within", "within_2x", "outside"]


class ChecksOutcome(NamedTuple):
    """What an evaluation record needs: `scored` with checks, or `unscored` with a reason."""

    status: Literal["scored", "unscored"]
    reason: str | None
    checks: Checks | None


def run_checks(artifacts: Path, task: Path) -> ChecksOutcome:
    """Compare what a run left in its directory `artifacts` with `reference/expected.yaml` of the claim at `task`.

    Never raises for anything that an agent or a claim's author wrote.
    """
    try:
        expected = read_yaml_model(Expected, task, EXPECTED)
    except InputError as error:
        return ChecksOutcome("unscored", f"no expectations: {EXPECTED}: {error.field}: {error.problem}", None)
    if not (expected.quantities or expected.orderings or expected.signs):
        left = f"; its {len(expected.statements)} statements are left to judges" if expected.statements else ""
        return ChecksOutcome(
            "unscored", f"nothing to compare by program: {EXPECTED} has no number, order or sign{left}", None
        )
    analysis, why_missing = read_analysis(artifacts)
    return ChecksOutcome("scored", None, check_analysis(expected, analysis, why_missing=why_missing))


def expectations(task: Path) -> Expected | None:
    """The claim's expectations; None where they are missing or malformed, which `run_checks` names."""
    try:
        return read_yaml_model(Expected, task, EXPECTED)
    except InputError:
        return None


def check_analysis(expected: Expected, analysis: AnalysisResult | None, *, why_missing: str | None = None) -> Checks:
    """Every expected number and relation beside what the agent reported, and the verdict.

    `why_missing` says why there is no analysis. The order of the agent's results changes nothing.
    """
    targets = [_target(quantity) for quantity in expected.quantities]
    targets += [Target(name=name, unit=None) for name in _related(expected)]
    matches = match(targets, analysis.results if analysis is not None else [])
    quantities = [_check(quantity, matches[quantity.name]) for quantity in expected.quantities]
    relations = [_ordering(names, matches) for names in expected.orderings]
    relations += [_sign(expected, name, sign, matches[name]) for name, sign in expected.signs.items()]
    found = _found(expected.outcome, quantities, relations)
    judged = None if analysis is None else analysis.reproduced
    verdict, explanation = _verdict(expected.outcome, judged, quantities, relations, why_missing or MISSING)
    return Checks(
        expected_outcome=expected.outcome,
        found=found,
        self_reproduced=judged,
        verdict=verdict,
        explanation=explanation,
        quantities=quantities,
        relations=relations,
        left_to_judges=[statement.id for statement in expected.statements],
    )


def within(value: float, quantity: Quantity) -> bool:
    """Whether `value`, in the quantity's unit, is inside the tolerance or interval, its ends included.

    A relative 1e-9 is forgiven, so that a value on the boundary is not lost to the rounding of a unit conversion.
    """
    centre, reach = _centre_and_reach(quantity)
    slack = SAME * max(abs(centre) + reach, abs(value))
    return abs(value - centre) <= reach + slack


def deviation(value: float, quantity: Quantity) -> float | None:
    """Distance of `value`, in the quantity's unit, from the expected one in multiples of the tolerance.

    Of an interval: from its middle, in halves of its width. None for an interval that is a bound rather than a value
    (half its width is more than half its middle), for a tolerance of zero that is missed, and where the multiple is too
    large for a number.
    """
    centre, reach = _centre_and_reach(quantity)
    if quantity.interval is not None and reach > abs(centre) / 2:
        return None
    distance = abs(value - centre)
    if distance == 0:
        return 0.0
    multiple = distance / reach if reach > 0 else math.inf
    return multiple if math.isfinite(multiple) else None


def band(value: float, quantity: Quantity) -> Band:
    """`within` the tolerance, `within_2x` (anchor 4 of the rubric), or `outside`."""
    if within(value, quantity):
        return "within"
    multiple = deviation(value, quantity)
    return "within_2x" if multiple is not None and multiple <= 2 * (1 + SAME) else "outside"


def _centre_and_reach(quantity: Quantity) -> tuple[float, float]:
    if quantity.interval is not None:
        low, high = quantity.interval
        return low / 2 + high / 2, high / 2 - low / 2
    centre = quantity.value or 0.0
    return centre, quantity.abs_tol if quantity.abs_tol is not None else (quantity.rel_tol or 0.0) * abs(centre)


def _target(quantity: Quantity) -> Target:
    return Target(name=quantity.name, unit=quantity.unit, aliases=tuple(quantity.aliases))


def _related(expected: Expected) -> list[str]:
    """Names that only an ordering or a sign mentions."""
    known = {quantity.name for quantity in expected.quantities}
    names = [name for ordering in expected.orderings for name in ordering] + list(expected.signs)
    return [name for name in dict.fromkeys(names) if name not in known]


def _words(quantity: Quantity) -> str:
    if quantity.interval is not None:
        return f"{quantity.interval[0]:.10g} to {quantity.interval[1]:.10g}"
    if quantity.rel_tol is not None:
        return f"{quantity.value:.10g} ± {quantity.rel_tol * 100:.6g} %"
    return f"{quantity.value:.10g} ± {quantity.abs_tol:.6g}"


def _check(quantity: Quantity, found: Match) -> QuantityCheck:
    status: Literal["within", "outside", "missing", "not_comparable"]
    if found.value is not None:
        status = "within" if within(found.value, quantity) else "outside"
    else:
        status = "missing" if found.comparable else "not_comparable"
    return QuantityCheck(
        name=quantity.name,
        expected=_words(quantity),
        unit=quantity.unit,
        reported=found.value,
        reported_as=found.reported_as,
        status=status,
        deviation=None if found.value is None else deviation(found.value, quantity),
        band=None if found.value is None else band(found.value, quantity),
        detail=found.problem,
    )


def _ordering(names: list[str], matches: Mapping[str, Match]) -> RelationCheck:
    known = [found for name in names if (found := matches[name]).value is not None]
    status: Relation = "holds" if len(known) == len(names) else "undetermined"
    try:
        unit = next((found.unit for found in known), "")
        values = [convert(found.value or 0.0, found.unit, unit) for found in known]
    except UnitError:
        values, status = [], "undetermined"
    for index, smaller in enumerate(values):
        for larger in values[index + 1 :]:
            if math.isclose(smaller, larger, rel_tol=SAME, abs_tol=0.0):
                status = "undetermined" if status != "broken" else status
            elif smaller > larger:
                status = "broken"
    return RelationCheck(relation=" < ".join(names), status=status)


def _sign(expected: Expected, name: str, sign: Sign, found: Match) -> RelationCheck:
    relation = f"{name} is {sign}"
    if found.value is None:
        return RelationCheck(relation=relation, status="undetermined")
    quantity = next((quantity for quantity in expected.quantities if quantity.name == name), None)
    if sign == "zero":
        # A computed zero is never exact: the quantity's own tolerance says how near is near enough.
        holds = within(found.value, quantity) if quantity is not None else found.value == 0
    else:
        holds = found.value > 0 if sign == "positive" else found.value < 0
    return RelationCheck(relation=relation, status="holds" if holds else "broken")


def _found(outcome: Outcome, quantities: list[QuantityCheck], relations: list[RelationCheck]) -> Found:
    if _wrong(quantities, relations):
        # A wrong number speaks against a true claim; against a false one it says nothing in the claim's favour.
        return "contradicted" if outcome == "supported" else "undetermined"
    if _open(quantities, relations) or not (quantities or relations):
        return "undetermined"
    return outcome


def _wrong(quantities: list[QuantityCheck], relations: list[RelationCheck]) -> list[str]:
    names = [check.name for check in quantities if check.status == "outside"]
    return names + [check.relation for check in relations if check.status == "broken"]


def _open(quantities: list[QuantityCheck], relations: list[RelationCheck]) -> list[str]:
    names = [check.name for check in quantities if check.status in ("missing", "not_comparable")]
    return names + [check.relation for check in relations if check.status == "undetermined"]


def _verdict(
    outcome: Outcome,
    judged: bool | None,
    quantities: list[QuantityCheck],
    relations: list[RelationCheck],
    why_missing: str,
) -> tuple[Verdict, str]:
    wrong, unknown, total = _wrong(quantities, relations), _open(quantities, relations), len(quantities + relations)
    if judged is None:
        return "undetermined", f"{why_missing[:1].upper()}{why_missing[1:]}."
    says = "reproduced" if judged else "not reproduced"
    if judged != (outcome == "supported"):
        return "incorrect", f"The agent says {says}; the evidence has the claim {outcome}."
    agrees = f"The agent says {says}, which is right"
    if wrong:
        return "incorrect", f"{agrees}, but {_list(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong."
    if not total:
        return "undetermined", f"{agrees}; there is nothing to compare by program."
    if unknown:
        return "undetermined", f"{agrees}, but nothing comparable was reported for {_list(unknown)}."
    return "correct", f"{agrees}, and all {total} expected numbers and relations hold."


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
