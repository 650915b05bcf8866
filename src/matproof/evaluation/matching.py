"""Which reported result answers which expected quantity, by name and kind of unit, never by value.

An agent names its results freely unless the claim told it names. Four passes, from surest to loosest; a result that
one pass gave away is not looked at by the next, and one result serves one quantity:

1. the expected name or an alias, letter for letter;
2. the same letters and digits, whatever their case and separators;
3. the same words (`evaluation.names`);
4. more words than expected, none of them turning it into another quantity; or fewer, where only words that all
   expected quantities share are left out ("a" for `cell_a` beside `cell_b` and `cell_c`).

In pass 4 both sides must prefer each other and nothing may tie: what stays ambiguous is reported as missing, with the
candidates' names. Results that share their words and differ in value are refused as a contradiction.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matproof.core.units import UnitError, comparable, convert, is_pure_number, known_unit
from matproof.evaluation.names import QUALIFIERS, Words, fitted, words
from matproof.records.analysis import ExtractedResult

SAME = 1e-9
"""Relative distance below which two numbers are one (rounding of a unit conversion)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A quantity to look for. `unit` of None takes any unit."""

    name: str
    unit: str | None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What was found for a target: a value in its unit, or why there is none."""

    value: float | None = None
    unit: str = ""
    """Unit of `value`: the target's, or as reported where the target takes any."""
    reported_as: str | None = None
    problem: str | None = None
    """Why there is no value."""
    comparable: bool = True
    """False where something was reported under the name and can't be compared."""


@dataclass(slots=True)
class _Group:
    """Results of one name: the same words."""

    label: str
    words: Words
    results: list[ExtractedResult] = field(default_factory=list)


def match(targets: Sequence[Target], results: Sequence[ExtractedResult]) -> dict[str, Match]:
    """For each target by name, what was reported. The order of `results` changes nothing."""
    groups = _groups(results)
    book = _Book(targets, groups)
    for same in (_same_text, _same_letters, _same_words):
        book.take_exact(same)
    ambiguous = book.take_loose()
    found: dict[str, Match] = {}
    for target in targets:
        group = book.taken.get(target.name)
        if group is not None:
            found[target.name] = _value(target, group)
        else:
            candidates = ambiguous.get(target.name)
            problem = "not reported" if not candidates else f"ambiguous: {' or '.join(candidates)}"
            found[target.name] = Match(problem=problem)
    return found


def _groups(results: Sequence[ExtractedResult]) -> list[_Group]:
    ordered = sorted(results, key=lambda r: (r.quantity, r.unit, r.value is None, r.value or 0.0, r.source_file))
    groups: dict[str, _Group] = {}
    for result in ordered:
        taken_apart = words(result.quantity)
        group = groups.setdefault(taken_apart.joined, _Group(result.quantity, taken_apart))
        group.results.append(result)
    return list(groups.values())


