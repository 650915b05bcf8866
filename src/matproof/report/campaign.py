"""The tables of one campaign, read once for all pages that tell of more than one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from matproof.records.run import LOST
from matproof.tables.columns import Row
from matproof.tables.store import read_arrow, read_rows

Key = tuple[str, str, int]
REPRODUCTION_TYPES = ("from_paper", "from_artifact", "artifact_interpretation", "unknown")
VERIFICATIONS = ("scalar", "range", "comparative", "structural", "figure", "unknown")
SUBDOMAINS = ("dft", "md", "statml", "ddd", "unknown")
OUTCOMES = ("supported", "contradicted", "unknown")
SPREAD = ("s1", "s2", "s3", "s4", "s5", "no", "yes", "none")
"""Classes of verdicts, in the order of a stacked bar."""


def key_of(row: Row) -> Key:
    """What names a run."""
    return row["claim"], row["setting"], row["repeat"]


def style_of(row: Row | None) -> str:
    """Class of a verdict, from the row `overall` of an evaluation: `s1` to `s5`, `yes`, `no` or `none`."""
    if row is None or row["status"] == "unscored":
        return "none"
    if row["score"] is not None:
        return f"s{row['score']}"
    return "yes" if row["success"] else "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run that was not lost, as one judge sees it."""

    run: Row
    claim: Row
    verdict: Row | None
    """Row `overall`; None where the judge said nothing."""

    @property
    def style(self) -> str:
        """Class of the verdict."""
        return style_of(self.verdict)

    @property
    def scripted(self) -> bool:
        """Whether the run or the judge was scripted."""
        return bool(self.run["scripted"] or (self.verdict and self.verdict["scripted"]))


@dataclass
class Campaign:
    """The rows of the tables."""

    results: Path
    runs: list[Row] = field(default_factory=list)
    claims: dict[str, Row] = field(default_factory=dict)
    overall: list[Row] = field(default_factory=list)
    """Rows `overall` of the evaluations."""

    @classmethod
    def read(cls, results: Path) -> "Campaign":
        """The tables of `results`. Raises InputError where `gather` has not run."""
        import pyarrow.compute as pc

        evaluations = read_arrow(results, "evaluations")
        overall = evaluations.filter(pc.equal(evaluations["dimension"], "overall"))
        return cls(
            results=results,
            runs=read_rows(results, "runs"),
            claims={row["claim"]: row for row in read_rows(results, "claims")},
            overall=overall.to_pylist(),
        )

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Judge → kind; agents first, then by name."""
        kinds = {row["judge"]: row["kind"] for row in self.overall}
        return dict(sorted(kinds.items(), key=lambda item: (item[1], item[0])))

    @property
    def judges(self) -> list[str]:
        """Names of all judges, sorted."""
        return sorted(self.kinds)

    @cached_property
    def settings(self) -> list[str]:
        """All settings, sorted."""
        return sorted({run["setting"] for run in self.runs})

    @cached_property
    def verdicts(self) -> dict[tuple[Key, str], Row]:
        """(run, judge) → row `overall`."""
        return {(key_of(row), row["judge"]): row for row in self.overall}

    @cached_property
    def failures(self) -> list[Row]:
        """Rows of `failures`."""
        return read_rows(self.results, "failures")

    @cached_property
    def flags(self) -> dict[Key, tuple[int, int]]:
        """Run → its strong flags and its weak ones; a flag that several judges raised is one."""
        found: dict[Key, set[tuple[Any, ...]]] = {}
        for row in read_rows(self.results, "flags"):
            flag = tuple(row[name] for name in ("weight", "detector", "text", "file", "line"))
            found.setdefault(key_of(row), set()).add(flag)
        strong = {key: sum(flag[0] == "strong" for flag in flags) for key, flags in found.items()}
        return {key: (strong[key], len(flags) - strong[key]) for key, flags in found.items()}

    @cached_property
    def dimensions(self) -> dict[tuple[str, str], list[tuple[str, Any, float]]]:
        """(judge, setting) → (dimension, claim, score) of every scored dimension."""
        import pyarrow.compute as pc

        table = read_arrow(self.results, "evaluations")
        table = table.filter(pc.and_(pc.not_equal(table["dimension"], "overall"), pc.is_valid(table["score"])))
        found: dict[tuple[str, str], list[tuple[str, Any, float]]] = {}
        names = ("judge", "setting", "dimension", "claim", "score")
        for judge, setting, dimension, claim, score in zip(*(table[n].to_pylist() for n in names), strict=True):
            found.setdefault((judge, setting), []).append((dimension, claim, float(score)))
        return found

    def judged(self, judge: str, settings: Iterable[str] | None = None) -> list[Judged]:
        """Every run that was not lost, as `judge` sees it; of `settings` only, where given."""
        wanted = set(settings) if settings is not None else None
        return [
            Judged(run=run, claim=self.claims[run["claim"]], verdict=self.verdicts.get((key_of(run), judge)))
            for run in self.runs
            if run["outcome"] not in LOST and (wanted is None or run["setting"] in wanted)
        ]


def by_setting(judged: Sequence[Judged]) -> dict[tuple[bool, str], list[Judged]]:
    """(scripted, setting) → its runs: what a script produced never shares a bar with what a model did."""
    groups: dict[tuple[bool, str], list[Judged]] = {}
    for item in judged:
        groups.setdefault((item.scripted, item.run["setting"]), []).append(item)
    return dict(sorted(groups.items()))
