"""Units as people write them, converted by pint.

pint alone misreads what stands in papers and in agents' results: `at.%` becomes technical atmospheres, a minus sign
U+2212 vanishes, `cm2/s` and `eV/atom` are unknown. So the text is taken apart here and pint is given one plain name at
a time; nothing a model wrote reaches an expression parser.

Some texts have more than one honest reading: `A` is ampere or angstrom, `C` coulomb or degree Celsius, `HV` a bare
hardness number or kgf/mm², `W/m K` one of two products. A conversion takes the first reading that fits the other unit;
where none fits it raises, it never guesses. What is counted per (atom, formula unit, cell; atomic or weight per cent)
keeps units apart when both name it and is let go when only one does. An angle is not a pure number.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matproof.core.unit_text import BARE_WORDS, MAX_EXPONENT, MAX_LENGTH, Factor, UnitTextError, factorings, tidy

if TYPE_CHECKING:
    import pint

_DEFINITIONS = (
    "atom = particle",
    "formula_unit = [formula_unit]",
    "unit_cell = [unit_cell]",
    "atomic_fraction = [atomic_fraction]",
    "weight_fraction = [weight_fraction]",
    "mole_fraction = [mole_fraction]",
    "volume_fraction = [volume_fraction]",
    "at_percent = 0.01 * atomic_fraction",
    "wt_percent = 0.01 * weight_fraction",
    "mol_percent = 0.01 * mole_fraction",
    "vol_percent = 0.01 * volume_fraction",
    "vickers = kilogram_force / millimeter ** 2",
)
_COUNTED = {
    "atom": "dimensionless",
    "formula_unit": "dimensionless",
    "unit_cell": "dimensionless",
    "at_percent": "percent",
    "wt_percent": "percent",
    "mol_percent": "percent",
    "vol_percent": "percent",
}
"""What is counted → what is left where only one side names it."""
_READINGS: dict[str, tuple[str, ...]] = {
    "A": ("ampere", "angstrom"),
    "C": ("coulomb", "degC"),
    "F": ("farad", "degF"),
    "HV": ("dimensionless", "vickers"),
    "Ha": ("hartree",),
    "Torr": ("torr",),
    "Mpa": ("MPa",),
    "Gpa": ("GPa",),
    "gpa": ("GPa",),
    "ev": ("eV",),
    "Ev": ("eV",),
    "EV": ("eV",),
    "kB": ("boltzmann_constant",),
    "k_B": ("boltzmann_constant",),
    "μB": ("bohr_magneton",),
    "μ_B": ("bohr_magneton",),
    "muB": ("bohr_magneton",),
    "degC": ("degC",),
    "molecule": ("atom",),
    "molecules": ("atom",),
    "particle": ("atom",),
    "particles": ("atom",),
    "ion": ("atom",),
    "atoms": ("atom",),
    "cell": ("unit_cell",),
    "cells": ("unit_cell",),
    "fu": ("formula_unit",),
    "states": ("dimensionless",),
    "electron": ("dimensionless",),
    "electrons": ("dimensionless",),
}
_REFUSED = frozenset({"at", "k", "c", "b", "au", "AU", "pixel", "point", "points", "dot", "dots"})
"""Names that pint knows as something that nobody means here."""
_ANGLES = frozenset({"degree", "deg", "degrees", "radian", "radians", "rad", "mrad", "arcmin", "arcsec", "°", "turn"})
_OFFSET = {"degC": "kelvin", "degF": "delta_degF", "celsius": "kelvin", "degree_Celsius": "kelvin"}
"""Scales with a zero of their own → the interval that they mean inside a compound unit."""


@dataclass
class UnitError(ValueError):
    """The text is no unit, or the value can't be expressed in the other one; `str` is one plain clause."""

    problem: str

    def __str__(self) -> str:
        return self.problem


@dataclass(frozen=True, slots=True)
class _Reading:
    """One meaning of a unit's text: `scale` times `unit`; `bare` is the unit without what is counted."""

    scale: float
    unit: "pint.Unit"
    bare: "pint.Unit"
    counts: bool
    angle: bool


def known_unit(text: str) -> bool:
    """Whether `text` is a unit that values can be converted from and to; the empty text is the pure number."""
    try:
        return bool(_readings(text))
    except UnitError:
        return False


def is_pure_number(text: str) -> bool:
    """Whether `text` says that there is no unit: empty, a dash, `dimensionless`, `reduced units` and the like."""
    return tidy(text).lower() in BARE_WORDS


def comparable(source: str, target: str) -> bool:
    """Whether a value in `source` can be expressed in `target`."""
    try:
        convert(1.0, source, target)
    except UnitError:
        return False
    return True