class _Book:
    """Who has whom."""

    def __init__(self, targets: Sequence[Target], groups: list[_Group]) -> None:
        self._targets = list(targets)
        self._groups = groups
        self._words = {target.name: [words(name) for name in (target.name, *target.aliases)] for target in targets}
        every = [set(self._words[target.name][0].sequence) for target in targets]
        self._shared = frozenset(set.intersection(*every)) if len(every) > 1 else frozenset()
        self.taken: dict[str, _Group] = {}

    def _open(self) -> list[Target]:
        return [target for target in self._targets if target.name not in self.taken]

    def _give(self, target: Target, groups: list[_Group]) -> None:
        merged = _Group(groups[0].label, groups[0].words, [r for group in groups for r in group.results])
        self.taken[target.name] = merged
        self._groups = [group for group in self._groups if group not in groups]

    def take_exact(self, same: Callable[[Target, list[Words], _Group], bool]) -> None:
        """Give each open target the groups that `same` finds, unless another open target could have them too."""
        pairs = {t.name: [g for g in self._groups if same(t, self._words[t.name], g)] for t in self._open()}
        for target in self._open():
            rivals = [g for name, groups in pairs.items() if name != target.name for g in groups]
            mine = [group for group in pairs[target.name] if group not in rivals]
            if mine:
                self._give(target, mine)

    def take_loose(self) -> dict[str, list[str]]:
        """Pass 4, again and again until nothing moves. Returns the ambiguous candidates of each open target."""
        while True:
            best = {target.name: self._preferred(target) for target in self._open()}
            moved = False
            for target in self._open():
                groups = best[target.name]
                if len(groups) == 1 and self._chooses(groups[0]) == [target.name]:
                    self._give(target, groups)
                    moved = True
                    break
            if not moved:
                return {name: sorted(group.label for group in groups) for name, groups in best.items() if groups}

    def _preferred(self, target: Target) -> list[_Group]:
        ranks = [(rank, group) for group in self._groups if (rank := self._rank(target, group)) is not None]
        least = min((rank for rank, _ in ranks), default=None)
        return [group for rank, group in ranks if rank == least]

    def _chooses(self, group: _Group) -> list[str]:
        ranks = [(rank, t.name) for t in self._open() if (rank := self._rank(t, group)) is not None]
        least = min((rank for rank, _ in ranks), default=None)
        return [name for rank, name in ranks if rank == least]

    def _rank(self, target: Target, group: _Group) -> tuple[int, int] | None:
        """How loosely `group` answers `target`: (words left out, words added); None where it does not."""
        if not any(_fits(target, result) for result in group.results):
            return None
        ranks = [self._distance(target, name, group) for name in self._words[target.name]]
        return min((rank for rank in ranks if rank is not None), default=None)

    def _distance(self, target: Target, name: Words, group: _Group) -> tuple[int, int] | None:
        expected = frozenset(name.sequence)
        others = frozenset(w for t in self._targets if t.name != target.name for w in self._words[t.name][0].sequence)
        ranks: list[tuple[int, int]] = []
        for reading in fitted(group.words, name.sequence):
            left_out, added = expected - reading, reading - expected
            foreign = added & (QUALIFIERS | others)
            if is_pure_number(target.unit or ""):
                foreign -= {"count"}
            if "mean" in added:
                foreign -= {"fold"}
            more = not left_out and expected and not foreign
            fewer = not added and reading - self._shared and left_out <= self._shared
            if more or fewer:
                ranks.append((len(left_out), len(added)))
        return min(ranks, default=None)


def _same_text(target: Target, _: list[Words], group: _Group) -> bool:
    return any(result.quantity.strip() in (target.name, *target.aliases) for result in group.results)


def _same_letters(_: Target, names: list[Words], group: _Group) -> bool:
    return any(name.joined == group.words.joined for name in names if name.joined)


def _same_words(_: Target, names: list[Words], group: _Group) -> bool:
    return any(frozenset(n.sequence) in fitted(group.words, n.sequence) for n in names if n.sequence)


def _fits(target: Target, result: ExtractedResult) -> bool:
    unit = counted(result.unit, target)
    return known_unit(unit) if target.unit is None else comparable(unit, target.unit)


def counted(unit: str, target: Target) -> str:
    """`unit`, or the empty unit where it only names what is counted: "records" for a pure number called `records`."""
    if known_unit(unit) or not is_pure_number(target.unit or ""):
        return unit
    things = set(words(unit).sequence)
    named = {word for name in (target.name, *target.aliases) for word in words(name).sequence}
    return "" if things and things <= named | _THINGS else unit


_THINGS = frozenset(
    words(
        "count records entries rows samples alloys materials compositions references papers publications sources "
        "points steps structures atoms formulas values citations dois data items"
    ).sequence
)


def _value(target: Target, group: _Group) -> Match:
    numbers = [result for result in group.results if result.value is not None]
    label = numbers[0].quantity if numbers else group.label
    if not numbers:
        return Match(reported_as=label, problem="reported without a value")
    converted: list[tuple[float, str]] = []
    for result in numbers:
        unit = counted(result.unit, target)
        wanted = unit if target.unit is None else target.unit
        try:
            _refuse_bare_percent(unit, wanted)
            converted.append((convert(result.value or 0.0, unit, wanted), wanted))
        except UnitError as error:
            return Match(reported_as=label, problem=str(error), comparable=False)
    first, unit = converted[0]
    for value, other in converted[1:]:
        if other != unit or not math.isclose(value, first, rel_tol=SAME, abs_tol=0.0):
            names = sorted({result.quantity for result in numbers})
            problem = f"reported {len(numbers)} times with different values ({', '.join(names)})"
            return Match(reported_as=label, problem=problem, comparable=False)
    return Match(value=first, unit=unit, reported_as=label)


def _refuse_bare_percent(unit: str, wanted: str) -> None:
    """A number without a unit, where per cent or ppm is expected, may be either: nobody can tell, so nobody does."""
    if is_pure_number(unit) and not is_pure_number(wanted) and comparable("", wanted):
        raise UnitError(f"it has no unit, so it may be a fraction or a number of {wanted!r}")
