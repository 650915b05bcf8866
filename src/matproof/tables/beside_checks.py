"""Run by run: what a judge says beside what programs found; disagreements first, the farthest apart before others.

How often they agree is a matter of statistics; this is where to look. A run that one of the two did not score is no
agreement and no disagreement. Flags and required steps stand beside both and are in neither's score.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from matproof.tables.columns import Row
from matproof.tables.views import run_key

_Key = tuple[str, str, int, str]
_BANDS = ("within", "within_2x", "outside")
_AS_SCORE = {"correct": 5, "undetermined": 3, "incorrect": 1}
"""What a program's verdict would be as a score, only to say how far apart the two are."""


def beside_rows(
    overall: Sequence[Row], checks: Iterable[Row], flags: Iterable[Row], required: Iterable[Row]
) -> list[Row]:
    """Rows of `judge_and_checks`, from the rows `overall` of `evaluations` and what programs left of the same runs."""
    agents: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in overall:
        if row["kind"] == "agent":
            agents[run_key(row)].append(row)
    programs = [row for row in overall if row["kind"] == "checks" and run_key(row) in agents]
    bands, verdicts = _bands(checks)
    weights = Counter((*_key(row), row["weight"]) for row in flags)
    steps = _steps(required)
    rows = []
    for program in programs:
        key = _key(program)
        found = {
            **{f"numbers_{band}": bands[*key, band] for band in _BANDS},
            "numbers_missing": bands[*key, None],
            "required_steps": len(steps[key]),
            "required_found": sum(status == "found" for status in steps[key].values()),
            "detected": program["detected"],
            "strong_flags": weights[*key, "strong"] if program["detected"] else None,
            "weak_flags": weights[*key, "weak"] if program["detected"] else None,
        }
        rows += [_row(judge, program, verdicts.get(key)) | found for judge in agents[run_key(program)]]
    return sorted(rows, key=_order)


def _row(judge: Row, program: Row, verdict: str | None) -> Row:
    both = judge["success"] is not None and program["success"] is not None
    return {
        **{name: judge[name] for name in ("claim", "setting", "repeat", "judge")},
        "checks": program["judge"],
        "scripted": judge["scripted"],
        "agree": judge["success"] == program["success"] if both else None,
        "score": judge["score"],
        "judge_success": judge["success"],
        "verdict": verdict,
        "checks_success": program["success"],
        "reason": next((row["reason"] for row in (judge, program) if row["status"] == "unscored"), None),
    }


def _bands(checks: Iterable[Row]) -> tuple["Counter[tuple[str | int | None, ...]]", dict[_Key, str]]:
    bands: Counter[tuple[str | int | None, ...]] = Counter()
    verdicts: dict[_Key, str] = {}
    for row in checks:
        verdicts[_key(row)] = row["verdict"]
        if row["what"] == "quantity":
            # Records of earlier versions have no band: there, what is within is all that is known.
            known = {"within": "within", "outside": "outside"}.get(row["status"])
            bands[*_key(row), row["band"] or known] += 1
    return bands, verdicts


def _steps(required: Iterable[Row]) -> dict[_Key, dict[str, str]]:
    found: dict[_Key, dict[str, str]] = defaultdict(dict)
    for row in required:
        found[_key(row)][row["step"]] = row["status"]
    return found


def _key(row: Row) -> _Key:
    return row["claim"], row["setting"], row["repeat"], row["judge"]


def _order(row: Row) -> tuple[int, int, str, str, int, str, str]:
    first = {False: 0, None: 1, True: 2}[row["agree"]]
    return first, -_apart(row), row["claim"], row["setting"], row["repeat"], row["judge"], row["checks"]


def _apart(row: Row) -> int:
    """How far judge and program are apart where they disagree, 1 to 4; 0 where they don't."""
    score: int | None = row["score"]
    if row["agree"] is not False or score is None:
        return 0
    usual = "correct" if row["checks_success"] else "undetermined"
    return abs(score - _AS_SCORE[row["verdict"] or usual])