def convert(value: float, source: str, target: str) -> float:
    """`value` in `source`, expressed in `target`.

    Absolute temperatures move with their zero (`25 degC` is `298.15 K`). Raises UnitError for a text that is no unit,
    for units of different kinds, and for a value that is not a finite number (booleans and strings included).
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnitError(f"{value!r:.40} is not a number")
    try:
        number = float(value)
    except OverflowError as error:
        raise UnitError("the value is too large") from error
    if not math.isfinite(number):
        raise UnitError("the value is not finite")
    if source == target and known_unit(target):
        return number
    result = _between(number, source, target)
    if not math.isfinite(result):
        raise UnitError("the value is too large")
    return result


def _between(value: float, source: str, target: str) -> float:
    angles = False
    for there in _readings(target):
        for here in _readings(source):
            for source_unit, target_unit in _pairs(here, there):
                if source_unit.dimensionality != target_unit.dimensionality:
                    continue
                if here.angle != there.angle:
                    angles = True
                    continue
                return _scaled(value * here.scale, source_unit, target_unit) / there.scale
    if angles:
        raise UnitError(f"{_named(source)} and {_named(target)} differ: only one is an angle")
    raise UnitError(f"{_named(source)} can't be converted to {_named(target)}")


def _scaled(value: float, source: Any, target: Any) -> float:
    try:
        return float(_registry().Quantity(value, source).to(target).magnitude)
    except (OverflowError, ZeroDivisionError) as error:
        raise UnitError("the value is too large") from error


def _pairs(here: _Reading, there: _Reading) -> Iterator[tuple[Any, Any]]:
    yield here.unit, there.unit
    if here.counts != there.counts:
        yield here.bare, there.bare


def _named(text: str) -> str:
    return "a pure number" if is_pure_number(text) else repr(text[:MAX_LENGTH])


@functools.lru_cache(maxsize=1)
def _registry() -> "pint.UnitRegistry[float]":
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry()
    for definition in _DEFINITIONS:
        registry.define(definition)
    return registry


@functools.lru_cache(maxsize=1024)
def _readings(text: str) -> tuple[_Reading, ...]:
    if is_pure_number(text):
        unit = _registry().dimensionless
        return (_Reading(1.0, unit, unit, counts=False, angle=False),)
    try:
        alternatives = factorings(text)
    except UnitTextError as error:
        raise UnitError(f"{text[:MAX_LENGTH]!r} is not a unit: {error}") from error
    found: list[_Reading] = []
    for factors in alternatives:
        found += [_build(chosen) for chosen in _choices(factors)]
    return tuple(found)


def _choices(factors: tuple[Factor, ...]) -> Iterator[tuple[Factor, ...]]:
    """Every way to read the ambiguous names, each name read alike throughout; at most sixteen."""
    ways: list[dict[str, str]] = [{}]
    for name in dict.fromkeys(factor.name for factor in factors if factor.name):
        ways = [{**way, name: meaning} for way in ways for meaning in _meanings(name)][:16]
    for way in ways:
        yield tuple(Factor(way.get(f.name, ""), f.exponent, f.number) for f in factors)


def _meanings(name: str) -> tuple[str, ...]:
    if name in _READINGS:
        return _READINGS[name]
    if name in _REFUSED:
        raise UnitError(f"{name!r} is not a unit here")
    tries = (name, name.lower()) if len(name) >= 4 else (name,)
    for spelling in tries:
        if _pint_knows(spelling):
            return (spelling,)
    raise UnitError(f"{name!r} is not a unit that pint knows")


def _pint_knows(name: str) -> bool:
    import pint

    try:
        _registry().parse_units(name)
    except (pint.PintError, ValueError, TypeError, AttributeError, SyntaxError, RecursionError):
        return False
    return True


def _build(factors: tuple[Factor, ...]) -> _Reading:
    named = [factor for factor in factors if factor.name]
    try:
        scale = math.prod(factor.number**factor.exponent for factor in factors if not factor.name)
    except (OverflowError, ZeroDivisionError) as error:
        raise UnitError("the number in the unit is out of range") from error
    if not 0 < scale < math.inf or any(abs(factor.exponent) > MAX_EXPONENT for factor in named):
        raise UnitError("a number or exponent in the unit is out of range")
    alone = len(named) == 1 and named[0].exponent == 1 and scale == 1
    meant = [factor if alone else Factor(_OFFSET.get(factor.name, factor.name), factor.exponent) for factor in named]
    bare = [Factor(_COUNTED.get(factor.name, factor.name), factor.exponent) for factor in meant]
    return _Reading(
        scale,
        _product(meant),
        _product(bare),
        counts=any(factor.name in _COUNTED for factor in named),
        angle=any(factor.name in _ANGLES for factor in named),
    )


def _product(factors: list[Factor]) -> "pint.Unit":
    unit: Any = _registry().dimensionless
    if len(factors) == 1 and factors[0].exponent == 1:
        return _registry().parse_units(factors[0].name)
    for factor in factors:
        unit = unit * _registry().parse_units(factor.name) ** factor.exponent
    return unit  # type: ignore[no-any-return]
